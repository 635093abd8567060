"""Keep a scene from being a way around the policy: what it does to other devices is judged as if it were asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentkit.agent.execute import Guard
from agentkit.agent.policy import Ruling
from agentkit.agent.resolve import Step
from agentkit.devices.adapter import Change, Device
from agentkit.policy_rules import Verdict
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Decision, Tool

Judge = Callable[[Sequence[Step], HomeView], Ruling]
Decide = Callable[[Tool, Device], object]
"""Runs a tool's function on a device, under a time limit."""


def scene_guard(
    judge: Judge, decide: Decide, tools: Mapping[str, Tool], view: HomeView, *, is_confirmed: bool
) -> Guard:
    """Make the guard of one turn. A change counts as every tool that would bring the same state on that device."""

    def is_alike(tool: Tool, device: Device, change: Change) -> bool:
        if tool.scope != "device" or device.type not in tool.types or any(p.is_required for p in tool.params):
            return False
        decision = decide(tool, device)
        decided = decision.changes.get(device.id) if isinstance(decision, Decision) else None
        return isinstance(decided, Change) and change.state is not None and decided.state == change.state

    def guard(step: Step, device: Device, change: Change) -> str | None:
        alike = [t for t in tools.values() if not t.is_query and is_alike(t, device, change)] or [step.tool]
        verdict = judge([Step(tool, {}, (device.id,)) for tool in alike], view).verdict
        is_stopped = verdict is Verdict.DENY or (verdict is Verdict.CONFIRM and not is_confirmed)
        return "denied" if is_stopped else None

    return guard
