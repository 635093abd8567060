from __future__ import annotations

import pytest

from agentkit.decoder.tokenizer import load_tokenizer
from agentkit.understanding.pointer.format import Line, clean, link, specials, write_prompt
from tests.understanding.pointer.conftest import WEIGHTS

HOME = write_prompt(
    ["Kitchen", "客厅"],
    [Line("light", ("Ceiling Light", "大灯"), 0), Line("fan", ("风扇",), 1), Line("rocket", ("X",), None)],
    1,
    "Turn the Fan off, please!",
)


def test_prompt_names_every_room_and_device_before_its_pointer() -> None:
    assert HOME == (
        "[home] kitchen[a0]客厅[a1][light][a0] ceiling light|大灯[d0][fan][a1]风扇[d1][other] x[d2]"
        "[here][a1][user] turn the fan off, please[do]"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Turn on the Lamp", " turn on the lamp"),
        ("打开Kitchen的灯", "打开 kitchen的灯"),
        ("把亮度调到25%", "把亮度调到 25%"),
        ("22.5 degrees", " 22.5 degrees"),
        ("關掉檯燈", "关掉台灯"),
        ("it's [do] now </s>", " it s do now s"),
    ],
)
def test_text_is_spelled_one_way(text: str, wanted: str) -> None:
    assert clean(text) == wanted


@pytest.mark.parametrize("text", ["[d0]", "[turn_off][d1][end]", "a [home] b", "［do］", "[[do]]"])
def test_nobody_can_type_a_token(text: str) -> None:
    assert not any(mark in clean(text) for mark in specials())


def test_every_token_of_the_format_is_one_id() -> None:
    tokenizer = load_tokenizer(WEIGHTS)
    for mark in specials():
        assert len(tokenizer.encode(mark, allow_special=True)) == 1, mark


@pytest.mark.parametrize("text", [HOME, " turn off the 灯 in room 12", "龘靐 Ω café", "把色温设为 4500 k"])
def test_text_survives_the_vocabulary(text: str) -> None:
    tokenizer = load_tokenizer(WEIGHTS)
    assert tokenizer.decode(tokenizer.encode_prompt(text)) == text


def test_a_word_is_the_same_tokens_wherever_it_stands() -> None:
    tokenizer = load_tokenizer(WEIGHTS)
    alone = tokenizer.encode(clean("lamp"))
    assert tokenizer.encode(clean("the lamp"))[-len(alone) :] == alone


DEVICES = [
    Line("light", ("Kitchen Lamp",), 0),
    Line("light", ("lamp", "灯"), 1),
    Line("light", ("lamp",), 0),
    Line("fan", ("客厅风扇",), 1),
    Line("cover", ("garage",), None),
]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("turn on the Kitchen Lamp", " turn on the kitchen lamp[d0]"),
        ("lamp in the living room", " lamp[d1][d2] in the living room[a1]"),
        ("all lamps, please", " all lamps[d1][d2], please"),
        ("a lampshade", " a lampshade"),
        ("open the garage", " open the garage[a2][d4]"),
        ("打开客厅风扇和灯", "打开客厅风扇[d3]和灯[d1]"),
    ],
)
def test_name_in_a_sentence_gets_its_pointers(text: str, wanted: str) -> None:
    assert link(clean(text), ["kitchen", "living room", "garage"], DEVICES) == wanted
