"""Scenes and scripts: several devices at once, as the home file says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit.devices.adapter import Change, Device
from agentkit.understanding.tools import Decision, tool

from .common import is_simulated, to


@tool(types=("scene",))
def activate_scene(device: Device) -> Decision:
    """Put the home into a scene, for example movie night."""
    return _run(device)


@tool(types=("script",))
def run_script(device: Device) -> Decision:
    """Run a script of the home by its name."""
    return _run(device)


def _run(device: Device) -> Decision:
    sets = device.attributes.get("sets")
    if not isinstance(sets, Mapping) or not sets:
        return to(device, "on" if is_simulated(device) else None)
    changes = {str(key): _change(row) for key, row in sets.items()}
    return Decision(changes, values={"n_devices": len(changes)})


def _change(row: Any) -> Change:
    if not isinstance(row, Mapping):
        return Change(None if row is None else str(row))
    state = row.get("state")
    return Change(None if state is None else str(state), dict(row.get("attributes") or {}))
