from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.errors import ConfigError
from agentkit.understanding.words import Words, read_words
from agentkit.yaml_lines import parse_yaml


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
