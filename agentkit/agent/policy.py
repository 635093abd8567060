"""Decide whether actions may run: allow, confirm or deny, by rules that stand outside the model. Pure.

One verdict covers the whole turn: if a sentence holds one risky action among harmless ones, all of them wait for the
answer. That is easy to foresee, and a "no" leaves the home as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentkit.agent.resolve import Step
from agentkit.devices.adapter import Device
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import has_word

STRICTNESS = tuple(Verdict)


@dataclass(frozen=True)
class Ruling:
    """The verdict over a turn and what brought it."""

    verdict: Verdict = Verdict.ALLOW
    reason: str = ""
    device_ids: tuple[str, ...] = ()
    """Devices on account of which it is not "allow"."""


def evaluate(
    rules: Sequence[PolicyRule], steps: Iterable[Step], view: HomeView, *, user: str | None = None, source: str = "cli"
) -> Ruling:
    """Find the strictest verdict over all steps. Per device the first rule that fits decides; questions are free."""
    moving = [step for step in steps if not step.tool.is_query]
    n_devices = len({i for step in moving for i in step.device_ids})
    strictest = Ruling()
    for step in moving:
        for device in [view.device(i) for i in step.device_ids] or [None]:
            rule = next((r for r in rules if _fits(r, step, device, n_devices, user, source)), None)
            if rule is not None:
                strictest = _stricter(strictest, rule, device)
    return strictest


def _stricter(ruling: Ruling, rule: PolicyRule, device: Device | None) -> Ruling:
    new, old = STRICTNESS.index(rule.verdict), STRICTNESS.index(ruling.verdict)
    ids = (device.id,) if device else ()
    if new > old:
        return Ruling(rule.verdict, rule.reason, ids)
    if new == old and rule.verdict is not Verdict.ALLOW:
        return Ruling(ruling.verdict, ruling.reason, (*ruling.device_ids, *ids))
    return ruling


def _fits(rule: PolicyRule, step: Step, device: Device | None, n_devices: int, user: str | None, source: str) -> bool:
    about_device = (
        (rule.types, device and device.type),
        (rule.device_ids, device and device.id),
        (rule.areas, device and device.area),
    )
    about_turn = ((rule.tools, step.tool.name), (rule.users, user), (rule.sources, source))
    if rule.more_than is not None and n_devices <= rule.more_than:
        return False
    if not all(not wanted or got in wanted for wanted, got in (*about_device, *about_turn)):
        return False
    return _is_of_class(rule, device)


def _is_of_class(rule: PolicyRule, device: Device | None) -> bool:
    """By the class that a device reports or by a word of its name; either is enough."""
    if not rule.device_classes and not rule.named:
        return True
    if device is None:
        return False
    is_named = any(has_word(name, word) for name in device.names for word in rule.named)
    return device.device_class in rule.device_classes or is_named
