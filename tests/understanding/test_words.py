from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.errors import ConfigError
from agentkit.understanding.words import Words, read_words
from agentkit.yaml_lines import parse_yaml

GOLDEN = Path(__file__).parents[1] / "golden"


def words_of(text: str) -> Words:
    path = Path("words/en.yaml")
    return read_words(parse_yaml(text, path), language="en", path=path)


def test_an_unknown_key_is_named_with_its_line_and_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"words/en\.yaml:2: unknown key 'kind'; did you mean 'kinds'\?"):
        words_of("here: [here]\nkind: {}\n")


def test_a_broken_pattern_is_named_with_its_guard() -> None:
    with pytest.raises(ConfigError, match=r"words/en\.yaml:1: guards\.time: '\(' is no regular expression"):
        words_of("guards: {time: ['(']}")


def test_on_off_and_no_are_words() -> None:
    words = words_of("verbs: {on: [turn on, on]}\nno: [no, off]\n")
    assert words.verbs == {"on": ("turn on", "on")}
    assert words.no == ("no", "off")


@pytest.mark.parametrize(("key", "value"), [("kinds", ["lamp"]), ("here", "here"), ("guards", [])])
def test_a_value_of_the_wrong_shape_is_refused(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"{key} is"):
        read_words({key: value}, language="en")


def test_alternatives_in_brackets_are_spelled_out() -> None:
    words = words_of('verbs: {v: ["(sweep|mop) … (floor|floors)", "(|… )go clean", clean]}\nhere: ["(a)", "b|c"]')
    floors = ("sweep … floor", "sweep … floors", "mop … floor", "mop … floors")
    assert words.verbs == {"v": (*floors, "go clean", "… go clean", "clean")}
    assert words.here == ("(a)", "b|c")


def test_a_regular_expression_keeps_its_brackets() -> None:
    words = words_of("past: ['^(?:was|were) (it|that) on']\n")
    assert [p.pattern for p in words.past] == ["^(?:was|were) (it|that) on"]


def test_every_phrase_for_the_vacuum_is_still_known(words: dict[str, Words]) -> None:
    spelled = parse_yaml((GOLDEN / "vacuum_phrases.yaml").read_text("utf-8"), GOLDEN)
    assert not set(spelled) - set(words["en"].verbs["vacuum"])
    assert len(words["en"].verbs["vacuum"]) == len(set(words["en"].verbs["vacuum"]))


def test_what_is_made_of_words_is_made_once_for_each_language() -> None:
    english, chinese = Words("en"), Words("zh")
    made: list[str] = []

    def make(words: Words) -> list[str]:
        made.append(words.language)
        return [words.language]

    assert english.made("own", make) is english.made("own", make)
    assert chinese.made("own", make) == ["zh"]
    assert made == ["en", "zh"]
