"""Scenes and scripts: several devices at once, as the home file says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit.devices.adapter import Change, Device
from agentkit.understanding.tools import Decision, tool

from .common import is_simulated, refuse, to

_OTHERS = ("scene.", "script.")
"""How the ids of what sets devices itself begin: to call it on would move nothing."""


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
    if sets is None:
        return to(device, "on" if is_simulated(device) else None)
    changes = {str(k): _change(row) for k, row in sets.items()} if isinstance(sets, Mapping) else {}
    told = {k: change for k, change in changes.items() if change is not None}
    if not told or len(told) < len(changes):
        return refuse("bad_scene", device)
    if any(k.startswith(_OTHERS) for k in told):
        return refuse("nested_scene", device)
    return Decision(told, values={"n_devices": len(told)})


def _change(row: Any) -> Change | None:
    """What a row sets. None if that is nothing, or nothing that a device can become."""
    state, attributes = (row.get("state"), row.get("attributes") or {}) if isinstance(row, Mapping) else (row, {})
    is_plain = state is None or isinstance(state, str | int | float)
    if not is_plain or not isinstance(attributes, Mapping) or (state is None and not attributes):
        return None
    state = {True: "on", False: "off"}[state] if isinstance(state, bool) else state
    return Change(None if state is None else str(state), dict(attributes))
