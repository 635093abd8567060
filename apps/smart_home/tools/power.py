"""Switching on and off."""

from __future__ import annotations

from typing import Any

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import BEFORE, Decision, tool

from .common import can, is_on, is_simulated, number, to
from .covers import close_cover, open_cover
from .media import plays

SWITCHABLE = (
    "light",
    "switch",
    "fan",
    "climate",
    "media_player",
    "humidifier",
    "water_heater",
    "input_boolean",
)
"""Locks, covers and valves are not here on purpose: on and off are no words for a door."""

UNDONE_BY = dict.fromkeys(SWITCHABLE, "turn_on") | dict.fromkeys(("climate", "media_player", "water_heater"), BEFORE)
"""What undoes switching off; those that are on in more than one way come back as they were."""


@tool(types=SWITCHABLE, undone_by="turn_off")
def turn_on(device: Device) -> Decision:
    """Switch something on."""
    if device.type == "climate":
        return to(device, device.state if is_on(device) else _climate_mode(device))
    if device.type in ("media_player", "water_heater"):
        return to(device, device.state if is_on(device) else "on")
    return to(device, "on", _on_attributes(device))


def sounds(device: Device) -> int:
    """Rank for "the music off": of players the one that plays; of all else none before another."""
    return plays(device) if device.type == "media_player" else 0


@tool(types=SWITCHABLE, prefers=sounds, undone_by=UNDONE_BY, is_ending=True)
def turn_off(device: Device) -> Decision:
    """Switch something off."""
    return to(device, "off", {"percentage": 0} if _shows_speed(device) else {})


@tool(types=(*SWITCHABLE, "cover"), undone_by=BEFORE)
def toggle(device: Device) -> Decision:
    """Switch something on if it is off, and off if it is on; open or close a cover."""
    if device.type == "cover":
        return open_cover(device) if device.state in ("closed", "closing") else close_cover(device)
    return turn_off(device) if is_on(device) else turn_on(device)


def _on_attributes(device: Device) -> dict[str, Any]:
    """A lamp left at 0 or a fan left at speed 0 would be on without any effect."""
    if device.type == "light" and number(device, "brightness") == 0:
        return {"brightness": 255}
    if _shows_speed(device) and not number(device, "percentage"):
        return {"percentage": 100}
    return {}


def _shows_speed(device: Device) -> bool:
    """True if the fan's speed can be read back."""
    if device.type != "fan":
        return False
    return "percentage" in device.attributes or (is_simulated(device) and can(device, "set_speed"))


def _climate_mode(device: Device) -> str:
    """Choose the mode in which a climate device comes on."""
    modes = [str(m) for m in device.attributes.get("hvac_modes") or [] if str(m) != "off"]
    for both_ways in ("auto", "heat_cool"):
        if both_ways in modes or not modes:
            return both_ways
    target, current = number(device, "temperature", "target_temperature"), number(device, "current_temperature")
    if target is not None and current is not None:
        wanted = "heat" if current < target else "cool"
        if wanted in modes:
            return wanted
    return next((m for m in ("cool", "heat") if m in modes), modes[0])
