"""Curtains, blinds, garage doors, gates and valves: everything that opens and closes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import BEFORE, Decision, Range, tool

from .common import can, clamp, is_simulated, number, refuse, to

POSITION = Range(0, 100, "%")
POSITION_ATTRIBUTES = ("current_position", "current_valve_position", "position")


@tool(types=("cover",), undone_by="close_cover")
def open_cover(device: Device) -> Decision:
    """Open curtains, blinds, a garage door, a gate or a window."""
    return _move(device, 100)


@tool(types=("cover",), undone_by="open_cover", is_ending=True)
def close_cover(device: Device) -> Decision:
    """Close curtains, blinds, a garage door, a gate or a window."""
    return _move(device, 0)


@tool(types=("cover",))
def stop_cover(device: Device) -> Decision:
    """Stop a cover that is moving."""
    if not can(device, "stop"):
        return refuse("unsupported", device, what="stop")
    return to(device, "open" if device.state in ("opening", "closing") else device.state)


@tool(types=("cover",), undone_by=BEFORE)
def set_cover_position(
    device: Device, position: Annotated[int, POSITION], toward: Literal["open", "closed"] | None = None
) -> Decision:
    """Open a cover partly: 100 is open.

    toward: not to this position, but by so many percent from where it is.
    """
    if toward is not None:
        known = number(device, *POSITION_ATTRIBUTES)
        now = known if known is not None else 0.0 if device.state == "closed" else 100.0
        position = round(clamp(now + (position if toward == "open" else -position), 0, 100))
    return _move_to(device, position)


@tool(types=("valve",), undone_by="close_valve")
def open_valve(device: Device) -> Decision:
    """Open a water or gas valve."""
    return _move(device, 100)


@tool(types=("valve",), undone_by="open_valve", is_ending=True)
def close_valve(device: Device) -> Decision:
    """Close a water or gas valve."""
    return _move(device, 0)


@tool(types=("valve",), undone_by=BEFORE)
def set_valve_position(device: Device, position: Annotated[int, POSITION]) -> Decision:
    """Open a valve part of the way: 0 is closed, 100 is open."""
    return _move_to(device, position)


def _move_to(device: Device, position: int) -> Decision:
    if not 0 <= position <= 100:
        return refuse("out_of_range", device, value=position, low=0, high=100, unit="%")
    if 0 < position < 100 and not can(device, "set_position"):
        return refuse("unsupported", device, what="position")
    return _move(device, position)


def _move(device: Device, position: int) -> Decision:
    return to(device, "open" if position else "closed", _position(device, position), position=position)


def _position(device: Device, position: int) -> dict[str, Any]:
    """Name the position attribute that can be read back; a door with two end switches has none."""
    key = next((k for k in POSITION_ATTRIBUTES if k in device.attributes), None)
    if key is None and 0 < position < 100:
        key = "current_position"
    if key is None and is_simulated(device) and can(device, "set_position"):
        key = "current_position"
    return {key: position} if key is not None else {}
