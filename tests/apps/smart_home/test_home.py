from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from agentkit.config import App, PolicyRule, Verdict
from agentkit.devices.adapter import Command, Device
from agentkit.devices.memory import MemoryAdapter
from agentkit.devices.registry import Registry
from agentkit.devices.view import View
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
                assert bool(result.changes) != bool(result.reason), (tool.name, devices[0].id)
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


def first_rule(app: App, tool: str, device: Device, n_devices: int = 1) -> PolicyRule | None:
    for rule in app.policy:
        fits = (
            (not rule.tools or tool in rule.tools)
            and (not rule.types or device.type in rule.types)
            and (not rule.device_classes or device.device_class in rule.device_classes)
            and (rule.more_than is None or n_devices > rule.more_than)
        )
        if fits:
            return rule
    return None


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
    rule = first_rule(app, tool, device)
    assert rule is not None
    assert rule.verdict is Verdict.CONFIRM
    assert rule.reason


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
    assert first_rule(app, tool, device) is None


def test_moving_much_of_the_home_at_once_is_asked_about(app: App) -> None:
    lamp = next(d for d in app.home.devices if d.type == "light")
    assert first_rule(app, "turn_off", lamp, n_devices=3) is None
    rule = first_rule(app, "turn_off", lamp, n_devices=len(app.home.devices))
    assert rule is not None
    assert rule.verdict is Verdict.CONFIRM
