"""Run steps and read back what came of them: the one place that moves devices.

Per step: read the devices, let the tool's function decide, send each change, read back until it is so. Success is what
was read back, never what was sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agentkit.agent.resolve import Step
from agentkit.agent.runner import Ran, Runner
from agentkit.agent.schedule import Schedule
from agentkit.agent.verify import has_moved, is_reached, told
from agentkit.devices.adapter import Adapter, Change, Command, Device
from agentkit.errors import DeviceError, DeviceSilent, DeviceUnavailable, DeviceUnknown, ScheduleError
from agentkit.planned import EntryChange
from agentkit.types import Action, ActionResult, Args, Status
from agentkit.understanding.tools import Answer, Decision, Tool

Guard = Callable[[Step, Device, Change], str | None]
"""Asked about a change of a device that the step did not name; a reason forbids it."""


@dataclass(frozen=True)
class Moved:
    """A change that was sent, with the device as it was before: what it takes to put things back."""

    tool: str
    before: Device
    change: Change


POLL_MS = (5, 10, 20, 40, 80)
"""Waits between read-backs; the last one repeats."""


@dataclass(frozen=True)
class Limits:
    """How long things may take."""

    timeout_ms: float = 2000
    """One call of a tool's function or of the adapter."""
    verify_ms: float = 1000
    """From the command to the state that it should bring."""
    turn_ms: float = 20_000
    """All steps of one turn; what is left then is skipped."""
    max_hung: int = 3
    """Threads given up on, per tool and per device, before it is refused."""


@dataclass(frozen=True)
class _Run:
    """What all steps of one turn share."""

    guard: Guard
    journal: list[Moved]


class Executor:
    """Owns the runner; `execute` never raises for what a tool, an adapter or a device does."""

    def __init__(
        self,
        adapter: Adapter,
        *,
        limits: Limits = Limits(),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        schedule: Schedule | None = None,
    ):
        self._adapter, self._limits, self._clock, self._sleep = adapter, limits, clock, sleep
        self._schedule = schedule
        self.runner = Runner(max_hung=limits.max_hung)

    def execute(
        self, steps: Iterable[Step], view: object, *, guard: Guard = lambda *_: None, journal: list[Moved] | None = None
    ) -> tuple[ActionResult, ...]:
        """Run the steps in order; the very same step twice runs once. `view` is what a tool of the home is given.

        Every change is written to the journal before it is sent.
        """
        run = _Run(guard, [] if journal is None else journal)
        end = self._clock() + self._limits.turn_ms / 1000
        results: list[ActionResult] = []
        for step in unique(steps):
            if self._clock() < end:
                results += self._step(step, view, run)
            else:
                results.append(ActionResult(step.action, Status.SKIPPED, "timeout", "the turn's time was used up"))
        return tuple(results)

    def decide(self, tool: Tool, device: Device) -> Any:
        """Run a tool's function on a device without applying anything. None if it fails."""
        return self.decide_all([(tool, device, {})])[0]

    def decide_all(self, asked: Sequence[tuple[Tool, Any, Args]]) -> list[Any]:
        """Run functions on what they work on, without applying anything, in one thread and under one time limit.

        None for one that fails; all of them are None if the time is up.
        """
        names = ", ".join(sorted({tool.name for tool, _, _ in asked}))
        ran = self.runner.call(
            f"tool {names}", lambda: [_tried(*one) for one in asked], timeout_ms=self._limits.timeout_ms
        )
        return [None] * len(asked) if ran.problem else ran.value

    def _step(self, step: Step, view: object, run: _Run) -> list[ActionResult]:
        devices: list[Device] = []
        for device_id in step.device_ids:
            device = self._read(device_id)
            if isinstance(device, ActionResult):
                return [replace(device, action=step.action)]
            devices.append(device)
        if devices and not any(d.is_available for d in devices):
            return [_failed(step.action, "unavailable", f"{devices[0].id} is offline", device=devices[0])]
        given: Any = {"home": view, "devices": tuple(devices)}.get(step.tool.scope, devices[0] if devices else None)
        function = partial(step.tool.function, given, **step.args)
        ran = self.runner.call(f"tool {step.tool.name}", function, timeout_ms=self._limits.timeout_ms)
        if ran.problem:
            return [_problem(step.action, ran, f"tool {step.tool.name}")]
        fault = _fault(step, ran.value)
        if fault:
            return [_failed(step.action, "bad_result", f"tool {step.tool.name} {fault}")]
        if isinstance(ran.value, Answer):
            answer = ran.value
            return [ActionResult(step.action, Status.DONE, facts=answer.values, reply_key=answer.reply_key)]
        return self._decided(step, ran.value, {d.id: d for d in devices}, run)

    def _decided(self, step: Step, decision: Decision, devices: Mapping[str, Device], run: _Run) -> list[ActionResult]:
        if decision.reason is not None:
            detail = f"tool {step.tool.name} refused: {decision.reason}"
            return [replace(_failed(step.action, decision.reason, detail), facts=decision.values)]
        if decision.entries:
            return [self._keep(step, decision)]
        results = [self._move(step, i, change, devices.get(i), run) for i, change in decision.changes.items()]
        results = [replace(result, facts=decision.values) for result in results]
        return [_worst(step, results)] if len(step.device_ids) == 1 else results

    def _keep(self, step: Step, decision: Decision) -> ActionResult:
        """Keep, change or forget timers and plans, and look whether that is so now."""
        if self._schedule is None:
            return _failed(step.action, "unsupported", "nothing is kept for later here")
        try:
            kept = self._schedule.apply(decision.entries)
        except ScheduleError as err:
            return replace(_failed(step.action, "not_saved", str(err)), facts=decision.values)
        wanted = [None if c.is_removed else e for c, e in zip(decision.entries, kept, strict=True)]
        if [self._schedule.get(e.id) for e in kept] != wanted:
            return replace(_failed(step.action, "ignored", "the schedule holds something else"), facts=decision.values)
        return ActionResult(step.action, Status.DONE, facts=decision.values, reply_key=decision.reply_key)

    def _move(self, step: Step, device_id: str, change: Change, before: Device | None, run: _Run) -> ActionResult:
        action = Action(step.tool.name, step.args, device_id)
        if before is None:
            device = self._read(device_id)
            if isinstance(device, ActionResult):
                return replace(device, action=action)
            reason = run.guard(step, device, change)
            if reason is not None:
                return _failed(action, reason, f"{step.tool.name} would also move {device_id}")
            before = device
        if not before.is_available:
            return _failed(action, "unavailable", f"{device_id} is offline", device=before)
        run.journal.append(Moved(step.tool.name, before, change))
        send = partial(self._adapter.apply, Command(device_id, step.tool.name, step.args, change))
        ran = self.runner.call(f"device {device_id}", send, timeout_ms=self._limits.timeout_ms)
        is_silent = ran.problem == "timeout" or isinstance(ran.error, DeviceSilent)
        if ran.problem and not is_silent:
            return _problem(action, ran, device_id)
        result = self._verify(action, change, before)
        is_shown = result.status is Status.DONE and bool(change.state is not None or change.attributes)
        if is_silent and not is_shown:  # it may have acted, or may yet
            detail = str(ran.error or f"{device_id} did not answer in time; it may have carried out the command")
            return replace(result, status=Status.UNKNOWN, reason="timeout", detail=detail)
        return result

    def _verify(self, action: Action, change: Change, before: Device) -> ActionResult:
        """Read back until the change is reached or the time is up. A change that names nothing needs only an answer."""
        end, n_reads = self._clock() + self._limits.verify_ms / 1000, 0
        while True:
            after = self._read(before.id)
            if isinstance(after, Device) and after.is_available and is_reached(after, change):
                return ActionResult(action, Status.DONE, state=after.state, attributes=after.attributes)
            if self._clock() >= end:
                break
            self._sleep(POLL_MS[min(n_reads, len(POLL_MS) - 1)] / 1000)
            n_reads += 1
        if isinstance(after, ActionResult):
            return replace(after, action=action, status=Status.UNKNOWN)
        if not after.is_available:
            return replace(_failed(action, "unavailable", f"{after.id} went offline"), status=Status.UNKNOWN)
        if has_moved(before, after, change):
            slow = _failed(action, "in_progress", f"{after.id} is {after.state}, wanted {told(change)}", device=after)
            return replace(slow, status=Status.UNKNOWN)
        return _failed(action, "ignored", f"{after.id} is still {after.state}, wanted {told(change)}", device=after)

    def _read(self, device_id: str) -> Device | ActionResult:
        """The device as it is now, or the failure to read it (its action is for the caller to fill in)."""
        read = partial(self._adapter.read, device_id)
        ran = self.runner.call(f"device {device_id}", read, timeout_ms=self._limits.timeout_ms)
        if ran.problem:
            return _problem(Action("", {}, device_id), ran, device_id)
        if not isinstance(ran.value, Device):
            kind = type(ran.value).__name__
            return _failed(Action("", {}, device_id), "bad_result", f"{device_id} was read as {kind}, wanted Device")
        return ran.value


def _tried(tool: Tool, given: Any, args: Args) -> Any:
    """What a function decides. None if it raises: whoever asks takes that as "nobody knows"."""
    try:
        return tool.function(given, **args)
    except Exception:  # noqa: BLE001  edge: an app's code; when it is run for real, the reason is told
        return None


def unique(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Drop steps that say the very same thing as an earlier one."""
    found: list[Step] = []
    for step in steps:
        if step not in found:
            found.append(step)
    return tuple(found)


def _fault(step: Step, value: Any) -> str | None:
    """What is wrong with a function's result, if anything."""
    if not isinstance(value, (Answer, Decision)):
        return f"returned {type(value).__name__}, wanted Decision or Answer"
    if not isinstance(value.values, Mapping):
        return f"gave values of {type(value.values).__name__}, wanted a mapping"
    key = value.reply_key if isinstance(value, Answer) else value.reason
    if key is not None or isinstance(value, Answer):
        return None if isinstance(key, str) else f"gave {key!r}, wanted a reply key"
    if value.entries and not step.tool.is_query:
        return (
            None if all(isinstance(c, EntryChange) for c in value.entries) else "gave entries that are no EntryChange"
        )
    return _changes_fault(step, value.changes)


def _changes_fault(step: Step, changes: Any) -> str | None:
    if not isinstance(changes, Mapping) or not changes:
        return "decided nothing and gave no reason"
    if not all(isinstance(i, str) and isinstance(c, Change) for i, c in changes.items()):
        return "gave changes that are not device id → Change"
    return "is a question but wants to change something" if step.tool.is_query else None


def _failed(action: Action, reason: str, detail: str = "", *, device: Device | None = None) -> ActionResult:
    state, attributes = (device.state, device.attributes) if device else (None, {})
    return ActionResult(action, Status.FAILED, reason, detail, state, attributes)


def _problem(action: Action, ran: Ran, who: str) -> ActionResult:
    error = ran.error
    if isinstance(error, DeviceError):
        reasons = {DeviceUnavailable: "unavailable", DeviceUnknown: "not_found"}
        return _failed(action, reasons.get(type(error), "rejected"), str(error))
    detail = f"{who}: {type(error).__name__}: {error}" if error else f"{who}: {ran.problem}"
    return _failed(action, str(ran.problem), " ".join(detail.split())[:300])


def _worst(step: Step, results: list[ActionResult]) -> ActionResult:
    """One result for a step on one device that moved several (a scene): the worst, with the device's own state."""
    order = (Status.FAILED, Status.UNKNOWN, Status.DONE)
    worst = min(results, key=lambda result: order.index(result.status))
    own = next((r for r in results if r.action.device_id == step.device_ids[0]), worst)
    return replace(worst, action=step.action, state=own.state, attributes=own.attributes)
