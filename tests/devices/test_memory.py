from __future__ import annotations

import pytest

from agentkit.devices.adapter import Change, Command
from agentkit.devices.memory import MemoryAdapter
from agentkit.devices.registry import Registry
from agentkit.errors import DeviceUnavailable, DeviceUnknown
from tests.devices.home import make_home


def test_a_command_changes_the_device_that_is_read_back() -> None:
    adapter = MemoryAdapter(Registry(make_home()))
    adapter.apply(Command("light.lamp", "set_brightness", {"brightness": 20}, Change("on", {"brightness": 51})))
    lamp = adapter.read("light.lamp")
    assert (lamp.state, lamp.attributes["brightness"]) == ("on", 51)


def test_a_device_that_is_offline_takes_no_command() -> None:
    registry = Registry(make_home())
    registry.report("light.lamp", is_available=False)
    with pytest.raises(DeviceUnavailable, match="unavailable"):
        MemoryAdapter(registry).apply(Command("light.lamp", "turn_on", {}, Change("on")))
    assert registry.get("light.lamp").state == "off"


def test_a_command_to_an_unknown_device_is_refused() -> None:
    with pytest.raises(DeviceUnknown):
        MemoryAdapter(Registry(make_home())).apply(Command("x", "turn_on", {}, Change("on")))
