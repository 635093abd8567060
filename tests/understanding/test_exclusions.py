"""What English commands leave out stays as it is; where that is unclear, nothing runs."""

from __future__ import annotations

import pytest

from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select

from .conftest import Ask


def lights(home: HomeView, *, less: set[str] | None = None, less_areas: tuple[str, ...] = ()) -> set[str]:
    of_kind = {d.id for d in home.devices if d.type == "light" and d.area not in less_areas}
    return of_kind - (less or set())


def reached(ask: Ask, home: HomeView, text: str) -> set[str]:
    return {d.id for i in ask(text).intents for d in select(i.selector, home)}


@pytest.mark.parametrize(
    "text",
    [
        "turn off all the lights except the floor lamp",
        "switch every light off apart from the floor lamp",
        "turn off all lights, but not the floor lamp",
        "except for the floor lamp, turn all the lights off",
        "turn all the lights but the floor lamp off",
        "leave the floor lamp on and turn off all the other lights",
        "turn off all the lights but leave the floor lamp on",
        "turn off every light besides the floor lamp please",
    ],
)
def test_the_named_device_is_left_out(ask: Ask, home: HomeView, text: str) -> None:
    assert reached(ask, home, text) == lights(home, less={"light.floor_lamp"})


@pytest.mark.parametrize(
    ("text", "areas"),
    [
        ("turn off all the lights except in the kitchen", ("kitchen",)),
        ("turn all the lights on other than the garage and the garden", ("garage", "garden")),
        ("turn off all the lights in the house except in this room", ("living_room",)),
        ("switch off all lights except the lights in the kitchen and the hallway", ("kitchen", "hallway")),
    ],
)
def test_rooms_are_left_out(ask: Ask, home: HomeView, text: str, areas: tuple[str, ...]) -> None:
    assert reached(ask, home, text) == lights(home, less_areas=areas)


def test_everything_but_one_thing_is_everything_else(ask: Ask, home: HomeView) -> None:
    everything = reached(ask, home, "turn everything off")
    assert reached(ask, home, "turn everything off but the floor lamp") == everything - {"light.floor_lamp"}
    assert reached(ask, home, "switch off everything except the TV") == everything - {"media_player.living_room_tv"}


def test_all_but_one_lamp_may_mean_only_lamps_and_is_asked_about(ask: Ask) -> None:
    assert ask("turn off all but the floor lamp").needs_confirmation
    assert not ask("turn off everything but the floor lamp").needs_confirmation
    assert not ask("turn off all the lights but the floor lamp").needs_confirmation


@pytest.mark.parametrize(
    "text",
    [
        "turn off all the lights except one",
        "turn off all the lights except the purple one",
        "turn off all the lights except the kitchen light and lock the front door",
        "turn off the light but lock the door",
        "turn off the kitchen light except the floor lamp",
        "don't turn off the lights except the kitchen light",
        "turn off the lights except if i am in the kitchen",
        "everything but the kitchen light",
        "lock but the front door",
    ],
)
def test_an_exclusion_that_is_not_clear_does_nothing(ask: Ask, text: str) -> None:
    assert ask(text).kind is not Kind.CALLS
