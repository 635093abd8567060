"""Locks."""

from __future__ import annotations

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import Decision, tool

from .common import refuse, to


@tool(types=("lock",), undone_by="unlock", is_ending=True)
def lock(device: Device) -> Decision:
    """Lock a door."""
    if device.state == "jammed":
        return refuse("jammed", device)
    return to(device, "locked")


@tool(types=("lock",), undone_by="lock")
def unlock(device: Device) -> Decision:
    """Unlock a door."""
    if device.state == "jammed":
        return refuse("jammed", device)
    return to(device, "unlocked")
