"""A small house with everything that is hard to resolve, its tools, and devices that misbehave."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal

from agentkit.devices.adapter import Area, Command, Device, Floor, Home
from agentkit.devices.memory import MemoryAdapter
from agentkit.devices.registry import Registry
from agentkit.devices.view import View
from agentkit.errors import DeviceError, DeviceFaulty, DeviceSilent
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Answer, Decision, Range, Tool, becomes, read_tool, tool

HOUSE = Home(
    "house",
    floors=(Floor("ground", "Ground floor"), Floor("upper", "Upper floor", ("upstairs",))),
    areas=(
        Area("kitchen", "Kitchen", ("厨房",), "ground"),
        Area("bedroom", "Bedroom", ("卧室",), "upper"),
        Area("master", "Master Bedroom", ("主卧",), "upper"),
        Area("office", "Office", ("书房",), "upper"),
        Area("garage", "Garage", ("车库",)),
    ),
    devices=(
        Device("light.kitchen_ceiling", "Ceiling", "light", "kitchen", ("吸顶灯",), "off", {"brightness": 100}),
        Device("light.bedroom_ceiling", "Ceiling", "light", "bedroom", ("吸顶灯",), "off"),
        Device("light.bedroom_reading", "Reading Lamp", "light", "bedroom", (), "off"),
        Device("light.lamp_1", "Lamp 1", "light", "office", ("灯1",), "off"),
        Device("light.lamp_11", "Lamp 11", "light", "office", ("灯11",), "off"),
        Device("light.floating", "Lantern", "light", None, ("灯笼",), "off"),
        Device("light.window", "Window", "light", "kitchen", (), "off"),
        Device("cover.window", "Window", "cover", "kitchen", (), "closed", {"device_class": "window"}),
        Device("cover.garage", "Garage Door", "cover", "garage", ("车库门",), "closed", {"device_class": "garage"}),
        Device("lock.front", "Front Door", "lock", None, ("前门",), "locked"),
        Device("climate.home", "Thermostat", "climate", "bedroom", (), "heat", {"temperature": 20.0}),
        Device("vacuum.robo", "Robo", "vacuum", "kitchen", (), "docked"),
        Device("switch.plug", "Plug", "switch", "garage", (), "off", is_available=False),
        Device("scene.night", "Night", "scene", None, (), None),
    ),
)


@tool(types=("light", "switch"))
def turn_on(device: Device) -> Decision:
    """Turn a device on."""
    return becomes(device, "on")


@tool(types=("light", "switch"))
def turn_off(device: Device) -> Decision:
    """Turn a device off."""
    return becomes(device, "off")


@tool(types=("light",))
def set_brightness(device: Device, brightness: Annotated[int, Range(0, 100, "%")]) -> Decision:
    """Set how bright a light is."""
    return becomes(device, "on", brightness=round(brightness * 2.55))


@tool(types=("cover",))
def open_cover(device: Device) -> Decision:
    """Open a cover."""
    return becomes(device, "open")


@tool(types=("lock",))
def lock(device: Device) -> Decision:
    """Lock a door."""
    return becomes(device, "locked")


@tool(types=("lock",))
def unlock(device: Device) -> Decision:
    """Unlock a door."""
    return becomes(device, "unlocked")


@tool(types=("climate",))
def set_temperature(device: Device, temperature: Annotated[float, Range(5, 30, "°C")]) -> Decision:
    """Set the temperature."""
    return becomes(device, None, temperature=temperature)


@tool(types=("climate",))
def set_mode(device: Device, mode: Literal["heat", "cool"]) -> Decision:
    """Set the mode."""
    return becomes(device, mode)


@tool(types=("vacuum",))
def vacuum_start(device: Device) -> Decision:
    """Start cleaning."""
    return becomes(device, "cleaning")


@tool(types=("scene",))
def activate_scene(device: Device) -> Decision:
    """Activate a scene that moves the garage door as well."""
    return Decision({"light.kitchen_ceiling": becomes(device, "off").changes[device.id], "cover.garage": OPEN})


@tool(types=("light", "cover", "lock", "climate"), is_query=True)
def get_state(devices: tuple[Device, ...]) -> Answer:
    """Read states."""
    return Answer("state.many", {"items": [{"devices": (d.id,), "state": d.state} for d in devices]})


@tool(is_query=True)
def get_time(home: View, zone: str = "") -> Answer:
    """Tell the time."""
    return Answer("time.now", {"time": home.now.isoformat()})


OPEN = next(iter(open_cover(HOUSE.devices[8]).changes.values()))
FUNCTIONS = (
    turn_on,
    turn_off,
    set_brightness,
    open_cover,
    lock,
    unlock,
    set_temperature,
    set_mode,
    vacuum_start,
    activate_scene,
    get_state,
    get_time,
)
TOOLS: dict[str, Tool] = {f.__name__: read_tool(f) for f in FUNCTIONS}


def house_view(*extra: Device, speaker_area: str | None = None) -> HomeView:
    """Snapshot of the house with more devices."""
    return HomeView.of(replace(HOUSE, devices=(*HOUSE.devices, *extra)), speaker_area=speaker_area)


def with_function(name: str, function: Callable[..., object]) -> Tool:
    """A tool of the house whose function is another one."""
    return replace(TOOLS[name], function=function)  # type: ignore[arg-type]


class OddAdapter:
    """The real adapter with devices that ignore, refuse or never answer what is sent to them."""

    def __init__(self, registry: Registry, **faults: str):
        self._registry, self._inner = registry, MemoryAdapter(registry)
        self.faults = {key.replace("__", "."): fault for key, fault in faults.items()}
        self.released = threading.Event()
        self.reached = threading.Event()
        """Set when a device that waits was sent something."""
        self.sent: list[Command] = []

    @property
    def sent_to(self) -> list[str]:
        """Ids of the devices that commands were sent to."""
        return [command.device_id for command in self.sent]

    def apply(self, command: Command) -> None:
        self.sent.append(command)
        fault = self.faults.get(command.device_id)
        if fault == "ignores":
            return
        if fault == "refuses":
            raise DeviceError("device answered 500: out of paper")
        if fault == "is_faulty":
            raise DeviceFaulty("it answered 500; it may have carried out the command")
        if fault == "crashes":
            raise KeyError("driver bug")
        if fault == "hangs":
            self.released.wait(20)
            return
        if fault == "waits":
            self.reached.set()
            assert self.released.wait(20)
        if fault != "stays_silent":
            self._inner.apply(command)
        if fault in ("stays_silent", "acts_silently"):
            raise DeviceSilent("no answer; it may have carried out the command")
        if fault == "answers_late":
            self.released.wait(20)

    def read(self, device_id: str) -> Device:
        fault = self.faults.get(device_id)
        if fault == "unreadable" and self.sent:
            raise DeviceError("no answer to a read")
        device = self._inner.read(device_id)
        if fault == "moves_slowly" and self.sent:
            return replace(device, state="opening")
        return device
