from __future__ import annotations

import pytest

from agentkit.understanding.hanzi import simplify
from agentkit.understanding.normalise import fold, normalise
from agentkit.understanding.words import Words


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("把臥室的電燈關掉", "把卧室的电灯关掉"),
        ("車庫門", "车库门"),
        ("Hello 燈", "Hello 灯"),
        ("plain text", "plain text"),
    ],
)
def test_traditional_characters_become_simplified_in_their_places(traditional: str, simplified: str) -> None:
    assert simplify(traditional) == simplified
    assert len(simplify(traditional)) == len(traditional)


def test_a_name_and_a_sentence_meet_whatever_their_script(words: dict[str, Words]) -> None:
    assert fold("客廳燈", words["zh"]) == fold("客厅灯", words["zh"])


def test_free_text_is_given_back_as_it_was_spoken(words: dict[str, Words]) -> None:
    text = normalise("請把雞蛋加入清單", "zh", words["zh"])
    assert text.text == "把鸡蛋加入清单"
    assert text.as_spoken("鸡蛋") == "雞蛋"
    assert text.as_spoken("牛奶") == "牛奶"
