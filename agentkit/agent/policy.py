"""Decide whether actions may run: allow, confirm or deny, by rules that stand outside the model. Pure.

One verdict covers the whole turn: if a sentence holds one risky action among harmless ones, all of them wait for the
answer. That is easy to foresee, and a "no" leaves the home as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from agentkit.agent.resolve import Step
from agentkit.agent.spelling import has_word, spelled
from agentkit.devices.adapter import DECLARED_CLASS, FORMER_NAMES, Device
from agentkit.planned import Effect
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.types import Action
from agentkit.understanding.home_view import HomeView

STRICTNESS = tuple(Verdict)
ALLOWED = PolicyRule(Verdict.ALLOW)
"""What holds where no rule fits."""


@dataclass(frozen=True)
class Ruling:
    """The verdict over a turn and what brought it."""

    verdict: Verdict = Verdict.ALLOW
    reason: str = ""
    device_ids: tuple[str, ...] = ()
    """Devices of which, by themselves, it is not "allow"; that there are many is on account of none of them."""
    effects: tuple[Effect, ...] = ()
    """Guarded changes of devices that nobody named."""
    actions: tuple[Action, ...] = ()
    """The same as actions, for the question."""


def evaluate(
    rules: Sequence[PolicyRule], steps: Iterable[Step], view: HomeView, *, user: str | None = None, source: str = "cli"
) -> Ruling:
    """Find the strictest verdict over all steps; questions are free.

    Per device the first rule that fits decides. A rule about the number of devices comes on top: it must not stand in
    for a stricter rule about one of them.
    """
    moving = [step for step in steps if not step.tool.is_query]
    n_devices = len({i for step in moving for i in step.device_ids})
    strictest = Ruling()
    for step in moving:
        for device in [view.device(i) for i in step.device_ids] or [None]:
            fitting = [
                r for seen in _seen_as(device) for r in _until_decided(rules, step, seen, n_devices, user, source)
            ]
            rule = max((ALLOWED, *fitting), key=lambda r: STRICTNESS.index(r.verdict))
            is_own = any(r.more_than is None and r.verdict is not Verdict.ALLOW for r in fitting)
            if rule.verdict is not Verdict.ALLOW:
                ids = (device.id,) if device and (is_own or rule.verdict is Verdict.DENY) else ()
                strictest = stricter(strictest, Ruling(rule.verdict, rule.reason, ids))
    return strictest


def _until_decided(
    rules: Sequence[PolicyRule], step: Step, device: Device | None, n_devices: int, user: str | None, source: str
) -> Iterator[PolicyRule]:
    """The rules that fit, up to the first that decides about the device itself."""
    for rule in rules:
        if _fits(rule, step, device, n_devices, user, source):
            yield rule
            if rule.more_than is None or rule.verdict is Verdict.ALLOW:
                return


def strictness(ruling: Ruling) -> int:
    """How strict a verdict is, as a number that can be compared."""
    return STRICTNESS.index(ruling.verdict)


def stricter(ruling: Ruling, new: Ruling) -> Ruling:
    """The stricter of two rulings with its reason; the effects of the first stay.

    Of what waits for an answer all devices are kept, so that the question names every one; of what is denied, only
    those that are.
    """
    top = new if strictness(new) > strictness(ruling) else ruling
    told = [r for r in (ruling, new) if top.verdict is not Verdict.DENY or r.verdict is Verdict.DENY]
    ids = tuple(dict.fromkeys(i for r in told for i in r.device_ids))
    return replace(ruling, verdict=top.verdict, reason=top.reason, device_ids=ids)


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


def _seen_as(device: Device | None) -> tuple[Device | None, ...]:
    """A device as each of the classes it ever claimed, of which the strictest counts."""
    if device is None or len(device.classes) == 1:
        return (device,)
    former = {k: v for k, v in device.attributes.items() if k == FORMER_NAMES}
    return tuple(replace(device, attributes={DECLARED_CLASS: c, **former}) for c in device.classes)


def _is_of_class(rule: PolicyRule, device: Device | None) -> bool:
    """By the class that a device reports or by a word of its names.

    A word can only tighten what the class says: a rule that allows looks at the names of a device without a class, and
    all of them must fit, because any of them may be the true one. Names that it had before count like those of now.
    """
    if not rule.device_classes and not rule.named:
        return True
    if device is None:
        return False
    if device.device_class in rule.device_classes:
        return True
    if not rule.named or (rule.verdict is Verdict.ALLOW and device.device_class is not None):
        return False
    fits = (has_word(name, rule.named) for name in map(spelled, (*device.names, *device.former_names)))
    return all(fits) if rule.verdict is Verdict.ALLOW else any(fits)
