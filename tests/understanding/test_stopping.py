""" "Stop" alone means what moves or plays, "quiet" alone what is heard; where nothing does, nothing is touched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.types import Intent, Kind, Selector
from agentkit.understanding.home_view import HomeView

from .conftest import Ask

MOVES = {
    "media_player.kitchen_radio": "playing",
    "vacuum.robot": "cleaning",
    "lawn_mower.robot": "mowing",
    "cover.garage_door": "opening",
}
TOOLS = {
    "media_player.kitchen_radio": "media_stop",
    "vacuum.robot": "vacuum_stop",
    "lawn_mower.robot": "mower_dock",
    "cover.garage_door": "stop_cover",
}


def moving(home: HomeView, *ids: str, last: str | None = None) -> HomeView:
    """The home with some devices at work, and one that was just spoken of."""
    devices = tuple(replace(d, state=MOVES[d.id]) if d.id in ids else d for d in home.devices)
    spoken = None if last is None else Selector(device_ids=(last,), types=(last.partition(".")[0],))
    return replace(home, devices=devices, spoken_of=spoken)


def stopped(found: tuple[Intent, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return [(i.tool, i.selector.device_ids) for i in found]


@pytest.mark.parametrize("text", ["stop", "please stop", "停", "停下来"])
@pytest.mark.parametrize("device", list(MOVES))
def test_the_one_thing_that_moves_stops(text: str, device: str, ask: Ask, home: HomeView) -> None:
    assert stopped(ask(text, moving(home, device)).intents) == [(TOOLS[device], (device,))]


@pytest.mark.parametrize("text", ["be quiet", "shut up", "安静", "别吵"])
def test_a_word_for_quiet_mutes_what_is_heard_and_stops_nothing(text: str, ask: Ask, home: HomeView) -> None:
    both = moving(home, "media_player.kitchen_radio", "vacuum.robot")
    assert stopped(ask(text, both).intents) == [("mute", ("media_player.kitchen_radio",))]
    assert ask(text, moving(home, "vacuum.robot")).intents == ()


@pytest.mark.parametrize("text", ["stop", "停"])
def test_of_several_the_one_just_spoken_of_stops(text: str, ask: Ask, home: HomeView) -> None:
    view = moving(home, "media_player.kitchen_radio", "vacuum.robot", last="vacuum.robot")
    assert stopped(ask(text, view).intents) == [("vacuum_stop", ("vacuum.robot",))]


@pytest.mark.parametrize("text", ["stop", "停"])
def test_of_several_that_move_nothing_stops_without_a_question(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, moving(home, "media_player.kitchen_radio", "vacuum.robot", last="light.desk"))
    assert (found.kind, found.intents) == (Kind.ASK, ())
    assert found.reply_values["devices"]


@pytest.mark.parametrize("text", ["stop", "be quiet", "停", "安静"])
def test_where_nothing_moves_everything_stays(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text, moving(home))
    assert (found.kind, found.reply_key) == (Kind.SAY, "nevermind")
