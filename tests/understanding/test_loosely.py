"""Adjectives that tell nothing in this home, and rooms that are switched without a thing being named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select
from tests.understanding.conftest import Ask


def reached(text: str, ask: Ask, view: HomeView) -> list[str]:
    return [d.id for i in ask(text, view).intents for d in select(i.selector, view)]


@pytest.mark.parametrize(
    ("said", "device"),
    [
        ("turn on the new desk lamp", "light.desk"),
        ("switch the old kitchen radio off", "media_player.kitchen_radio"),
        ("turn on the overhead light in the kitchen", "light.kitchen"),
        ("turn off the main light in the hallway", "light.hallway"),
        ("打开厨房的主灯", "light.kitchen"),
    ],
)
def test_an_adjective_that_no_name_holds_tells_nothing(said: str, device: str, ask: Ask, home: HomeView) -> None:
    found = ask(said)

    assert device in reached(said, ask, home)
    assert found.kind is Kind.CALLS


def test_an_adjective_in_a_name_tells_which(ask: Ask, home: HomeView) -> None:
    lamp = next(d for d in home.devices if d.id == "light.desk")
    view = replace(home, devices=(*home.devices, replace(lamp, id="light.new", name="New Lamp", aliases=())))

    assert reached("turn on the new lamp", ask, view) == ["light.new"]
    assert "light.new" not in reached("turn on the new desk lamp", ask, view)


@pytest.mark.parametrize(("said", "tool"), [("turn off the kitchen", "turn_off"), ("switch the kitchen on", "turn_on")])
def test_a_room_alone_is_asked_about(said: str, tool: str, ask: Ask, home: HomeView) -> None:
    found = ask(said)

    assert [i.tool for i in found.intents] == [tool]
    assert found.needs_confirmation
    assert "light.kitchen" in reached(said, ask, home)


@pytest.mark.parametrize(
    "said", ["do not turn off the kitchen", "i turned off the kitchen", "lock the kitchen up later"]
)
def test_a_room_alone_is_left_alone_behind_a_guard(said: str, ask: Ask) -> None:
    assert ask(said).kind is not Kind.CALLS


def test_a_name_is_no_guard_but_what_stands_beside_it_is(ask: Ask, home: HomeView) -> None:
    kitchen = next(a for a in home.areas if a.id == "kitchen")
    view = replace(home, areas=(*home.areas, replace(kitchen, id="game_room", name="Game Room", aliases=())))

    assert ask("turn on the zeppelin in the game room", view).reply_key == "unknown_device"
    assert ask("let us play a game with the zeppelin in the game room", view).reply_key != "unknown_device"
    assert ask("turn on the zeppelin in the game room when i win", view).kind is not Kind.CALLS
