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


@pytest.mark.parametrize(
    ("said", "tool", "device"),
    [
        ("turn on the big light", "turn_on", "light.living_room_ceiling"),
        ("switch the overhead off", "turn_off", "light.living_room_ceiling"),
        ("turn off the overheads in the bedroom", "turn_off", "light.bedroom"),
        ("turn on the top light in the bedroom", "turn_on", "light.bedroom"),
        ("开大灯", "turn_on", "light.living_room_ceiling"),
        ("把卧室的大灯关掉", "turn_off", "light.bedroom"),
        ("头顶的灯关一下", "turn_off", "light.living_room_ceiling"),
        ("is the big light on", "get_state", "light.living_room_ceiling"),
    ],
)
def test_a_nickname_means_the_ceiling_light(said: str, tool: str, device: str, ask: Ask, home: HomeView) -> None:
    found = ask(said)

    assert [i.tool for i in found.intents] == [tool]
    assert reached(said, ask, home) == [device]
    assert not found.needs_confirmation


def test_a_nickname_where_no_light_is_called_so_is_asked_about(ask: Ask) -> None:
    assert ask("turn on the big light in the study").needs_confirmation


@pytest.mark.parametrize(
    "said", ["调大灯光", "把灯开大一点", "i bought a big light for the garden", "the overhead is high"]
)
def test_what_only_sounds_like_a_nickname_is_none(said: str, ask: Ask) -> None:
    assert all(i.tool == "adjust_brightness" for i in ask(said).intents)


def test_a_nickname_in_words_that_are_kept_stays_as_it_was_said(ask: Ask) -> None:
    assert ask("add a big light to the shopping list").intents[0].args == {"item": "a big light"}
    assert ask("remind me to buy an overhead light in an hour").intents[0].args["message"] == "buy an overhead light"


def test_a_nickname_that_a_device_has_as_its_name_means_that(ask: Ask, home: HomeView) -> None:
    lamp = next(d for d in home.devices if d.id == "light.desk")
    big = replace(lamp, id="light.big", name="Big Light", aliases=("大灯",), area="living_room")
    view = replace(home, devices=(*home.devices, big))

    assert reached("turn on the big light", ask, view) == ["light.big"]
    assert reached("打开大灯", ask, view) == ["light.big"]


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
