"""Which word is the verb of a clause, and what it acts on."""

from __future__ import annotations

import pytest

from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select

from .conftest import Ask


def calls(text: str, ask: Ask, home: HomeView) -> list[tuple[str, tuple[str, ...]]]:
    return [(i.tool, tuple(d.id for d in select(i.selector, home))) for i in ask(text).intents]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lock the back door and unlock the front door", ["lock back_door", "unlock front_door"]),
        ("unlock the front door and lock the back door", ["unlock front_door", "lock back_door"]),
        ("lock the back door, unlock the front door", ["lock back_door", "unlock front_door"]),
        ("锁后门，开前门", ["lock back_door", "unlock front_door"]),
        ("解锁前门锁后门", ["unlock front_door", "lock back_door"]),
    ],
)
def test_a_verb_that_is_also_a_thing_is_a_verb_where_it_leads(
    text: str, expected: list[str], ask: Ask, home: HomeView
) -> None:
    found = calls(text, ask, home)
    assert [f"{tool} {ids[0].removeprefix('lock.')}" for tool, ids in found] == expected
    assert all(len(ids) == 1 for _, ids in found)


@pytest.mark.parametrize("text", ["the kitchen light and turn on the tv", "厨房灯，打开电视"])
def test_a_thing_whose_verb_was_not_heard_does_not_get_the_next_one(text: str, ask: Ask) -> None:
    assert not ask(text).intents


@pytest.mark.parametrize("text", ["open the back door", "shut the back door", "close the front door"])
def test_no_other_device_is_taken_because_a_word_of_a_name_was_passed_over(text: str, ask: Ask, home: HomeView) -> None:
    reached = {d for _, ids in calls(text, ask, home) for d in ids}
    assert reached <= {"lock.back_door", "lock.front_door"}
