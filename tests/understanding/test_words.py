from __future__ import annotations

import pytest

from agentkit.errors import ConfigError
from agentkit.understanding.words import read_words


def test_an_unknown_key_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'kind'; known are .*kinds"):
        read_words({"kind": {}}, language="en", path="words/en.yaml")


def test_a_broken_pattern_is_named_with_its_guard() -> None:
    with pytest.raises(ConfigError, match=r"guards\.time: '\(' is no regular expression"):
        read_words({"guards": {"time": ["("]}}, language="en")


def test_yaml_booleans_stay_words() -> None:
    words = read_words({"verbs": {True: ["turn on", True]}, "no": [False]}, language="en")
    assert words.verbs == {"on": ("turn on", "on")}
    assert words.no == ("off",)


@pytest.mark.parametrize(("key", "value"), [("kinds", ["lamp"]), ("here", "here"), ("guards", [])])
def test_a_value_of_the_wrong_shape_is_refused(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"{key} is"):
        read_words({key: value}, language="en")
