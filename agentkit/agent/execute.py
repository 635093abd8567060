"""Run steps and read back what came of them: the one place that moves devices.

Per step: read the devices, let the tool's function decide, send each change, read back until it is so. Success is what
was read back, never what was sent. Devices do not wait for each other, commands for the same device do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agentkit.agent.failures import failed, fault, out_of_time, problem, worst
from agentkit.agent.lines import side_by_side
from agentkit.agent.moving import Guard as Guard
from agentkit.agent.moving import Limits as Limits
from agentkit.agent.moving import Moved as Moved
from agentkit.agent.moving import Mover, Run
from agentkit.agent.resolve import Step
from agentkit.agent.runner import Runner
from agentkit.agent.schedule import Schedule
from agentkit.devices.adapter import Adapter, Device
from agentkit.errors import ScheduleError
from agentkit.types import Action, ActionResult, Args, Status
from agentkit.understanding.tools import Answer, Decision, Tool


@dataclass(frozen=True)
class _Decided:
    """A step whose function decided about other devices than its own; it waits until those before it are over."""

    step: Step
    decision: Decision
    devices: Mapping[str, Device]
    """As read, by id."""
    missing: tuple[ActionResult, ...]
    """Devices that could not be read."""


class Executor:
    """Owns the runner; `execute` never raises for what a tool, an adapter or a device does."""

    def __init__(
        self,
        adapter: Adapter,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        schedule: Schedule | None = None,
        is_slow: Callable[[str], bool] = lambda _: True,
    ):
        """`is_slow` tells by its id whether a device lives on a network, so that others need not wait for it."""
        self._limits, self._clock, self._schedule, self._is_slow = limits, clock, schedule, is_slow
        self.runner = Runner(max_hung=limits.max_hung, recover_s=limits.recover_s)
        self._mover = Mover(adapter, self.runner, limits, clock, sleep)

    def execute(
        self,
        steps: Iterable[Step],
        view: object,
        *,
        guard: Guard = lambda *_: None,
        journal: list[Moved] | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> tuple[ActionResult, ...]:
        """Run the steps; the very same step twice runs once. `view` is what a tool of the home is given.

        `is_wanted` is asked until something is sent: what is half done is done to its end.

        Steps run in order, except that one tool moves slow devices side by side. Every change is in the journal, in the
        order of the steps, even if it came to nothing.
        """
        end = self._clock() + self._limits.turn_ms / 1000
        results: list[ActionResult] = []
        begun: list[Run] = []

        def is_going_on() -> bool:
            return any(run.journal for run in begun) or is_wanted()

        for batch in batches(unique(steps)):
            runs = [Run(guard, end, is_going_on) for _ in batch]
            begun += runs
            jobs = [partial(self._step, step, view, run) for step, run in zip(batch, runs, strict=True)]
            ends = side_by_side(jobs, n_threads=self._n_threads(i for step in batch for i in step.device_ids))
            for ended, run in zip(ends, runs, strict=True):
                results += self._spread(ended, run) if isinstance(ended, _Decided) else ended
                if journal is not None:
                    journal += run.journal
        return tuple(results)

    def decide(self, tool: Tool, device: Device) -> Any:
        """Run a tool's function on a device without applying anything. None if it fails."""
        return self.decide_all([(tool, device, {})])[0]

    def decide_all(self, asked: Sequence[tuple[Tool, Any, Args]]) -> list[Any]:
        """Run functions on what they work on, without applying anything, in one thread and under one time limit.

        None for one that fails; all of them are None if the time is up.
        """
        key = ", ".join(sorted({_key(tool, getattr(given, "id", None)) for tool, given, _ in asked}))
        ran = self.runner.call(key, lambda: [_tried(*one) for one in asked], timeout_ms=self._limits.timeout_ms)
        return [None] * len(asked) if ran.problem else ran.value

    def _step(self, step: Step, view: object, run: Run) -> list[ActionResult] | _Decided:
        if not self._mover.start_s(run):
            return [out_of_time(step.action)]
        if step.tool.is_query or step.tool.scope != "device":
            return self._decide(step, view, run)
        device_id = step.device_ids[0]
        with self._mover.lines.hold(device_id, self._mover.start_s(run)) as is_held:
            if not is_held:
                detail = f"{device_id} was busy with other commands until the turn's time was used up"
                return [out_of_time(step.action, detail)]
            if not run.is_wanted():
                return [out_of_time(step.action, "nobody waits for this turn any more, so it was not sent")]
            return self._decide(step, view, run)

    def _decide(self, step: Step, view: object, run: Run) -> list[ActionResult] | _Decided:
        """Read the devices and let the function decide or answer; who cannot be read is left out and listed."""
        jobs = [partial(self._mover.read, device_id, run) for device_id in step.device_ids]
        reads = side_by_side(jobs, n_threads=self._n_threads(step.device_ids))
        devices = [read for read in reads if isinstance(read, Device)]
        missing = [
            replace(read, action=Action(step.tool.name, step.args, read.action.device_id))
            for read in reads
            if isinstance(read, ActionResult)
        ]
        if missing and not devices:
            return missing
        if devices and not any(d.is_available for d in devices):
            gone = [(Action(step.tool.name, step.args, d.id), d) for d in devices]
            return [*(failed(a, "unavailable", f"{d.id} is offline", device=d) for a, d in gone), *missing]
        given: Any = {"home": view, "devices": tuple(devices)}.get(step.tool.scope, devices[0] if devices else None)
        key = _key(step.tool, devices[0].id if step.tool.scope == "device" and devices else None)
        beside: dict[str, object] = {"home": view} if step.tool.takes_home else {}
        function = partial(step.tool.function, given, **beside, **step.args)
        ran = self.runner.call(key, function, timeout_ms=self._mover.limit_ms(run))
        if ran.problem:
            return [problem(step.action, ran, f"tool {step.tool.name}"), *missing]
        wrong = fault(step, ran.value)
        if wrong:
            return [failed(step.action, "bad_result", f"tool {step.tool.name} {wrong}"), *missing]
        if isinstance(ran.value, Answer):
            answer = ran.value
            done = ActionResult(step.action, Status.DONE, facts=answer.values, reply_key=answer.reply_key)
            return [done, *missing]
        ended = self._decided(step, ran.value, {d.id: d for d in devices}, run)
        return [*ended, *missing] if isinstance(ended, list) else replace(ended, missing=tuple(missing))

    def _decided(
        self, step: Step, decision: Decision, devices: Mapping[str, Device], run: Run
    ) -> list[ActionResult] | _Decided:
        if decision.reason is not None:
            detail = f"tool {step.tool.name} refused: {decision.reason}"
            return [replace(failed(step.action, decision.reason, detail), facts=decision.values)]
        if decision.entries:
            return [self._keep(step, decision)]
        if step.tool.scope != "device" or decision.changes.keys() != devices.keys():
            return _Decided(step, decision, devices, ())
        (change,), (before,) = decision.changes.values(), devices.values()
        result = self._mover.move(step, change, before, run)
        key = (decision.reply_key or result.reply_key) if result.status is Status.DONE else None
        return [replace(result, facts=decision.values, reply_key=key)]

    def _spread(self, decided: _Decided, run: Run) -> list[ActionResult]:
        """Move all devices that a step decided about, side by side."""
        step, decision = decided.step, decided.decision
        runs = [replace(run, journal=[]) for _ in decision.changes]
        jobs = [
            partial(self._mover.move_other, step, device_id, change, decided.devices.get(device_id), one)
            for (device_id, change), one in zip(decision.changes.items(), runs, strict=True)
        ]
        results = side_by_side(jobs, n_threads=self._n_threads(decision.changes))
        for one in runs:
            run.journal.extend(one.journal)
        results = [replace(result, facts=decision.values) for result in results]
        return [worst(step, results)] if len(step.device_ids) == 1 else [*results, *decided.missing]

    def _n_threads(self, device_ids: Iterable[str]) -> int:
        """Devices of this process answer at once: they keep their order and need no threads."""
        return self._limits.n_side_by_side if any(map(self._is_slow, device_ids)) else 1

    def _keep(self, step: Step, decision: Decision) -> ActionResult:
        """Keep, change or forget timers and plans, and look whether that is so now."""
        if self._schedule is None:
            return failed(step.action, "unsupported", "nothing is kept for later here")
        try:
            kept = self._schedule.apply(decision.entries)
        except ScheduleError as err:
            return replace(failed(step.action, "not_saved", str(err)), facts=decision.values)
        wanted = [None if c.is_removed else e for c, e in zip(decision.entries, kept, strict=True)]
        if [self._schedule.get(e.id) for e in kept] != wanted:
            return replace(failed(step.action, "ignored", "the schedule holds something else"), facts=decision.values)
        ids = tuple(e.id for e in wanted if e is not None)
        is_new = any(not c.entry.id for c in decision.entries)
        facts = {**decision.values, **({"entries": ids, "is_new": is_new} if ids else {})}
        return ActionResult(step.action, Status.DONE, facts=facts, reply_key=decision.reply_key)


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


def batches(steps: Iterable[Step]) -> list[list[Step]]:
    """Put together neighbours that one tool runs on devices of their own: they can go side by side."""
    found: list[list[Step]] = []
    for step in steps:
        last = found[-1] if found else []
        is_alike = bool(last) and step.tool == last[0].tool and step.tool.scope == "device"
        if is_alike and not set(step.device_ids) & {i for other in last for i in other.device_ids}:
            last.append(step)
        else:
            found.append([step])
    return found


def _key(tool: Tool, device_id: str | None) -> str:
    """Under which name hung calls are counted: a function that hangs for one device may be well for the others."""
    return f"tool {tool.name}" if device_id is None else f"tool {tool.name} {device_id}"
