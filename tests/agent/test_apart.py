"""One sentence with several times, or a timer beside a command: each part at its own time, or none at all."""

from __future__ import annotations

import pytest

from agentkit.assemble import Live
from agentkit.types import Outcome
from tests.agent.conftest import Say


def planned(live: Live) -> list[tuple[str, list[str]]]:
    """When something is due and what it calls; a timer or an alarm calls nothing."""
    entries = live.schedule.entries()
    return [(e.due.strftime("%H:%M"), [i.tool for i in e.intents]) for e in entries if e.due is not None]


@pytest.mark.parametrize(
    ("text", "moved", "later"),
    [
        ("switch on the desk lamp now and switch it off at ten", {"light.desk": "on"}, [("10:00", ["turn_off"])]),
        ("turn on the desk lamp now and turn it off at ten", {"light.desk": "on"}, [("10:00", ["turn_off"])]),
        ("switch on the desk lamp and switch it off at ten", {"light.desk": "on"}, [("10:00", ["turn_off"])]),
        ("switch on the desk lamp then turn it off after ten minutes", {"light.desk": "on"}, [("08:40", ["turn_off"])]),
        ("switch on the desk lamp, at ten lock the front door", {"light.desk": "on"}, [("10:00", ["lock"])]),
        ("现在打开台灯，十点关掉它", {"light.desk": "on"}, [("10:00", ["turn_off"])]),
        ("打开台灯，十点锁前门", {"light.desk": "on"}, [("10:00", ["lock"])]),
        ("switch on the desk lamp and wake me at ten", {"light.desk": "on"}, [("10:00", [])]),
        ("打开台灯，定一个十分钟的计时器", {"light.desk": "on"}, [("08:40", [])]),
        ("set a timer for ten minutes and switch on the desk lamp", {"light.desk": "on"}, [("08:40", [])]),
        ("定一个十分钟的计时器，打开台灯", {"light.desk": "on"}, [("08:40", [])]),
        (
            "switch on the desk lamp for ten minutes and close the curtain",
            {"light.desk": "on", "cover.living_room_curtain": "closed"},
            [("08:40", ["turn_off"])],
        ),
        (
            "switch on the desk lamp for ten minutes and lock the front door at ten",
            {"light.desk": "on"},
            [("08:40", ["turn_off"]), ("10:00", ["lock"])],
        ),
        ("打开台灯，明早七点叫我", {"light.desk": "on"}, [("07:00", [])]),
        ("switch on the desk lamp and set a timer for ten minutes", {"light.desk": "on"}, [("08:40", [])]),
        (
            "lock the front door at nine pm and close the curtain at ten pm",
            {},
            [("21:00", ["lock"]), ("22:00", ["close_cover"])],
        ),
    ],
)
def test_each_part_is_done_at_its_own_time(
    text: str, moved: dict[str, str], later: list[tuple[str, list[str]]], say: Say, live: Live
) -> None:
    reply = say(text)
    assert reply.outcome in (Outcome.DONE, Outcome.SCHEDULED)
    assert {i: live.registry.get(i).state for i in moved} == moved
    assert planned(live) == later


@pytest.mark.parametrize(
    "text",
    [
        "set a timer for ten minutes and switch off the desk lamp",
        "定一个十分钟的计时器，再打开台灯",
        "close the curtain and switch on the desk lamp for ten minutes",
        "switch on the desk lamp for ten minutes, then close the curtain",
        "wake me at ten and switch on the desk lamp",
        "switch on the desk lamp now, lock the front door at ten, close the curtain",
        "switch on the desk lamp and in ten minutes the floor lamp",
        "现在打开台灯，十点锁前门，拉上窗帘",
        "switch on the desk lamp now and unlock the front door at ten",
        "switch on the desk lamp now and feed the parrot at ten",
        "switch on the desk lamp now and the hallway light at ten",
        "at ten switch on the desk lamp and switch it off",
        "lock the front door and unlock it in five minutes",
        "tomorrow at ten open the curtain and close it at eleven",
    ],
)
def test_what_may_hold_for_more_than_its_clause_is_refused_as_a_whole(text: str, say: Say, live: Live) -> None:
    before = live.registry.devices()
    assert say(text).outcome is Outcome.REFUSED
    assert live.registry.devices() == before
    assert planned(live) == []


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("at ten switch on the desk lamp and lock the front door", ["turn_on", "lock"]),
        ("switch on the desk lamp and lock the front door at ten", ["turn_on", "lock"]),
        ("十点打开台灯，锁前门", ["turn_on", "lock"]),
    ],
)
def test_one_time_around_a_sentence_holds_for_all_of_it(text: str, tools: list[str], say: Say, live: Live) -> None:
    assert say(text).outcome is Outcome.SCHEDULED
    assert planned(live) == [("10:00", tools)]


@pytest.mark.parametrize(
    "text",
    [
        "put rice on the shopping list and switch on the desk lamp",
        "switch on the desk lamp and put rice on the shopping list",
        "打开台灯，把rice加到购物清单",
        "把台灯打开，然后把rice加到购物清单",
    ],
)
def test_a_list_keeps_its_item_and_no_command(text: str, say: Say, live: Live) -> None:
    assert say(text).outcome is Outcome.DONE
    assert live.registry.get("todo.shopping").attributes["items"] == ["milk", "bread", "rice"]
    assert live.registry.get("light.desk").state == "on"


@pytest.mark.parametrize(
    "text",
    [
        "remind me at ten to close the curtain and lock the front door",
        "put wash up and close the curtain on my to-do list",
    ],
)
def test_what_is_written_down_is_not_done(text: str, say: Say, live: Live) -> None:
    say(text)
    assert live.registry.get("cover.living_room_curtain").state == "open"


def test_a_part_done_and_a_part_planned_are_both_said(say: Say) -> None:
    reply = say("switch on the desk lamp now and switch it off at ten")
    assert "Turned on the desk lamp." in reply.say
    assert "10:00" in reply.say
