"""Answer "which one?" without asking where only one device of several would change: the one light that is on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentkit.agent.binding import Bound
from agentkit.agent.policy import Ruling
from agentkit.agent.question import Question
from agentkit.agent.resolve import Resolved, Step
from agentkit.agent.undo import is_so
from agentkit.devices.adapter import Change, Device
from agentkit.policy_rules import Verdict
from agentkit.types import Args, Intent
from agentkit.understanding.groups import GUARDS
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Decision, Tool

DecideAll = Callable[[Sequence[tuple[Tool, Any, Args]]], Sequence[object]]
Judged = Callable[[Sequence[Step], HomeView], Ruling]


def settled(bound: Bound, view: HomeView, tools: Mapping[str, Tool], decide: DecideAll, judged: Judged) -> Bound:
    """What was bound, with a device for every mere kind of which all others are already as they should be.

    What guards the home, and what the policy would not let run, is asked about all the same.
    """
    pairs = zip(bound.intents, bound.found, strict=True)
    found = tuple(f if isinstance(f, Resolved) else _one(i, f, view, tools, decide, judged) or f for i, f in pairs)
    return replace(bound, found=found)


def _one(
    intent: Intent, found: object, view: HomeView, tools: Mapping[str, Tool], decide: DecideAll, judged: Judged
) -> Resolved | None:
    tool = tools.get(intent.tool)
    if not isinstance(found, Question) or found.reply_key != "ask.which" or "name" in found.values or tool is None:
        return None
    devices = [d for o in found.options for i in o.device_ids if (d := view.device(i)) is not None]
    types = {d.type for d in devices}
    if tool.is_query or tool.scope != "device" or len(types) != 1 or types & GUARDS:
        return None
    decisions = decide([(tool, d, intent.args) for d in devices])
    left = [d for d, decision in zip(devices, decisions, strict=True) if not _is_done(d, decision)]
    if len(left) != 1:
        return None
    step = Step(tool, intent.args, (left[0].id,))
    return Resolved((step,)) if judged((step,), view).verdict is Verdict.ALLOW else None


def _is_done(device: Device, decision: object) -> bool:
    """Whether a device is already as a decision wants it; what refuses or cannot be told is not."""
    changes = decision.changes if isinstance(decision, Decision) else {}
    wanted = changes.get(device.id)
    return (
        device.is_available and changes.keys() == {device.id} and isinstance(wanted, Change) and is_so(device, wanted)
    )
