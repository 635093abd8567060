from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from agentkit.agent.policy import Ruling, evaluate
from agentkit.agent.resolve import Step
from agentkit.config import App, Verdict
from agentkit.devices.adapter import Command, Device
from agentkit.devices.memory import MemoryAdapter
from agentkit.devices.registry import Registry
from agentkit.devices.view import View
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Answer, Decision, Param, Tool

ARGS: dict[str, Any] = {"color": "red", "query": "some jazz", "item": "eggs", "area": "kitchen", "mode": "auto"}


def argument(param: Param) -> Any:
    if param.choices:
        return param.choices[0]
    if param.range is not None:
        return param.type((param.range.low + param.range.high) / 2)
    return ARGS.get(param.name, "x")


def call(tool: Tool, devices: tuple[Device, ...]) -> Decision | Answer:
    args = {p.name: argument(p) for p in tool.params if p.is_required}
    if tool.scope == "home":
        return tool.function(View(datetime(2025, 1, 31, 7, 5)), **args)
    return tool.function(devices if tool.scope == "devices" else devices[0], **args)


def targets(app: App, tool: Tool) -> list[Device]:
    return [d for d in app.home.devices if d.type in tool.types]


def documented(app: App) -> set[str]:
    """All words in the table of reply keys at the top of handlers.py."""
    module = inspect.getmodule(app.tools["lock"].function)
    assert module is not None
    package = module.__name__.partition(".")[0]
    return set(re.findall(r"[\w.]+", sys.modules[f"{package}.handlers"].__doc__ or ""))


def test_the_home_has_everything_a_demonstration_needs(app: App) -> None:
    types = Counter(d.type for d in app.home.devices)
    assert len(app.home.devices) >= 30
    assert len(app.home.areas) >= 8
    assert len(app.home.floors) == 2
    assert types["light"] >= 10
    assert {"switch", "climate", "fan", "cover", "lock", "media_player", "vacuum", "valve"} <= set(types)
    assert {"sensor", "binary_sensor", "scene", "todo", "weather"} <= set(types)


def test_everything_has_a_name_in_both_languages(app: App) -> None:
    for thing in (*app.home.devices, *app.home.areas, *app.home.floors):
        assert any(re.search(r"[\u4e00-\u9fff]", name) for name in thing.names), thing.id
        assert any(re.search(r"[a-z]", name.lower()) for name in thing.names), thing.id


def test_no_name_of_the_home_means_two_devices(app: App) -> None:
    names = Counter(name.casefold() for d in app.home.devices for name in set(d.names))
    assert [name for name, n in names.items() if n > 1] == []


def test_scenes_set_only_devices_that_exist(app: App) -> None:
    known = {d.id for d in app.home.devices}
    for device in app.home.devices:
        assert set(device.attributes.get("sets", {})) <= known, device.id


def test_every_device_is_moved_or_read_by_some_tool(app: App) -> None:
    handled = {t for tool in app.tools.values() for t in tool.types}
    assert {d.type for d in app.home.devices} <= handled


def test_locks_covers_and_valves_are_never_switched_on_or_off(app: App) -> None:
    for name in ("turn_on", "turn_off"):
        assert not {"lock", "cover", "valve", "scene", "vacuum"} & set(app.tools[name].types)
    assert not {"lock", "valve", "scene", "vacuum"} & set(app.tools["toggle"].types)


def test_every_tool_gives_a_documented_result_on_every_device_it_is_for(app: App) -> None:
    words = documented(app)
    for tool in app.tools.values():
        found = targets(app, tool)
        assert found or tool.scope == "home", f"{tool.name}: the home has no {tool.types} to try it on"
        for devices in [(d,) for d in found] or [()]:
            result = call(tool, devices)
            if isinstance(result, Answer):
                assert tool.is_query
                assert result.reply_key in words
            else:
                assert not tool.is_query
                assert bool(result.changes or result.entries) != bool(result.reason), (tool.name, devices)
                assert result.reason is None or result.reason in words


def test_every_decision_can_be_applied_and_read_back(app: App) -> None:
    for tool in app.tools.values():
        for device in targets(app, tool) if not tool.is_query else []:
            registry = Registry(app.home)
            adapter = MemoryAdapter(registry)
            decision = call(tool, (device,))
            assert isinstance(decision, Decision)
            for device_id, change in decision.changes.items():
                adapter.apply(Command(device_id, tool.name, {}, change))
                now = adapter.read(device_id)
                assert change.state in (None, now.state)
                for key, value in change.attributes.items():
                    assert now.attributes.get(key) == value, (tool.name, device_id)


def test_tools_do_not_change_the_devices_they_look_at(app: App) -> None:
    before = [(d.id, d.state, repr(d.attributes)) for d in app.home.devices]
    for tool in app.tools.values():
        for device in targets(app, tool):
            call(tool, (device,))
    assert [(d.id, d.state, repr(d.attributes)) for d in app.home.devices] == before


def test_every_tool_says_in_one_sentence_what_it_does(app: App) -> None:
    for tool in app.tools.values():
        assert tool.summary.endswith("."), tool.name
        assert len(tool.summary) < 120, tool.name


def ruling(app: App, tool: str, *devices: Device) -> Ruling:
    """What the app's policy says of one tool on some devices."""
    return evaluate(app.policy, [Step(app.tools[tool], {}, (d.id,)) for d in devices], HomeView(devices))


@pytest.mark.parametrize(
    ("tool", "device_id"),
    [
        ("unlock", "lock.front_door"),
        ("unlock", "lock.back_door"),
        ("open_cover", "cover.garage_door"),
        ("set_cover_position", "cover.garage_door"),
        ("open_valve", "valve.main_water"),
        ("close_valve", "valve.main_water"),
        ("turn_off", "switch.alarm"),
        ("toggle", "switch.alarm"),
        ("turn_on", "switch.oven"),
    ],
)
def test_what_a_shout_through_the_window_must_not_do_is_asked_about(app: App, tool: str, device_id: str) -> None:
    device = next(d for d in app.home.devices if d.id == device_id)
    found = ruling(app, tool, device)
    assert found.verdict is Verdict.CONFIRM
    assert found.reason


@pytest.mark.parametrize(
    ("tool", "device_id"),
    [
        ("lock", "lock.front_door"),
        ("close_cover", "cover.garage_door"),
        ("open_cover", "cover.bedroom_curtain"),
        ("open_valve", "valve.sprinkler"),
        ("turn_off", "switch.oven"),
        ("turn_on", "light.kitchen"),
        ("turn_on", "switch.coffee_machine"),
    ],
)
def test_what_is_harmless_is_done_at_once(app: App, tool: str, device_id: str) -> None:
    device = next(d for d in app.home.devices if d.id == device_id)
    assert ruling(app, tool, device).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("tool", "kind", "name"),
    [
        ("turn_off", "switch", "Cellar Smoke Detector"),
        ("turn_off", "switch", "地下室燃气报警器"),
        ("toggle", "switch", "Mains Breaker"),
        ("turn_off", "switch", "配电箱总闸"),
        ("open_valve", "valve", "Gas Tap"),
        ("open_valve", "valve", "厨房天然气阀"),
        ("close_valve", "valve", "Main Stopcock"),
        ("set_temperature", "climate", "烤箱"),
        ("turn_on", "switch", "Pizza Oven"),
        ("open_cover", "cover", "Back Gate"),
        ("mute", "media_player", "Fire Alarm"),
    ],
)
def test_a_device_without_a_class_is_judged_by_its_name(app: App, tool: str, kind: str, name: str) -> None:
    assert ruling(app, tool, Device("x", name, kind)).verdict is Verdict.CONFIRM


@pytest.mark.parametrize(
    ("tool", "kind", "name"),
    [
        ("turn_on", "switch", "Smoke Alarm"),
        ("turn_off", "switch", "Pizza Oven"),
        ("turn_off", "switch", "Main Bedroom Lamp"),
        ("turn_off", "light", "Main Light"),
        ("open_valve", "valve", "Lawn Sprinkler"),
        ("close_valve", "valve", "花园水阀"),
        ("set_temperature", "climate", "Living Room Heating"),
        ("open_cover", "cover", "Window Curtain"),
        ("open_cover", "cover", "窗户遮阳帘"),
        ("turn_on", "switch", "Oven Lamp"),
        ("turn_on", "climate", "Hall Radiator"),
        ("set_volume", "media_player", "Kitchen Radio"),
    ],
)
def test_a_harmless_name_asks_nothing(app: App, tool: str, kind: str, name: str) -> None:
    assert ruling(app, tool, Device("x", name, kind)).verdict is Verdict.ALLOW


def test_moving_much_of_the_home_at_once_is_asked_about(app: App) -> None:
    lamps = [Device(f"light.{n}", f"Lamp {n}", "light") for n in range(16)]
    assert ruling(app, "turn_off", *lamps[:15]).verdict is Verdict.ALLOW
    assert ruling(app, "turn_off", *lamps).verdict is Verdict.CONFIRM
