"""Numbers that may say when: not taken for values, and two commands in a row have not one time."""

from __future__ import annotations

import pytest

from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView

from .conftest import Ask


@pytest.mark.parametrize("text", ["kitchen light from eight to ten", "heating from 6 to 9 please", "厨房灯从八到十"])
def test_hours_are_no_values(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, home)
    assert (found.kind, found.reply_values.get("kind")) == (Kind.REFUSE, "range")


@pytest.mark.parametrize("text", ["set the kitchen light from 10 to 20", "change the heating from 18 to 21"])
def test_a_change_that_may_be_hours_is_asked_about(text: str, ask: Ask, home: HomeView) -> None:
    assert ask(text, home).needs_confirmation


@pytest.mark.parametrize(
    "text", ["set the kitchen light from 10 to 20 percent", "set the brightness of the kitchen light from 10 to 20"]
)
def test_a_named_value_is_set(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, home)
    assert (found.kind, found.needs_confirmation) == (Kind.CALLS, False)


@pytest.mark.parametrize(
    "text", ["turn on the kitchen light in ten", "turn the kitchen light on for 20", "turn the fan up in 5"]
)
def test_a_number_without_a_unit_is_asked_about_as_minutes(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, home)
    assert found.when is not None
    assert found.needs_confirmation


@pytest.mark.parametrize("text", ["the hallway light for 30", "set the heating in 20"])
def test_what_cannot_be_for_minutes_is_asked_about_as_a_value(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, home)
    assert (found.when, found.needs_confirmation) == (None, True)


@pytest.mark.parametrize("text", ["set the kitchen light in 20 percent", "set the kitchen light to 20"])
def test_a_number_with_a_unit_is_a_value(text: str, ask: Ask, home: HomeView) -> None:
    assert not ask(text, home).needs_confirmation


@pytest.mark.parametrize(
    "text",
    [
        "turn on the fan wait ten minutes turn it off",
        "turn on the kitchen light turn it off in five minutes",
        "开风扇十分钟后开灯",
        "关灯五分钟后开风扇",
    ],
)
def test_of_two_commands_in_a_row_the_second_is_later(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, home)
    assert found.when is None
    assert [step.when is None for step in found.then] == [False]


@pytest.mark.parametrize(
    "text",
    [
        "turn off the kitchen light lock the front door at ten",
        "turn on the fan in ten minutes turn on the kitchen light",
        "turn on the fan for ten minutes turn on the kitchen light",
    ],
)
def test_a_time_that_may_be_for_either_of_two_commands_is_refused(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, home)
    assert (found.kind, found.reply_values.get("kind")) == (Kind.REFUSE, "apart")


@pytest.mark.parametrize("text", ["turn on the kitchen light and the fan in ten minutes", "十分钟后关灯关风扇"])
def test_a_time_for_two_things_stays_one(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, home)
    assert found.when is not None
    assert not found.then
