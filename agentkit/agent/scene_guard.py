"""Judge what steps amount to, also on devices that nobody named: a scene must not be a way around the policy.

What a scene sets is found before anything is asked, so that the question names it; what was asked about is pinned, and
nothing guarded beside it runs. A change is free only if a tool that is free would bring the very same: whatever no tool
explains waits for a yes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentkit.agent.execute import Guard
from agentkit.agent.policy import Ruling, evaluate, stricter, strictness
from agentkit.agent.resolve import Step
from agentkit.agent.undo import RESTORE, RESTORE_TOOL
from agentkit.agent.verify import same
from agentkit.devices.adapter import Change, Device
from agentkit.planned import Consent, Effect
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.types import Action, Args
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Decision, Tool

Decide = Callable[[Sequence[tuple[Tool, Any, Args]]], Sequence[object]]
"""Runs tools' functions on a device, or on several, under a time limit. None for one that fails."""

BECOMES = {"opening": "open", "opened": "open", "unlocking": "unlocked", "unlock": "unlocked", "closing": "closed"} | {
    "locking": "locked",
    "close": "closed",
    "lock": "locked",
}
"""States on the way, and verbs in place of states, by where they lead."""


@dataclass(frozen=True)
class Judge:
    """The policy as it holds for one speaker."""

    rules: Sequence[PolicyRule]
    tools: Mapping[str, Tool]
    decide: Decide
    user: str | None = None
    source: str = "cli"

    def of(self, steps: Sequence[Step], view: HomeView) -> Ruling:
        """Judge steps with all that they bring about."""
        ruling = self.of_named(steps, view)
        for effect, change in self._effects(steps, view) if self.rules else ():
            device = view.device(effect.device_id)
            found = None if device is None else self.of_change(change, device, view)
            if found is None or found.verdict is Verdict.ALLOW:
                continue  # a device that does not exist cannot be moved
            ruling = stricter(ruling, found)
            told = [a for a in found.actions if a not in ruling.actions]
            ruling = replace(ruling, effects=(*ruling.effects, effect), actions=(*ruling.actions, *told))
        return ruling

    def of_named(self, steps: Sequence[Step], view: HomeView) -> Ruling:
        """Judge steps by the devices that they name; putting something back counts as what it may amount to."""
        seen = [self._undone(step) for step in steps]
        ruling = self._evaluate(seen, view)
        for step in steps:
            device = view.device(step.device_ids[0]) if step.tool.name == RESTORE and step.device_ids else None
            if device is not None:
                decided = self.decide([(RESTORE_TOOL, device, step.args)])[0]
                change = decided.changes[device.id] if isinstance(decided, Decision) else Change()
                found = self.of_change(change, device, view)
                ruling = replace(stricter(ruling, found), actions=(*ruling.actions, *found.actions))
        return ruling

    def of_change(self, change: Change, device: Device, view: HomeView) -> Ruling:
        """Judge a change by the tools that act on such a device."""
        if not self.rules:
            return Ruling()
        able = [t for t in self.tools.values() if not t.is_query and t.scope != "home" and _acts_on(t, device)]
        here = replace(view, devices=(device,))
        rulings = {t.name: self._evaluate([Step(t, {}, (device.id,))], here) for t in able}
        guarded = [t for t in able if rulings[t.name].verdict is not Verdict.ALLOW]
        if able and not guarded:
            return Ruling()
        if any(t not in guarded and self._brings(t, change, device, is_whole=True) for t in able):
            return Ruling()
        if not guarded:
            return Ruling(
                Verdict.CONFIRM, "no tool explains that change", (device.id,), (), (Action("", {}, device.id),)
            )
        alike = [t for t in guarded if self._brings(t, change, device, is_whole=False)] or guarded
        strictest = max((rulings[t.name] for t in alike), key=strictness)
        return replace(strictest, actions=(Action(alike[0].name, {}, device.id),))

    def guard(self, view: HomeView, asked: Consent, *, is_confirmed: bool, has_pin: bool, stopped: list[str]) -> Guard:
        """Make the guard of one turn; the devices that it holds back are added to `stopped`."""
        is_cleared = {Verdict.CONFIRM: is_confirmed or has_pin, Verdict.PIN: has_pin}

        def guard(step: Step, device: Device, change: Change) -> str | None:
            verdict = self.of_change(change, device, view).verdict
            if verdict is Verdict.ALLOW:
                return None
            is_asked = _effect(step, device.id, change) in asked.effects and identity(device) in asked.devices
            if is_asked and is_cleared.get(verdict, False):
                return None
            stopped.append(device.id)
            return "denied"

        return guard

    def _evaluate(self, steps: Iterable[Step], view: HomeView) -> Ruling:
        return evaluate(self.rules, steps, view, user=self.user, source=self.source)

    def _undone(self, step: Step) -> Step:
        """Putting back is judged as the tool that it takes back, too."""
        undone = self.tools.get(str(step.args.get("undone"))) if step.tool.name == RESTORE else None
        return step if undone is None else Step(undone, {}, step.device_ids)

    def _effects(self, steps: Sequence[Step], view: HomeView) -> Iterable[tuple[Effect, Change]]:
        """Changes of devices that a step does not name. What a tool does not tell now, the guard stops later."""
        asked: list[tuple[Step, Any]] = []
        for step in steps:
            devices = tuple(d for i in step.device_ids if (d := view.device(i)) is not None)
            if not step.tool.is_query and step.tool.scope != "home" and devices:
                asked.append((step, devices if step.tool.scope == "devices" else devices[0]))
        found = self.decide([(step.tool, given, step.args) for step, given in asked]) if asked else ()
        for (step, _), decided in zip(asked, found, strict=True):
            changes = decided.changes if isinstance(decided, Decision) else {}
            for device_id, change in changes.items() if isinstance(changes, Mapping) else ():
                if device_id not in step.device_ids and isinstance(change, Change):
                    yield _effect(step, device_id, change), change

    def _brings(self, tool: Tool, change: Change, device: Device, *, is_whole: bool) -> bool:
        """Whether a tool without arguments brings the same state and, as a whole, every value of the change."""
        if any(p.is_required for p in tool.params) or (change.state is None and not change.attributes):
            return False
        seen = replace(device, attributes={**device.attributes, **change.attributes})
        decided = self.decide([(tool, seen, {})])[0]
        wanted = decided.changes.get(device.id) if isinstance(decided, Decision) else None
        if not isinstance(wanted, Change):
            return False
        if change.state is not None and settled(change.state) != settled(wanted.state):
            return False
        is_needed = is_whole or change.state is None
        return not is_needed or all(
            k in wanted.attributes and same(wanted.attributes[k], v) for k, v in change.attributes.items()
        )


def settled(state: str | None) -> str | None:
    """A state in one spelling, and one on the way as the state it leads to."""
    if state is None:
        return None
    word = "_".join(re.split(r"[\s_-]+", state.strip().casefold()))
    return BECOMES.get(word, word)


def identity(device: Device) -> str:
    """Everything that makes a device the one that was asked about, as one text."""
    parts = (device.id, device.type, device.classes, device.name, device.area, device.endpoint)
    return json.dumps(parts, ensure_ascii=False, default=str)


def consent(steps: Iterable[Step], ruling: Ruling, view: HomeView) -> Consent:
    """What a yes to these steps covers: the guarded changes and the devices as they are known now."""
    ids = {i for step in steps for i in step.device_ids} | {e.device_id for e in ruling.effects}
    return Consent(ruling.effects, tuple(identity(d) for i in sorted(ids) if (d := view.device(i)) is not None))


def _acts_on(tool: Tool, device: Device) -> bool:
    return not tool.types or device.type in tool.types


def _effect(step: Step, device_id: str, change: Change) -> Effect:
    values = json.dumps(dict(change.attributes), ensure_ascii=False, sort_keys=True, default=str)
    return Effect(step.tool.name, device_id, change.state, values)
