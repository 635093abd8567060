from __future__ import annotations

import re
from dataclasses import replace

import pytest

from agentkit.agent.answers import choose, is_cancel, is_everything, read_value, read_yes_or_no
from agentkit.agent.question import Option
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.talk import Talk
from agentkit.understanding.tools import Param
from agentkit.understanding.words import Words

EN = Words(
    "en",
    kinds={"light": ("lamp", "light"), "fan": ("fan",)},
    yes=("yes", "sure"),
    no=("no", "don't"),
    cancel=("forget it",),
    everything=("all of them", "both"),
    fillers=("the", "one", "please", "me", "so"),
    beside_yes=("please",),
    with_yes=("the", "it", "please"),
    hesitations=("um",),
    levels={"100": ("full",)},
    colors={"red": ("crimson",)},
)
ZH = Words("zh", yes=("要", "是的"), no=("不要", "不"), fillers=("的", "吧", "我"), beside_yes=("吧",))
DOUBTING = replace(
    EN,
    yes=("yes", "yeah", "right"),
    polite=(re.compile("^hey[, ]+"),),
    talk=Talk(doubts=(re.compile("yeah[, ]+right", re.IGNORECASE),)),
)
LAMP = Option("light.a", ("light.a",), ("Corner", "Living Room", "客厅"), ("light",))
FAN = Option("fan.a", ("fan.a",), ("Tower", "Living Room", "客厅"), ("fan",))


def heard(text: str) -> Normalised:
    return Normalised(text, "en", text)


@pytest.mark.parametrize(
    ("text", "words", "answer"),
    [
        ("Yes!", EN, True),
        ("yes please", EN, True),
        ("um, yes", EN, True),
        ("yes um", EN, None),
        ("yes so", EN, None),
        ("yes me", EN, None),
        ("要我", ZH, None),
        ("no", EN, False),
        ("don't", EN, False),
        ("yes no", EN, False),
        ("forget it", EN, False),
        ("yesterday", EN, None),
        ("know", EN, None),
        ("yes at nine", EN, None),
        ("please", EN, None),
        ("", EN, None),
        ("是的", ZH, True),
        ("要吧", ZH, True),
        ("不要", ZH, False),
        ("要不要", ZH, False),
        ("要开灯", ZH, None),
        ("Yeah, right!", DOUBTING, None),
        ("yeah right", DOUBTING, None),
        ("yeah yeah, right", DOUBTING, None),
        ("hey, yeah, right", DOUBTING, None),
        ("yeah", DOUBTING, True),
        ("right, yes", DOUBTING, True),
    ],
)
def test_only_a_plain_yes_is_a_yes_and_any_no_is_a_no(text, words, answer):
    assert read_yes_or_no(heard(text), words) is answer


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("the lamp", (LAMP,)),
        ("fan please", (FAN,)),
        ("corner", (LAMP,)),
        ("the living room lamp", (LAMP,)),
        ("the living room one", (LAMP, FAN)),
        ("the kitchen lamp", ()),
        ("turn on the lamp", ()),
        ("the", ()),
    ],
)
def test_an_option_is_chosen_by_words_that_all_belong_to_it(text, chosen):
    assert choose(heard(text), (LAMP, FAN), EN) == chosen


def test_everything_and_cancel_are_heard_alone_only():
    assert is_everything(heard("both please"), EN)
    assert not is_everything(heard("both doors"), EN)
    assert is_cancel(heard("Forget it."), EN)
    assert not is_cancel(heard("forget it and turn on the fan"), EN)


@pytest.mark.parametrize(
    ("text", "param", "value"),
    [
        ("50", Param("brightness", int), 50),
        ("21.5 degrees", Param("temperature", float), 21.5),
        ("full", Param("brightness", int), 100),
        ("二十度", Param("temperature", float), 20),
        ("between 10 and 20", Param("brightness", int), None),
        ("turn the fan to 50", Param("brightness", int), None),
        ("crimson", Param("color", str), "red"),
        ("low", Param("speed", str, ("low", "high")), "low"),
        ("medium", Param("speed", str, ("low", "high")), None),
        ("some jazz", Param("query", str), None),
    ],
)
def test_a_missing_value_is_read_from_a_short_answer_only(text, param, value):
    assert read_value(heard(text), param, EN) == value
