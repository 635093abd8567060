"""Fans: speed and oscillation."""

from __future__ import annotations

from typing import Annotated, Literal

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import BEFORE, Decision, Range, tool

from .common import can, clamp, is_off, number, refuse, runs, to, unless_off

FAN_LEVELS = (
    "quiet",
    "silent",
    "lowest",
    "low",
    "medium low",
    "medium",
    "mid",
    "middle",
    "medium high",
    "high",
    "highest",
    "turbo",
)
"""Names of levels, from slow to fast."""


@tool(types=("fan",), undone_by=BEFORE)
def set_fan_speed(device: Device, percentage: Annotated[int, Range(0, 100, "%")]) -> Decision:
    """Set how fast a fan turns, in percent."""
    if not can(device, "set_speed"):
        return refuse("unsupported", device, what="speed")
    if not 0 <= percentage <= 100:
        return refuse("out_of_range", device, value=percentage, low=0, high=100, unit="%")
    return _spin(device, percentage)


@tool(types=("fan", "climate"), prefers=runs, undone_by=BEFORE)
def adjust_fan_speed(device: Device, step: Annotated[int, Range(-100, 100, "%")], of_present: bool = False) -> Decision:
    """Make a fan faster (step above 0) or slower (step below 0) by so many percent.

    of_present: percent of what it is now, not of full.
    """
    if device.type == "climate":
        return _next_level(device, 1 if step > 0 else -1)
    if not can(device, "set_speed"):
        return refuse("unsupported", device, what="speed")
    speed = number(device, "percentage")
    if is_off(device):
        return refuse("is_off", device) if step < 0 else _spin(device, round(clamp((speed or 0) + step, 0, 100)))
    slowest = number(device, "percentage_step") or 10
    current = 50.0 if speed is None else speed
    return _spin(device, round(clamp(current + (current * step / 100 if of_present else step), slowest, 100)))


@tool(types=("fan",), undone_by=BEFORE)
def set_fan_oscillation(device: Device, oscillation: Literal["on", "off"]) -> Decision:
    """Let a fan swing from side to side, or stop that."""
    if not can(device, "oscillate"):
        return refuse("unsupported", device, what="oscillation")
    decision = to(device, None, {"oscillating": oscillation == "on"}, oscillation=oscillation)
    return unless_off(device, decision, "done.kept_off")


def _next_level(device: Device, direction: int) -> Decision:
    """The named level above or below the one that a climate device blows at; auto has no place among them."""
    modes = {str(m).casefold(): str(m) for m in device.attributes.get("fan_modes") or []}
    levels = [m for m in FAN_LEVELS if m in modes]
    if not levels:
        return refuse("unsupported", device, what="fan_mode")
    now = str(device.attributes.get("fan_mode") or "").casefold()
    at = levels.index(now) if now in levels else (len(levels) - 1) // 2
    level = modes[levels[round(clamp(at + direction, 0, len(levels) - 1))]]
    return unless_off(device, to(device, None, {"fan_mode": level}, mode=level), "done.kept_off")


def _spin(device: Device, percentage: int) -> Decision:
    return to(device, "on" if percentage else "off", {"percentage": percentage}, percentage=percentage)
