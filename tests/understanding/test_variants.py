"""Names as people shorten and bend them, and places shared between commands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentkit.devices.adapter import Area, Device
from agentkit.types import Kind, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select

Ask = Callable[..., Understanding]
HOME = HomeView(
    devices=(
        Device("vacuum.m", "Molly Upstairs", "vacuum", None),
        Device("light.w1", "Wall Lamp 1", "light", "gallery"),
        Device("light.w2", "Wall Lamp 2", "light", "gallery"),
        Device("climate.g", "AC", "climate", "gallery"),
        Device("climate.o", "AC", "climate", "oriel"),
        Device("switch.b", "Zentech Boathouse Switch", "switch", None),
        Device("light.r", "Entry Lamp", "light", "gallery"),
    ),
    areas=(Area("gallery", "Gallery"), Area("oriel", "Oriel Room"), Area("deck", "Stern Deck")),
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("start molly", ["vacuum.m"]),
        ("turn on the wall lamps in the gallery", ["light.w1", "light.w2"]),
        ("switch off the second wall lamp", ["light.w2"]),
        ("turn on the boathouse lights", ["switch.b"]),
        ("turn on the entrance lamp", ["light.r"]),
    ],
)
def test_a_bent_name_means_its_device(ask: Ask, text: str, ids: list[str]) -> None:
    found = ask(text, HOME)
    assert found.kind is Kind.CALLS
    assert sorted(d.id for i in found.intents for d in select(i.selector, HOME)) == ids


def test_words_that_fit_several_names_mean_none(ask: Ask) -> None:
    twins = HomeView((Device("a", "Red Barn Vacuum", "vacuum"), Device("b", "Old Barn Vacuum", "vacuum")))
    assert not ask("start barn", twins).intents


def test_a_place_at_the_end_holds_for_the_command_before(ask: Ask) -> None:
    found = ask("turn on the ac and dim the wall lamp 1 in the gallery", HOME)
    assert [[d.id for d in select(i.selector, HOME)] for i in found.intents] == [["climate.g"], ["light.w1"]]


def test_on_in_front_is_a_verb_only_at_the_start(ask: Ask) -> None:
    assert [i.tool for i in ask("off the ac in the gallery", HOME).intents] == ["turn_off"]
    assert not [i for i in ask("dim the wall lamp 1 off the ac", HOME).intents if i.tool == "turn_off"]


def test_opening_never_unlocks(ask: Ask) -> None:
    home = HomeView((Device("lock.g", "Barn Gate", "lock"),))
    assert not [i for i in ask("open the barn door", home).intents if i.tool == "unlock"]


PORCH = HomeView(
    devices=(
        Device("lock.p", "August Pro", "lock", "porch"),
        Device("lock.s", "Shed Lock", "lock", "shed"),
        Device("light.main", "Main Light", "light", "shed"),
        Device("light.bench", "Bench Lamp", "light", "shed"),
        Device("scene.m", "Film Evening", "scene"),
        Device("light.c", "Couch Light", "light", "oriel"),
    ),
    areas=(Area("porch", "Front Porch"), Area("shed", "Shed"), Area("oriel", "Oriel Room")),
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("lock the front door", ["lock.p"]),
        ("lock the front door lock", ["lock.p"]),
        ("switch on the shed light", ["light.main"]),
        ("switch on the shed lights", ["light.bench", "light.main"]),
        ("switch on the shed lamp", ["light.bench"]),
        ("switch off the sofa light", ["light.c"]),
        ("start movie evening", ["scene.m"]),
    ],
)
def test_a_thing_is_known_by_its_room_or_another_word(ask: Ask, text: str, ids: list[str]) -> None:
    found = ask(text, PORCH)
    assert sorted(d.id for i in found.intents for d in select(i.selector, PORCH)) == ids


def test_a_front_door_that_is_called_so_is_no_other_lock(ask: Ask) -> None:
    real = HomeView((*PORCH.devices, Device("lock.f", "Front Door", "lock", "shed")), PORCH.areas)
    found = ask("lock the front door", real)
    assert [d.id for i in found.intents for d in select(i.selector, real)] == ["lock.f"]


BARN = HomeView(
    devices=(
        Device("vacuum.1", "Stable1 Vacuum", "vacuum"),
        Device("vacuum.2", "Stable2 Vacuum", "vacuum"),
        Device("switch.h", "Zentech Loft 2 Switch", "switch"),
        Device("switch.t", "Tack Entry Switch", "switch"),
        Device("light.s", "Under Stairs Cupboard Light", "light"),
        Device("media_player.d", "Saddle Bar Jukebox", "media_player"),
        Device("light.a", "Old Stall Light", "light"),
        Device("light.b", "New Stall Light", "light"),
        Device("switch.w", "Hay Cellar Switch", "switch"),
        Device("vacuum.b", "Basement Deebot", "vacuum"),
    ),
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("start the vacuum in stable one", ["vacuum.1"]),
        ("start the vacuum in stable two", ["vacuum.2"]),
        ("turn on the second loft lights", ["switch.h"]),
        ("turn off the tack entry lights", ["switch.t"]),
        ("turn off the tack entrance lights", ["switch.t"]),
        ("turn up the volume of the jukebox in the saddle bar", ["media_player.d"]),
    ],
)
def test_words_of_a_name_mean_its_device(ask: Ask, text: str, ids: list[str]) -> None:
    found = ask(text, BARN)
    assert sorted(d.id for i in found.intents for d in select(i.selector, BARN)) == ids


def test_other_words_for_a_name_mean_nothing_where_a_name_has_them(ask: Ask) -> None:
    assert not ask("start the hay cellar vacuum", BARN).intents
    stairway = HomeView((*BARN.devices, Device("switch.n", "Zentech Stairway Plug", "switch")))
    found = ask("turn on the stairway lights", stairway)
    assert "light.s" not in [d.id for i in found.intents for d in select(i.selector, stairway)]


def test_of_two_that_share_the_words_it_is_asked_which(ask: Ask) -> None:
    (intent,) = ask("turn off the stall light", BARN).intents
    assert intent.selector.is_one
    assert intent.selector.device_ids == ("light.a", "light.b")
    (both,) = ask("turn off the stall lights", BARN).intents
    assert not both.selector.is_one
