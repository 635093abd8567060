"""Names as people shorten and bend them, and places shared between commands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentkit.devices.adapter import Area, Device, Floor
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


SERIES = HomeView(
    devices=(
        Device("light.s1", "Sconce 1", "light", "cloister"),
        Device("light.s2", "Sconce 2", "light", "cloister"),
        Device("light.s", "Sconce", "light", "chapel"),
        Device("light.u", "Uplight", "light", "chapel"),
        Device("cover.c", "Drape", "cover", "chapel", attributes={"device_class": "curtain"}),
        Device("climate.k", "AC", "climate", "cloister"),
    ),
    areas=(Area("cloister", "Cloister", floor="low"), Area("chapel", "Chapel", floor="low")),
    floors=(Floor("low", "Ground Floor"),),
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("dim the sconces in the cloister", ["light.s1", "light.s2"]),
        ("dim the cloister sconces", ["light.s1", "light.s2"]),
        ("turn off the sconces", ["light.s", "light.s1", "light.s2"]),
        ("turn off the sconces in the chapel", ["light.s"]),
        ("turn off the sconce in the chapel", ["light.s"]),
    ],
)
def test_the_plural_of_a_name_means_its_numbered_series_too(ask: Ask, text: str, ids: list[str]) -> None:
    found = ask(text, SERIES)
    assert sorted(d.id for i in found.intents for d in select(i.selector, SERIES)) == ids


def test_the_singular_of_a_name_means_none_of_its_series(ask: Ask) -> None:
    assert not ask("turn off the sconce in the cloister", SERIES).intents


@pytest.mark.parametrize("value", ["lavender", "red", "warm white"])
def test_a_value_may_lead_the_first_of_two_commands(ask: Ask, value: str) -> None:
    found = ask(f"{value} on the uplight and close the drape halfway in the chapel", SERIES)
    reached = [(i.tool.split("_")[1], [d.id for d in select(i.selector, SERIES)]) for i in found.intents]
    assert reached == [("color", ["light.u"]), ("cover", ["cover.c"])]


def test_a_thing_without_a_value_before_and_leads_nothing(ask: Ask) -> None:
    assert not ask("the uplight and close the drape", SERIES).intents


def test_a_floor_in_front_holds_for_commands_in_two_rooms(ask: Ask) -> None:
    found = ask(
        "on the ground floor set the ac in the cloister to cool mode and turn on the sconce in the chapel at 75 percent"
        " brightness",
        SERIES,
    )
    assert [[d.id for d in select(i.selector, SERIES)] for i in found.intents] == [["climate.k"], ["light.s"]]


def test_a_white_is_one_colour_and_not_two(ask: Ask) -> None:
    found = ask("change the color of the uplight to warm white", SERIES)
    assert [(i.tool, i.args) for i in found.intents] == [("set_color_temperature", {"kelvin": 2700})]
