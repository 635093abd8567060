"""A plan, timer or alarm of the last turn takes the time that is said instead; "them" are all devices joined to it."""

from __future__ import annotations

import pytest

from agentkit.assemble import Live
from agentkit.types import Outcome
from tests.agent.conftest import Say


def dues(live: Live) -> list[str]:
    return [e.due.strftime("%H:%M") for e in live.schedule.entries() if e.due is not None]


@pytest.mark.parametrize(
    ("first", "then", "due"),
    [
        ("set a timer for 15 minutes", "make it 40", "09:10"),
        ("set a timer for 15 minutes", "no, 40 minutes", "09:10"),
        ("set a timer for 2 hours", "make it three", "11:30"),
        ("定一个十五分钟的计时器", "改成四十分钟", "09:10"),
        ("lock the front door at eleven", "no, at twelve", "12:00"),
        ("lock the front door at 8 pm", "make it nine", "21:00"),
        ("lock the front door in 15 minutes", "make it forty", "09:10"),
        ("十一点锁前门", "不对，十二点", "12:00"),
        ("十一点锁前门", "改到十二点半", "12:30"),
        ("wake me at six tomorrow", "make it seven", "07:00"),
    ],
)
def test_a_time_said_instead_moves_what_was_just_planned(first: str, then: str, due: str, say: Say, live: Live) -> None:
    say(first)
    assert say(then).outcome is Outcome.DONE
    assert dues(live) == [due]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("turn on the kitchen light at nine", "actually the hallway light"),
        ("turn on the kitchen light at nine", "no the hallway light"),
        ("turn on the kitchen light at nine", "change it to the hallway light"),
        ("九点打开厨房灯", "不对，走廊灯"),
    ],
)
def test_a_device_said_instead_takes_the_place_of_what_was_just_planned(
    first: str, then: str, say: Say, live: Live
) -> None:
    say(first)
    say(then)
    assert [i.selector.device_ids for e in live.schedule.entries() for i in e.intents] == [("light.hallway",)]
    assert dues(live) == ["09:00"]


def test_a_plan_stays_where_the_one_instead_needs_a_question(say: Say, live: Live) -> None:
    say("open the study blind at nine")
    assert say("no, the garage door").outcome is Outcome.REFUSED
    assert [i.selector.device_ids for e in live.schedule.entries() for i in e.intents] == [("cover.study_blind",)]


def test_what_was_put_off_is_not_called_by_its_old_time(say: Say) -> None:
    say("turn on the kitchen light at 10")
    moved = say("no, at 11")
    assert "11:00" in moved.say
    assert "at 10" not in moved.say
    assert "at 10" not in say("what is planned").say


def test_what_is_no_time_moves_nothing_that_was_planned(say: Say, live: Live) -> None:
    say("lock the front door at eleven")
    say("make it brighter")
    say("no, the back door")
    assert dues(live) == ["11:00"]


def test_a_number_after_a_lamp_is_no_time(say: Say, live: Live) -> None:
    say("set a timer for 15 minutes")
    say("switch on the desk lamp")
    say("make it 40")
    assert dues(live) == ["08:45"]


@pytest.mark.parametrize(
    ("turns", "off"),
    [
        (("switch on the desk lamp", "and the hall light", "switch them off"), {"light.desk", "light.hallway"}),
        (("switch on the desk lamp", "and the hall light", "switch it off"), {"light.hallway"}),
        (("打开台灯", "还有走廊灯", "都关了"), {"light.desk", "light.hallway"}),
        (("switch on the garage light", "switch on the desk lamp", "switch them off"), {"light.desk"}),
    ],
)
def test_them_are_the_devices_of_all_turns_that_were_joined(
    turns: tuple[str, ...], off: set[str], say: Say, live: Live
) -> None:
    for text in turns[:-1]:
        assert say(text).outcome is Outcome.DONE
    before = {d.id: d.state for d in live.registry.devices()}
    say(turns[-1])
    assert {d.id for d in live.registry.devices() if d.state != before[d.id]} == off


@pytest.mark.parametrize(
    ("question", "wish"), [("how warm is the bedroom", "make it cooler"), ("卧室几度", "调冷一点")]
)
def test_a_wish_after_a_question_is_for_the_room_asked_about(question: str, wish: str, say: Say) -> None:
    assert say(question).outcome is Outcome.ANSWER
    assert [c.targets for c in say(wish).calls] == [("climate.bedroom",)]


@pytest.mark.parametrize(
    "text",
    [
        "switch on another light",
        "turn a different light on",
        "switch on a light",
        "switch on some lights",
        "开几盏灯",
        "打开另一盏灯",
    ],
)
def test_which_of_several_is_left_open_is_asked(text: str, say: Say, live: Live) -> None:
    before = live.registry.devices()
    assert say(text).outcome is Outcome.ASK
    assert live.registry.devices() == before


@pytest.mark.parametrize(
    "text", ["switch on half the lights", "switch off half of the lamps", "把一半的灯关了", "开一半的灯"]
)
def test_half_of_the_lights_is_no_brightness(text: str, say: Say, live: Live) -> None:
    before = live.registry.devices()
    assert say(text).outcome in (Outcome.ASK, Outcome.REFUSED)
    assert live.registry.devices() == before


@pytest.mark.parametrize("text", ["dim the lights to half", "把灯调到一半", "make the floor lamp another colour"])
def test_half_and_another_stay_values(text: str, say: Say) -> None:
    assert say(text).outcome is Outcome.DONE
