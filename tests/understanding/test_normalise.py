from __future__ import annotations

import pytest

from agentkit.understanding.normalise import detect_language, fold, fold_all, normalise
from agentkit.understanding.words import Words


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Could you please turn on the lamp, thanks", "turn on the lamp"),
        ("  turn\u200b on\tthe\x00 lamp!! ", "turn on the lamp"),
        ("ｔｕｒｎ ｏｎ the lamp", "turn on the lamp"),
        ("please", "please"),
        ("turn on the lamp no wait turn on the fan", "turn on the fan"),
    ],
)
def test_frames_and_odd_characters_go(said: str, meant: str, words: dict[str, Words]) -> None:
    assert normalise(said, "en", words["en"]).text == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("麻烦你帮我打开台灯一下，谢谢", "打开台灯一下"),
        ("能不能把台灯关掉？", "把台灯关掉"),
        ("打 开 台 灯。", "打开台灯"),
        ("打开台灯，不对，打开风扇", "打开风扇"),
    ],
)
def test_chinese_frames_go(said: str, meant: str, words: dict[str, Words]) -> None:
    assert normalise(said, "zh", words["zh"]).text == meant


def test_a_request_with_a_question_mark_is_told_from_a_question(words: dict[str, Words]) -> None:
    assert normalise("can you lock the door?", "en", words["en"]).is_request
    assert not normalise("is the door locked?", "en", words["en"]).is_request
    assert normalise("is the door locked?", "en", words["en"]).is_question


def test_one_chinese_character_makes_a_text_chinese() -> None:
    assert [detect_language(t) for t in ("lamp", "打开 TV", "", "42")] == ["en", "zh", "en", "en"]


def test_folding_forgets_case_punctuation_and_traditional_characters(words: dict[str, Words]) -> None:
    assert fold("The Kid's  Room—Lamp", words["en"]) == "the kids room lamp"
    assert fold("廚房的燈", words["zh"]) == "厨房的灯"


def test_a_list_of_the_app_is_folded_once_however_often_it_is_asked_for(words: dict[str, Words]) -> None:
    listed = words["en"].cancel
    folded = fold_all(listed, words["en"])
    assert folded == {fold(phrase, words["en"]) for phrase in listed}
    assert fold_all(listed[:1] + listed[1:], words["en"]) is folded
