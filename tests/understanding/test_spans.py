"""Ranges, ends of a scale, and what devices list themselves: what is meant, and what only sounds like it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.devices.adapter import Device
from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select

from .conftest import Ask


def called(said: str, ask: Ask, view: HomeView | None = None) -> list[tuple[str, dict[str, object]]]:
    found = ask(said) if view is None else ask(said, view)
    return [(i.tool, dict(i.args)) for i in found.intents] if found.kind is Kind.CALLS else []


@pytest.mark.parametrize(
    ("said", "args"),
    [
        ("keep the living room thermostat between 19 and 22", {"low": 19, "high": 22}),
        ("keep the bedroom ac between nineteen and twenty two degrees", {"low": 19, "high": 22}),
        ("set the temperature to between 19 and 22 degrees", {"low": 19, "high": 22}),
        ("i want the bedroom between 22 and 20 degrees", {"low": 20, "high": 22}),
        ("the temperature should stay between 20 and 22 degrees", {"low": 20, "high": 22}),
        ("keep the bedroom ac at 19 to 22 degrees", {"low": 19, "high": 22}),
        ("set the temperature range to 19 to 22 degrees", {"low": 19, "high": 22}),
        ("heat to 20 and cool to 25", {"low": 20, "high": 25}),
        ("in the bedroom, heat to 20 degrees and cool to 25 degrees", {"low": 20, "high": 25}),
        ("keep the bedroom ac between 66 and 72 degrees fahrenheit", {"low": 66, "high": 72, "unit": "fahrenheit"}),
        ("set the minimum temperature to 18", {"low": 18}),
        ("set the maximum temperature of the bedroom ac to 24 degrees", {"high": 24}),
        ("set the minimum to 18 degrees", {"low": 18}),
        ("keep the bedroom above 18 degrees", {"low": 18}),
        ("don't let the bedroom get below 18 degrees", {"low": 18}),
        ("never let the bedroom get warmer than 24 degrees", {"high": 24}),
        ("把温度保持在20到24度之间", {"low": 20, "high": 24}),
        ("卧室空调温度控制在二十到二十四度", {"low": 20, "high": 24}),
        ("客厅空调设为20至24度", {"low": 20, "high": 24}),
        ("把最低温度设为18度", {"low": 18}),
        ("卧室温度不要超过24度", {"high": 24}),
        ("别让卧室温度低于18度", {"low": 18}),
    ],
)
def test_a_range_or_one_of_its_ends_is_kept(said: str, args: dict[str, object], ask: Ask) -> None:
    assert called(said, ask) == [("set_temperature_range", args)]


@pytest.mark.parametrize(
    "said",
    [
        "turn on the heating between 19 and 22",
        "keep the heating on between 7 and 9",
        "the temperature is between 19 and 22 degrees",
        "it was between 19 and 22 degrees in the bedroom yesterday",
        "is the bedroom between 19 and 22 degrees",
        "if the bedroom is between 19 and 22 degrees turn on the fan",
        "keep the volume between 20 and 40",
        "keep the lights on between the curtains",
        "what is the minimum temperature of the bedroom ac",
        "don't let the children get below 18",
        "the minimum temperature today was 18 degrees",
        "昨天温度在20到24度之间",
        "卧室温度在20到24度之间吗",
        "如果温度不低于18度就关空调",
        "今天最低温度18度",
        "从8点到10点打开空调",
    ],
)
def test_what_only_sounds_like_a_range_moves_nothing(said: str, ask: Ask) -> None:
    found = ask(said)
    is_planned = found.when is not None and found.when.start is not None  # "on between 7 and 9"
    assert found.kind is not Kind.CALLS or is_planned or all(i.tool.startswith("get_") for i in found.intents), found


def test_from_a_number_to_a_number_without_degrees_may_be_hours(ask: Ask) -> None:
    found = ask("keep the living room thermostat from 19 to 22")
    assert (found.intents[0].tool, found.needs_confirmation) == ("set_temperature_range", True)


@pytest.mark.parametrize(
    ("said", "tool", "args"),
    [
        ("把客厅空调从24度调到26度", "set_temperature", {"temperature": 26}),
        ("把电视音量从20调到40", "set_volume", {"volume": 40}),
        ("把台灯亮度从80%调到30%", "set_brightness", {"brightness": 30}),
        ("change the living room ac from 24 to 26 degrees", "set_temperature", {"temperature": 26}),
        ("change the volume from 20 to 40", "set_volume", {"volume": 40}),
    ],
)
def test_from_one_value_to_another_sets_the_last(said: str, tool: str, args: dict[str, object], ask: Ask) -> None:
    assert called(said, ask) == [(tool, args)]


@pytest.mark.parametrize("said", ["把音乐从客厅切到卧室", "把灯从卧室关了", "从客厅开始打扫"])
def test_from_a_place_is_no_value(said: str, ask: Ask) -> None:
    assert called(said, ask) == []


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("turn the heating all the way up", "most"),
        ("heating to the maximum", "most"),
        ("set the temperature to the maximum", "highest"),
        ("turn the temperature of the heating to the lowest", "lowest"),
        ("把地暖开到最大", "most"),
        ("把地暖温度调到最低", "lowest"),
    ],
)
def test_an_end_of_the_scale_is_the_devices_own(said: str, limit: str, ask: Ask) -> None:
    assert called(said, ask) == [("set_temperature_limit", {"limit": limit})]


def test_an_end_of_the_scale_beside_a_number_is_no_second_value(ask: Ask) -> None:
    assert all(tool != "set_temperature_limit" for tool, _ in called("set the heating to the minimum, 18 degrees", ask))


@pytest.mark.parametrize(
    ("said", "effect"),
    [
        ("turn on the colour loop on the light strip", "colorloop"),
        ("set the light strip to disco", "disco"),
        ("start the rainbow effect", "rainbow"),
        ("turn off the effect of the light strip", "none"),
        ("stop the disco", "none"),
        ("灯带彩虹效果", "rainbow"),
        ("关闭特效", "none"),
    ],
)
def test_effects_are_told_by_many_names(said: str, effect: str, ask: Ask) -> None:
    assert called(said, ask) == [("set_effect", {"effect": effect})]


@pytest.mark.parametrize(
    "said", ["flash the bedside lamp", "blink the light strip", "make the floor lamp flash", "落地灯闪一下"]
)
def test_a_light_is_told_to_flash(said: str, ask: Ask) -> None:
    assert called(said, ask) == [("flash_light", {})]


@pytest.mark.parametrize(
    "said",
    [
        "rainbow",
        "there is a rainbow outside",
        "we went to a disco",
        "play disco",
        "look at the fire",
        "the lights are flashing",
        "why did the bedroom light flash",
        "in a flash",
        "flash news",
        "灯在闪",
        "灯为什么闪",
        "外面有彩虹",
        "效果不错",
        "电影的特效很好",
        "the effect was great",
        "i am away",
        "go to sleep",
    ],
)
def test_what_only_sounds_like_an_effect_or_a_signal_moves_no_light(said: str, ask: Ask) -> None:
    assert not {tool for tool, _ in called(said, ask)} & {"set_effect", "flash_light", "set_preset_mode"}


def test_a_mode_that_this_home_calls_a_scene_so_is_the_scene(ask: Ask, home: HomeView) -> None:
    scene = Device("scene.night", "Night Mode", "scene", attributes={"sets": {}})
    view = replace(home, devices=(*home.devices, scene))
    assert called("turn on night mode", ask, view) == [("activate_scene", {})]


def test_of_several_lights_those_that_list_effects_are_meant(ask: Ask, home: HomeView) -> None:
    found = ask("start a disco effect")
    reached = [d.id for i in found.intents for d in select(i.selector, home)]
    assert reached == ["light.tv_strip"]


@pytest.mark.parametrize(
    "said", ["set the temperature of the bedroom ac to 18", "set the temperature on the living room ac to 18"]
)
def test_a_sensor_called_like_the_value_does_not_hide_the_device(said: str, ask: Ask) -> None:
    assert called(said, ask) == [("set_temperature", {"temperature": 18})]


@pytest.mark.parametrize(
    ("said", "tool", "value"),
    [
        ("set the wall panels to sunset savanna", "set_effect", "Sunset Savanna"),
        ("turn on northern lights on the wall panels", "set_effect", "Northern Lights"),
        ("墙灯开极光效果", "set_effect", "极光"),
        ("set the kitchen heater to frost guard", "set_preset_mode", "Frost Guard"),
    ],
)
def test_what_only_a_device_lists_is_known_by_that(said: str, tool: str, value: str, ask: Ask, home: HomeView) -> None:
    effects = {"effect_list": ["Sunset Savanna", "Northern Lights", "Relax", "极光"]}
    panels = Device("light.panels", "Wall Panels", "light", "living_room", ("墙灯",), "on", effects)
    heater = Device("climate.k", "Kitchen Heater", "climate", "kitchen", attributes={"preset_modes": ["Frost Guard"]})
    view = replace(home, devices=(*home.devices, panels, heater))
    assert [(t, *a.values()) for t, a in called(said, ask, view)] == [(tool, value)]
    assert called("relax", ask, view) == called("i want to relax", ask, view) == []


@pytest.mark.parametrize(
    ("said", "attribute"),
    [
        ("what effects does the light strip have", "effect_list"),
        ("what effect is the light strip running", "effect"),
        ("灯带有哪些特效", "effect_list"),
    ],
)
def test_effects_are_asked_about(said: str, attribute: str, ask: Ask) -> None:
    assert [(t, a["attribute"]) for t, a in called(said, ask)] == [("get_state", attribute)]


@pytest.mark.parametrize(
    "said", ["keep the living room thermostat between 7 and 9", "set the bedroom ac between 5 and 8"]
)
def test_ends_that_may_be_hours_are_asked_about(said: str, ask: Ask) -> None:
    assert ask(said).needs_confirmation
