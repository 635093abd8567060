"""Vacuum cleaners and lawn mowers."""

from __future__ import annotations

from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import Decision, tool

from .common import to

VACUUM = ("vacuum",)
MOWER = ("lawn_mower",)


@tool(types=VACUUM, undone_by="vacuum_return")
def vacuum_start(device: Device) -> Decision:
    """Let the vacuum cleaner clean."""
    return to(device, "cleaning")


@tool(types=VACUUM)
def vacuum_return(device: Device) -> Decision:
    """Send the vacuum cleaner back to its base."""
    return to(device, "docked" if device.state == "docked" else "returning")


@tool(types=VACUUM)
def vacuum_pause(device: Device) -> Decision:
    """Pause the vacuum cleaner where it is."""
    return _at_rest(device) or to(device, "paused")


@tool(types=VACUUM)
def vacuum_stop(device: Device) -> Decision:
    """Stop the vacuum cleaner where it is."""
    return _at_rest(device) or to(device, "idle")


def _at_rest(device: Device) -> Decision | None:
    """The decision to leave a cleaner where it stands, if it does not clean."""
    if device.state not in ("docked", "idle", "charging"):
        return None
    return replace(to(device, device.state), reply_key="already.vacuum_stop")


@tool(types=VACUUM, undone_by="vacuum_return")
def vacuum_clean_area(device: Device, area: str) -> Decision:
    """Let the vacuum cleaner clean one room."""
    return to(device, "cleaning", area=area)


@tool(types=MOWER, undone_by="mower_dock")
def mower_start(device: Device) -> Decision:
    """Let the lawn mower mow."""
    return to(device, "mowing")


@tool(types=MOWER)
def mower_dock(device: Device) -> Decision:
    """Send the lawn mower back to its base."""
    return to(device, "docked" if device.state == "docked" else "returning")
