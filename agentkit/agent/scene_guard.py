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
    judge: Judge,
    decide: Decide,
    tools: Mapping[str, Tool],
    view: HomeView,
    *,
    is_confirmed: bool,
    has_pin: bool = False,
) -> Guard:
    """Make the guard of one turn. A change counts as every tool that would bring the same state on that device."""

    def guard(step: Step, device: Device, change: Change) -> str | None:
        found = alike(change, device, tools, decide) or (step.tool,)
        verdict = judge([Step(tool, {}, (device.id,)) for tool in found], view).verdict
        is_allowed = {Verdict.ALLOW: True, Verdict.CONFIRM: is_confirmed or has_pin, Verdict.PIN: has_pin}
        is_stopped = not is_allowed.get(verdict, False)
        return "denied" if is_stopped else None

    return guard


def alike(change: Change, device: Device, tools: Mapping[str, Tool], decide: Decide) -> tuple[Tool, ...]:
    """Tools that would bring the same state on a device: what the policy says of them holds for the change too."""

    def is_alike(tool: Tool) -> bool:
        if tool.is_query or tool.scope != "device" or device.type not in tool.types:
            return False
        if any(p.is_required for p in tool.params):
            return False
        decision = decide(tool, device)
        decided = decision.changes.get(device.id) if isinstance(decision, Decision) else None
        return isinstance(decided, Change) and change.state is not None and decided.state == change.state

    return tuple(tool for tool in tools.values() if is_alike(tool))
