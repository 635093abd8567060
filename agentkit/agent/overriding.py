"""Which ends that are planned a later command takes the place of: nothing comes back that somebody set anew."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentkit.agent.moving import Moved
from agentkit.agent.undo import RESTORE
from agentkit.agent.verify import same
from agentkit.devices.adapter import Change
from agentkit.types import ActionResult, Intent, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Tool

What = tuple[str, Any, str | None]
"""Tool, the tool that it puts back, and device."""


def what_of(intent: Intent, device_id: str) -> What:
    """What an end does with a device; putting back is the same if the same tool is taken back."""
    return intent.tool, intent.args.get("undone"), device_id


def whats_of(intents: Iterable[Intent]) -> set[What]:
    """The same for all devices of some intents."""
    return {what_of(i, d) for i in intents for d in i.selector.device_ids}


def brought_about(results: Sequence[ActionResult]) -> set[What]:
    """What is done, so that no end need do it again."""
    done = (r.action for r in results if r.status is Status.DONE)
    return {(a.tool, a.args.get("undone"), a.device_id) for a in done}


def overridden(
    ends: Iterable[Intent],
    results: Sequence[ActionResult],
    moved: Sequence[Moved],
    view: HomeView,
    tools: Mapping[str, Tool],
) -> set[What]:
    """What ends would do against a command without an end of its own that was carried out, also where it was so.

    An end that only ends something stays: a valve that is opened once more still closes.
    """
    failed = {r.action.device_id for r in results if r.status is not Status.DONE}
    found: set[What] = set()
    for intent in ends:
        for device_id in set(intent.selector.device_ids) - failed:
            names = {r.action.tool for r in results if r.action.device_id == device_id}
            names |= {m.tool for m in moved if m.before.id == device_id}
            used = [tool for name in names if (tool := tools.get(name)) is not None]
            changes = [m.change for m in moved if m.before.id == device_id]
            device = view.device(device_id)
            if _is_against(intent, used, changes, "" if device is None else device.type, tools):
                found.add(what_of(intent, device_id))
    return found


def _is_against(
    intent: Intent, used: Sequence[Tool], changes: Sequence[Change], device_type: str, tools: Mapping[str, Tool]
) -> bool:
    end = tools.get(intent.tool)
    if end is None or end.is_ending:
        return False
    if any(t.is_ending for t in used) and any(c.state is not None for c in changes):
        return True  # what was switched off does not come on by itself
    if intent.tool != RESTORE:
        return any(t.undone_by.get(device_type) == intent.tool for t in used)
    state, attributes = intent.args.get("state"), json.loads(str(intent.args.get("attributes") or "{}"))
    return any(_has_state_against(c, state) or set(c.attributes) & set(attributes) for c in changes)


def _has_state_against(change: Change, state: object) -> bool:
    return change.state is not None and state is not None and not same(change.state, state)
