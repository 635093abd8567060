from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from agentkit.errors import ConfigError
from agentkit.understanding.talk import Talk, read_talk

FOLDER = Path(__file__).parents[2] / "apps" / "smart_home" / "dialogue"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_app_says_everything_in_both_languages(language: str) -> None:
    talk = read_talk(yaml.safe_load((FOLDER / f"{language}.yaml").read_text("utf-8")))
    for name in ("undo", "again", "more", "also", "corrections", "pronouns", "many", "ordinals", "everything", "vague"):
        assert getattr(talk, name), name
    assert talk.frames
    assert all("{rest}" in frame for frame in talk.frames)
    assert all("rest" in pattern.groupindex for pattern in (*talk.also, *talk.corrections))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"undoo": []}, "unknown key 'undoo'; did you mean 'undo'"),
        ({"undo": "undo"}, "undo is 'undo', wanted a list"),
        ({"also": ["("]}, "also: .* is no regular expression"),
        ({"ordinals": []}, "ordinals is a list, wanted a mapping"),
        ({"hints": {"[": "x"}}, "hints: .* is no regular expression"),
        ({"undo": [{"a": "b"}]}, r"undo\[0\] is a mapping, wanted a word"),
        ({"also": ["and so"]}, r"also: 'and so' lacks the group \(\?P<rest>"),
        ({"frames": ["set {it}"]}, r"frames: 'set \{it\}', wanted \{rest\} once"),
        ({"digits": {"one": ["one"]}}, "digits: the key is 'one', wanted a whole number"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(raw: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_talk(raw, path="dialogue/en.yaml")


def test_an_app_may_do_without() -> None:
    assert read_talk({}) == Talk()


def test_on_and_off_are_words_although_yaml_reads_them_as_booleans() -> None:
    assert read_talk({"asked": {"turn_on": True}}).asked == {"turn_on": "on"}
