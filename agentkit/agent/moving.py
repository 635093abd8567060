"""Read one device, send it one change, read back until it is so: all within the time that the turn has left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from agentkit.agent.failures import failed, out_of_time, problem
from agentkit.agent.lines import Lines
from agentkit.agent.resolve import Step
from agentkit.agent.runner import Runner
from agentkit.agent.verify import contradicts, has_moved, is_reached, told
from agentkit.devices.adapter import Adapter, Change, Command, Device
from agentkit.errors import DeviceFaulty, DeviceSilent
from agentkit.types import Action, ActionResult, Status

Guard = Callable[[Step, Device, Change], str | None]
"""Asked about a change of a device that the step did not name; a reason forbids it."""

POLL_MS = (5, 10, 20, 40, 80, 160, 320)
"""Waits between read-backs; the last one repeats. They grow, so that a quick device is seen at once and a slow one gets
few questions."""


@dataclass(frozen=True)
class Moved:
    """A change that was sent, with the device as it was before: what it takes to put things back."""

    tool: str
    before: Device
    change: Change


@dataclass(frozen=True)
class Limits:
    """How long things may take."""

    timeout_ms: float = 2000
    """One call of a tool's function or of the adapter."""
    verify_ms: float = 3000
    """From sending the command to the state that it should bring; it is read once at the end in any case."""
    turn_ms: float = 20_000
    """All steps of one turn; nothing is sent after that."""
    max_hung: int = 3
    """Threads given up on, per tool and device, before it is refused."""
    recover_s: float = 60
    """How long it is refused at first."""
    n_side_by_side: int = 32
    """Devices that one turn reads or moves at the same time."""


@dataclass(frozen=True)
class Run:
    """What all steps of one turn share."""

    guard: Guard
    end: float
    """On the clock: when the turn's time is used up."""
    is_wanted: Callable[[], bool] = lambda: True
    """Whether somebody still waits for the turn."""
    journal: list[Moved] = field(default_factory=list)


@dataclass(frozen=True)
class Mover:
    """Owns nothing but the lines in which commands for the same device wait for each other."""

    adapter: Adapter
    runner: Runner
    limits: Limits
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    lines: Lines = field(default_factory=Lines)

    def left_s(self, run: Run) -> float:
        """Seconds until the turn's time is used up."""
        return max(0.0, run.end - self.clock())

    def start_s(self, run: Run) -> float:
        """Seconds in which a step may still begin: one that cannot be read back any more is better not begun."""
        return max(0.0, self.left_s(run) - min(self.limits.verify_ms, self.limits.turn_ms / 4) / 1000)

    def limit_ms(self, run: Run) -> float:
        """How long the next call may take."""
        return min(self.limits.timeout_ms, self.left_s(run) * 1000)

    def read(self, device_id: str, run: Run) -> Device | ActionResult:
        """The device as it is now, or the failure to read it (its action is for the caller to fill in)."""
        action = Action("", {}, device_id)
        read = partial(self.adapter.read, device_id)
        ran = self.runner.call(f"device {device_id}", read, timeout_ms=self.limit_ms(run))
        if ran.problem:
            return problem(action, ran, device_id)
        if not isinstance(ran.value, Device):
            kind = type(ran.value).__name__
            return failed(action, "bad_result", f"{device_id} was read as {kind}, wanted Device")
        return ran.value

    def move_other(self, step: Step, device_id: str, change: Change, before: Device | None, run: Run) -> ActionResult:
        """Wait for the device's line and move it; one that the step did not name is read and judged first."""
        action = Action(step.tool.name, step.args, device_id)
        with self.lines.hold(device_id, self.start_s(run)) as is_held:
            if not is_held:
                return out_of_time(
                    action, f"{device_id} was busy with other commands until the turn's time was used up"
                )
            if before is None:
                device = self.read(device_id, run)
                if isinstance(device, ActionResult):
                    return ActionResult(action, device.status, device.reason, device.detail)
                reason = run.guard(step, device, change)
                if reason is not None:
                    return failed(action, reason, f"{step.tool.name} would also move {device_id}")
                before = device
            return self.move(step, change, before, run)

    def move(self, step: Step, change: Change, before: Device, run: Run) -> ActionResult:
        """Send a change and read it back; the caller holds the device's line."""
        action = Action(step.tool.name, step.args, before.id)
        if not before.is_available:
            return failed(action, "unavailable", f"{before.id} is offline", device=before)
        if not self.left_s(run):
            return out_of_time(action)
        run.journal.append(Moved(step.tool.name, before, change))
        end = min(run.end, self.clock() + self.limits.verify_ms / 1000)
        send = partial(self.adapter.apply, Command(before.id, step.tool.name, step.args, change))
        ran = self.runner.call(f"device {before.id}", send, timeout_ms=self.limit_ms(run))
        is_silent = ran.problem == "timeout" or isinstance(ran.error, DeviceSilent)
        if ran.problem and not is_silent:
            return problem(action, ran, before.id)
        result = self._verify(action, change, before, run, end)
        if result.status is Status.DONE and _names_something(change) and is_reached(before, change):
            result = replace(result, reply_key=f"already.{step.tool.name}")
        is_shown = result.status is Status.DONE and _names_something(change)
        if is_silent and not is_shown:  # it may have acted, or may yet
            detail = str(ran.error or f"{before.id} did not answer in time; it may have carried out the command")
            reason = "error" if isinstance(ran.error, DeviceFaulty) else "timeout"
            return ActionResult(action, Status.UNKNOWN, reason, detail, result.state, result.attributes)
        return result

    def _verify(self, action: Action, change: Change, before: Device, run: Run, end: float) -> ActionResult:
        """Read back until the change is reached or it is `end`. A change that names nothing needs only an answer."""
        n_reads = 0
        while True:
            after = self.read(before.id, run)
            if isinstance(after, Device) and after.is_available and is_reached(after, change):
                return ActionResult(action, Status.DONE, state=after.state, attributes=after.attributes)
            left_s = end - self.clock()
            if left_s <= 0:
                return _not_seen(action, change, before, after)
            self.sleep(min(left_s, POLL_MS[min(n_reads, len(POLL_MS) - 1)] / 1000))
            n_reads += 1


def _not_seen(action: Action, change: Change, before: Device, after: Device | ActionResult) -> ActionResult:
    """What can be said of a change that was sent and not read back: only a device that denies it has ignored it."""
    if isinstance(after, ActionResult):
        return ActionResult(action, Status.UNKNOWN, after.reason, after.detail)
    if not after.is_available:
        return ActionResult(action, Status.UNKNOWN, "unavailable", f"{after.id} went offline")
    detail = f"{after.id} is {after.state}, wanted {told(change)}"
    if has_moved(before, after, change):
        return ActionResult(action, Status.UNKNOWN, "in_progress", detail, after.state, after.attributes)
    if not contradicts(after, change):
        return ActionResult(action, Status.UNKNOWN, "unseen", detail, after.state, after.attributes)
    return failed(action, "ignored", f"{after.id} is still {after.state}, wanted {told(change)}", device=after)


def _names_something(change: Change) -> bool:
    """Whether a change can be read back at all."""
    return change.state is not None or bool(change.attributes)
