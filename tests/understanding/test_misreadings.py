"""Sentences whose small words decide: which verb, how many, told or asked, beside or in."""

from __future__ import annotations

import time

import pytest

from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select

from .conftest import Ask


def done(text: str, ask: Ask, view: HomeView) -> list[tuple[str, list[str]]]:
    return [(i.tool, [d.id for d in select(i.selector, view)]) for i in ask(text, view).intents]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (
            "turn on the water heater and off the tv",
            [("turn_on", "switch.water_heater"), ("turn_off", "living_room_tv")],
        ),
        (
            "switch off the bedside lamp and on the desk lamp",
            [("turn_off", "light.bedside"), ("turn_on", "light.desk")],
        ),
        (
            "turn the tv off and on the coffee machine",
            [("turn_off", "living_room_tv"), ("turn_on", "switch.coffee_machine")],
        ),
        (
            "turn up the kitchen radio and down the tv",
            [("adjust_volume", "kitchen_radio"), ("adjust_volume", "living_room_tv")],
        ),
        ("开台灯和关厨房灯", [("turn_on", "light.desk"), ("turn_off", "light.kitchen")]),
    ],
)
def test_a_particle_behind_and_starts_a_command_with_the_same_verb(
    text: str, calls: list[tuple[str, str]], ask: Ask, home: HomeView
) -> None:
    found = done(text, ask, home)
    assert [tool for tool, _ in found] == [tool for tool, _ in calls]
    assert all(len(ids) == 1 and ids[0].endswith(name) for (_, ids), (_, name) in zip(found, calls, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "turn on the fan in the bathroom and off in the bedroom",
        "turn off the fan in the bathroom and on in the bedroom",
    ],
)
def test_a_particle_with_a_room_alone_is_not_carried_out_as_the_first_verb(text: str, ask: Ask) -> None:
    assert not ask(text).intents


def test_on_before_a_second_floor_is_no_verb(ask: Ask, home: HomeView) -> None:
    assert [t for t, _ in done("turn off the lights on the first floor and on the second floor", ask, home)] == [
        "turn_off"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "他开了台灯",
        "她把后门锁了",
        "我熄咗廚房燈",
        "我刚刚打开了电视",
        "爸，我把窗帘拉上了",
        "我妹妹关了空调",
        "谁关了厨房灯？",
        "谁把前门打开了",
        "who switched off the desk lamp?",
    ],
)
def test_what_somebody_did_is_not_done_again(text: str, ask: Ask) -> None:
    found = ask(text)
    assert not found.intents
    assert (found.reply_key, found.reply_values["kind"]) == ("not_yet", "report")


@pytest.mark.parametrize(
    "text", ["把台灯关了", "帮我把台灯关了", "台灯关了吧", "你把台灯关了", "我们把台灯关了吧", "我出门了，把台灯关了"]
)
def test_a_wish_with_le_is_still_a_command(text: str, ask: Ask, home: HomeView) -> None:
    assert done(text, ask, home) == [("turn_off", ["light.desk"])]


def test_whether_somebody_did_it_is_asked_of_the_state(ask: Ask, home: HomeView) -> None:
    assert done("我锁后门了吗", ask, home) == [("get_state", ["lock.back_door"])]


@pytest.mark.parametrize(
    "text",
    [
        "switch off the back door lock",
        "switch off the power",
        "switch the power off",
        "switch on",
        "开开关关台灯",
        "turn off the main power",
        "shut off the mains",
        "关闭总电源",
        "关闭总闸",
        "把总电源关掉",
    ],
)
def test_a_verb_is_no_thing_and_an_adjective_no_valve(text: str, ask: Ask) -> None:
    assert not ask(text).intents


def test_a_switch_may_be_switched(ask: Ask, home: HomeView) -> None:
    assert done("switch off the coffee machine", ask, home) == [("turn_off", ["switch.coffee_machine"])]
    assert [t for t, _ in done("turn on the switch in the kitchen", ask, home)] == ["turn_on"]
    assert [t for t, _ in done("打开厨房的开关", ask, home)] == ["turn_on"]


@pytest.mark.parametrize(
    "text",
    [
        "turn off the lights in the room next to the bedroom",
        "turn on the lights beside the kitchen",
        "关掉卧室旁边的灯",
        "打开书房隔壁的空调",
        "卧室旁边的灯开着吗",
    ],
)
def test_what_is_beside_a_room_is_not_in_it(text: str, ask: Ask) -> None:
    found = ask(text)
    assert not found.intents
    assert found.reply_values["kind"] == "beside"


def test_what_is_beside_the_speaker_is_here(ask: Ask, home: HomeView) -> None:
    assert [t for t, _ in done("打开我旁边的灯", ask, home)] == ["turn_on"]
    assert [t for t, _ in done("turn on the lights near me", ask, home)] == ["turn_on"]


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("turn off two lights in the bedroom", 2),
        ("turn on three living room lights", 3),
        ("close two curtains", 2),
        ("拉上两个窗帘", 2),
        ("把客厅的三盏灯关掉", 3),
        ("关掉一盏台灯", 1),
        ("把3台风扇打开", 3),
    ],
)
def test_a_number_that_fits_counts_the_devices(text: str, n: int, ask: Ask, home: HomeView) -> None:
    found = done(text, ask, home)
    assert [len(ids) for _, ids in found] == [n]
    assert found[0][0] in ("turn_on", "turn_off", "close_cover")


@pytest.mark.parametrize("text", ["turn off one of the lights", "turn on one light", "关一盏灯"])
def test_of_several_devices_one_is_asked_for(text: str, ask: Ask) -> None:
    found = ask(text)
    assert [i.selector.is_one for i in found.intents] == [True]


@pytest.mark.parametrize(
    ("text", "n", "total"),
    [
        ("turn on two lights in the living room", 2, 3),
        ("turn on 5 fans", 5, 3),
        ("打开四个窗帘", 4, 2),
    ],
)
def test_a_number_that_does_not_fit_moves_nothing(text: str, n: int, total: int, ask: Ask) -> None:
    found = ask(text)
    assert not found.intents
    assert (found.reply_key, found.reply_values) == ("count", {"n": total, "said": n})


@pytest.mark.parametrize(
    "text", ["set the lights to 40", "把灯调到40%", "add two lamps to the shopping list", "来一个电影模式"]
)
def test_another_number_is_no_count(text: str, ask: Ask) -> None:
    assert len(ask(text).intents) == 1


@pytest.mark.parametrize(
    ("text", "tool", "value"),
    [
        ("set the bedroom ac to minus 12", "set_temperature", -12),
        ("set the floor heating to minus eleven degrees", "set_temperature", -11),
        ("set the floor heating to -11", "set_temperature", -11),
        ("set the floor heating to 4 degrees below zero", "set_temperature", -4),
        ("卧室空调调到零下八度", "set_temperature", -8),
        ("台灯亮度-40", "set_brightness", -40),
        ("亮度负四十", "set_brightness", -40),
    ],
)
def test_a_number_below_zero_keeps_its_sign(text: str, tool: str, value: int, ask: Ask) -> None:
    (intent,) = ask(text).intents
    assert intent.tool == tool
    assert value in intent.args.values()


@pytest.mark.parametrize("text", ["turn on the fan minus 3", "打开负二楼的灯"])
def test_a_number_below_zero_without_a_place_is_refused(text: str, ask: Ask) -> None:
    assert not ask(text).intents


def test_a_number_below_zero_in_a_list_stays_as_it_is(ask: Ask) -> None:
    assert ask("add minus 4 to the shopping list").intents[0].args == {"item": "minus 4"}


@pytest.mark.parametrize(
    "text",
    [
        "开台灯，关厨房灯，锁门",
        "关厨房的灯，锁门",
        "turn off the lights in the kitchen and lock the door",
        "lock the door and turn off the lights in the kitchen",
    ],
)
def test_a_lock_is_not_chosen_by_the_room_of_another_command(text: str, ask: Ask, home: HomeView) -> None:
    assert ("lock", ["lock.front_door", "lock.back_door"]) in done(text, ask, home)


def test_a_lamp_still_is(ask: Ask, home: HomeView) -> None:
    found = done("close the bedroom curtain and turn on the light", ask, home)
    assert found[1] == ("turn_on", ["light.bedroom", "light.bedside"])


@pytest.mark.parametrize(
    "text",
    ["关掉书房灯和" * 30, "关掉书房灯开电视" * 9, "turn off the hallway light and " * 15, "switch the tv on, " * 9],
)
def test_more_commands_than_are_ever_read_are_refused_at_once(text: str, ask: Ask) -> None:
    before = time.process_time()
    assert ask(text).reply_key == "too_long"
    assert time.process_time() - before < 0.3


def test_six_commands_are_read(ask: Ask) -> None:
    assert len(ask("开台灯，开空调，开电视，关客厅窗帘，关吊扇，锁后门").intents) == 6
    text = "turn the tv off, turn the radio off, turn on the oven, turn the fan on, desk lamp on, lock the back door"
    assert len(ask(text).intents) == 6
