"""Words that mean only some devices of a kind, several things in one sentence, and what is on already."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.devices.adapter import Device
from agentkit.types import Args, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select

from .conftest import Ask


def reached(text: str, ask: Ask, view: HomeView) -> list[tuple[str, str]]:
    return [(i.tool, d.id) for i in ask(text, view).intents for d in select(i.selector, view)]


@pytest.mark.parametrize("text", ["switch off all air conditioners", "关掉所有空调"])
def test_floor_heating_is_no_air_conditioner(text: str, ask: Ask, home: HomeView) -> None:
    ids = [device_id for _, device_id in reached(text, ask, home)]
    assert "climate.living_room" in ids
    assert "climate.heating" not in ids


@pytest.mark.parametrize("text", ["switch off all air conditioners", "关掉所有空调"])
def test_a_climate_device_that_tells_nothing_may_be_one(text: str, ask: Ask, home: HomeView) -> None:
    plain = Device("climate.box", "Box", "climate", "kitchen")
    view = replace(home, devices=(*home.devices, plain))
    assert ("turn_off", "climate.box") in reached(text, ask, view)


def test_a_device_that_can_heat_and_not_cool_is_a_heater() -> None:
    modes = {"heat": ["off", "heat"], "both": ["off", "heat", "cool"], "none": []}
    devices = {k: Device(f"climate.{k}", k, "climate", attributes={"hvac_modes": v}) for k, v in modes.items()}
    assert {k: d.device_class for k, d in devices.items()} == {"heat": "heater", "both": None, "none": None}


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("add rice, some pasta and oat milk to the shopping list", ["rice", "pasta", "oat milk"]),
        ("购物清单加点大米、葱和盐", ["大米", "葱", "盐"]),
        ("购物清单加点心", ["点心"]),
        ("add sort photos and letters to the to do list", ["sort photos and letters"]),
    ],
)
def test_a_list_takes_its_items_one_by_one(text: str, items: list[str], ask: Ask, home: HomeView) -> None:
    assert [i.args["item"] for i in ask(text, home).intents] == items


def test_them_are_switched_off_and_closed_each_in_its_own_way(ask: Ask, home: HomeView) -> None:
    ids = ("light.bedroom", "cover.bedroom_curtain", "lock.front_door")
    view = replace(home, spoken_of=Selector(device_ids=ids, types=("light", "cover", "lock")))
    assert reached("turn them all off", ask, view) == [
        ("turn_off", "light.bedroom"),
        ("close_cover", "cover.bedroom_curtain"),
        ("turn_off", "lock.front_door"),  # which the resolver refuses, and no other for it
    ]


@pytest.mark.parametrize("area", ["study", "kids_room"])
def test_a_door_is_no_garage_door_from_another_room(area: str, ask: Ask, home: HomeView) -> None:
    view = replace(home, speaker_area=area)
    assert "cover.garage_door" not in [d for _, d in reached("close the door", ask, view)]


def test_a_door_is_the_garage_door_for_who_stands_before_it_or_names_its_room(ask: Ask, home: HomeView) -> None:
    view = replace(home, speaker_area="garage")
    assert reached("close the door", ask, view) == [("close_cover", "cover.garage_door")]
    assert reached("close the door in the garage", ask, home) == [("close_cover", "cover.garage_door")]


@pytest.mark.parametrize(
    ("text", "tool", "args"),
    [
        ("turn the radio all the way down", "set_volume", {"volume": 1}),
        ("dim the desk lamp fully", "set_brightness", {"brightness": 1}),
        ("turn the desk lamp down completely", "set_brightness", {"brightness": 1}),
        ("turn the desk lamp all the way up", "set_brightness", {"brightness": 100}),
        ("lower the garage door all the way", "close_cover", {}),
    ],
)
def test_all_the_way_leads_where_the_verb_leads(text: str, tool: str, args: Args, ask: Ask, home: HomeView) -> None:
    assert [(i.tool, i.args) for i in ask(text, home).intents] == [(tool, args)]


def test_on_behind_a_value_says_where_it_is_set_and_switches_nothing_on(ask: Ask, home: HomeView) -> None:
    said = "set my temperature to 70 f on my living room air conditioner"
    assert [i.tool for i in ask(said, home).intents] == ["set_temperature"]
