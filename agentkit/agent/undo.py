"""Put back what a turn changed, as ordinary intents: they are resolved, judged, run and verified like any other.

A tool of the app is preferred ("turn off" for a lamp that was off), because devices know it and the policy too. Where
none fits, the tool `restore` writes the old state and values; the policy judges it by what it amounts to and as the
tool that is taken back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentkit.agent.execute import Moved
from agentkit.agent.verify import same
from agentkit.devices.adapter import Change, Device
from agentkit.types import Intent, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Decision, Param, Tool

Decide = Callable[[Tool, Device], object]
"""Runs a tool's function on a device, under a time limit. None if it fails."""
RESTORE = "restore"
MAX_CHARS = 480
"""Longest attributes that can be put back, as text: what an argument may hold."""


@dataclass(frozen=True)
class Undo:
    """How a turn is put back."""

    intents: tuple[Intent, ...]
    stuck_ids: tuple[str, ...] = ()
    """Devices whose change cannot be put back, such as a song that was skipped."""


def restore(device: Device, state: str | None = None, attributes: str = "{}", undone: str = "") -> Decision:
    """Put a device back into an earlier state."""
    return Decision({device.id: Change(state, json.loads(attributes))})


RESTORE_TOOL = Tool(
    RESTORE,
    "Put a device back into an earlier state.",
    (),
    tuple(Param(name, str, is_required=False) for name in ("state", "attributes", "undone")),
    "device",
    False,
    restore,
)


def plan_undo(moved: Sequence[Moved], view: HomeView, tools: Mapping[str, Tool], decide: Decide) -> Undo:
    """Find the intents that put back a turn's changes, the last first; per device what it was at first counts."""
    first, changed = _at_first(moved)
    intents: list[Intent] = []
    stuck: list[str] = []
    for device_id in reversed(first):
        before, keys = first[device_id].before, changed[device_id]
        wanted = Change(before.state if "" in keys else None, {k: before.attributes.get(k) for k in keys if k})
        device = view.device(device_id)
        if device is not None and is_so(device, wanted):
            continue
        intent = None if device is None else _intent(wanted, device, first[device_id].tool, tools, decide)
        if intent is None:
            stuck.append(device_id)
        else:
            intents.append(intent)
    return Undo(tuple(intents), tuple(stuck))


def plan_back(moved: Sequence[Moved], tools: Mapping[str, Tool], decide: Decide) -> Undo:
    """Find the intents that bring back, some time after a turn, what its changes replace.

    What was so before needs none; a value that nobody could read before is stuck.
    """
    first, changed = _at_first(moved)
    intents: list[Intent] = []
    stuck: list[str] = []
    for device_id, one in first.items():
        before, keys = one.before, changed[device_id]
        changes = [m.change for m in moved if m.before.id == device_id]
        state = next((c.state for c in reversed(changes) if c.state is not None), None)
        becomes = Change(state, {k: v for c in changes for k, v in c.attributes.items()})
        wanted = Change(before.state if "" in keys else None, {k: before.attributes.get(k) for k in keys if k})
        if is_so(before, becomes):
            continue
        is_told = state is not None and before.state is not None and not same(before.state, state)
        is_told = is_told or any(v is not None for v in wanted.attributes.values())
        after = replace(before, state=state or before.state, attributes={**before.attributes, **becomes.attributes})
        intent = _intent(wanted, after, one.tool, tools, decide) if is_told else None
        if intent is None:
            stuck.append(device_id)
        else:
            intents.append(intent)
    return Undo(tuple(intents), tuple(stuck))


def _at_first(moved: Sequence[Moved]) -> tuple[dict[str, Moved], dict[str, dict[str, None]]]:
    """Per device its first change and the names of all that was changed ("" for the state)."""
    first: dict[str, Moved] = {}
    changed: dict[str, dict[str, None]] = {}
    for one in moved:
        first.setdefault(one.before.id, one)
        keys = changed.setdefault(one.before.id, {})
        keys.update(dict.fromkeys(one.change.attributes))
        keys.update({"": None} if one.change.state is not None else {})
    return first, changed


def _alike(change: Change, device: Device, tools: Mapping[str, Tool], decide: Decide) -> tuple[Tool, ...]:
    """Tools without arguments that would bring the same state on a device."""

    def is_alike(tool: Tool) -> bool:
        if tool.is_query or tool.scope != "device" or device.type not in tool.types:
            return False
        if any(p.is_required for p in tool.params):
            return False
        decision = decide(tool, device)
        decided = decision.changes.get(device.id) if isinstance(decision, Decision) else None
        return isinstance(decided, Change) and change.state is not None and decided.state == change.state

    return tuple(tool for tool in tools.values() if is_alike(tool))


def _intent(wanted: Change, device: Device, undone: str, tools: Mapping[str, Tool], decide: Decide) -> Intent | None:
    """One intent for a device, or None if there is nothing that could be put back."""
    if wanted.state is None and not wanted.attributes:
        return None
    selector = Selector(device_ids=(device.id,), types=(device.type,))
    for tool in _alike(wanted, device, tools, decide):
        if _brings(tool, wanted, device, decide):
            return Intent(tool.name, {}, selector)
    attributes = _json(wanted.attributes)
    if attributes is None:
        return None
    return Intent(RESTORE, {"state": wanted.state, "attributes": attributes, "undone": undone}, selector)


def is_so(device: Device, wanted: Change) -> bool:
    """Whether a device is as wanted already; a change that names nothing tells nothing."""
    is_same = wanted.state is None or same(device.state, wanted.state)
    has_content = wanted.state is not None or bool(wanted.attributes)
    return has_content and is_same and all(same(device.attributes.get(k), v) for k, v in wanted.attributes.items())


def _brings(tool: Tool, wanted: Change, device: Device, decide: Decide) -> bool:
    """Whether a tool makes a device all that is wanted, however it is now; a toggle does not."""
    old = Device(device.id, device.name, device.type, device.area, state=wanted.state, attributes=device.attributes)
    decision = decide(tool, old)
    if not isinstance(decision, Decision) or decision.changes.keys() != {device.id}:
        return False
    change = decision.changes[device.id]
    after = {**device.attributes, **change.attributes}
    is_changing = not same(device.state, wanted.state)
    return same(change.state, wanted.state) and all(
        same(after.get(k), v) or (v is None and is_changing) for k, v in wanted.attributes.items()
    )


def _json(attributes: Mapping[str, Any]) -> str | None:
    try:
        text = json.dumps(dict(attributes), ensure_ascii=False)
    except (TypeError, ValueError):
        return None
    return text if len(text) <= MAX_CHARS else None
