"""Plays dialogues against the agent itself, each in a home of its own under a clock that only the script moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

from agentkit.assemble import Assembly
from agentkit.config import App
from agentkit.devices.adapter import Device
from agentkit.dialogues.script import DeviceChange, Dialogue, Step
from agentkit.errors import ScheduleError
from agentkit.evaluate import changes
from agentkit.planned import Entry
from agentkit.types import ActionResult, Call, Reply, Utterance

MAX_DUE = 500
"""Things that may come due in one wait; a rule that repeats every second would never end."""
_NO_PIN = "-"
"""No code that can be said: the one of the environment is no business of a test."""


@dataclass(frozen=True)
class Seen:
    """What really came of a step."""

    outcome: str
    say: str
    calls: tuple[Call, ...]
    reasons: tuple[str, ...]
    """Keys of what was said besides the results, and the reasons of failed actions."""
    values: Mapping[str, Any]
    changed: Mapping[str, Mapping[str, Any]]
    """Device id → state and attributes that are not as before the step."""
    devices: Mapping[str, Device]
    entries: tuple[Entry, ...]
    has_planned: bool = False
    """Timers or plans are not as before."""
    why: str = field(default="", compare=False)


class Stage:
    """One home with its agent and clock, for one performance of a dialogue."""

    def __init__(self, assembly: Assembly, app: App, dialogue: Dialogue):
        self._dialogue, self._now, self._steady = dialogue, dialogue.now, 0.0
        home = replace(app.home, devices=tuple(_changed(d, dialogue.devices.get(d.id)) for d in app.home.devices))
        self._live = assembly.open(
            home,
            policy=dialogue.policy,
            now=lambda: self._now,
            clock=lambda: self._steady,
            pin=dialogue.pin or _NO_PIN,
        )

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.close()

    def play(self, step: Step, say: str | None = None) -> Seen:
        """Do one step, saying something else if told so. Raises what the agent raises."""
        registry, schedule = self._live.registry, self._live.schedule
        for device_id, change in step.given.items():
            registry.upsert(_changed(registry.get(device_id), change))
        before, planned = registry.devices(), schedule.entries()
        replies = [self._hear(step, say or step.say)] if step.say else self._wait(step.wait_s)
        after = registry.devices()
        results = [r for reply in replies for r in reply.actions]
        return Seen(
            replies[-1].outcome.value if replies else "none",
            "\n".join(r.say for r in replies),
            merged(c for r in replies for c in (r.calls or map(_call_of, r.actions))),
            (*(k for r in replies for k in r.reasons), *(r.reason for r in results if r.reason)),
            {k: v for r in results for k, v in {**r.action.args, **r.facts}.items()},
            {k: {"state": v["state"], **v["attributes"]} for k, v in changes(before, after).items()},
            {d.id: d for d in after},
            schedule.entries(),
            has_planned=not step.wait_s and schedule.entries() != planned,
            why="; ".join(r.why for r in replies),
        )

    def _hear(self, step: Step, text: str) -> Reply:
        said, area = self._dialogue, step.area or self._dialogue.area
        return self._live.agent.handle(
            Utterance(text, language=said.language, area=area, session="test", user=said.user)
        )

    def _wait(self, seconds: float) -> list[Reply]:
        """Let time pass and carry out what comes due, each at its moment."""
        replies: list[Reply] = []
        end = self._now + timedelta(seconds=seconds)
        while (left := self._live.schedule.seconds_to_next()) is not None:
            if self._now + timedelta(seconds=left) > end:
                break
            if len(replies) >= MAX_DUE:
                raise ScheduleError(f"more than {MAX_DUE} things come due in one wait; wait for less")
            self._pass(left)
            replies += [self._live.agent.carry_out(entry) for entry in self._live.schedule.take_due()]
        self._pass((end - self._now).total_seconds())
        return replies

    def _pass(self, seconds: float) -> None:
        self._now += timedelta(seconds=max(0.0, seconds))
        self._steady += max(0.0, seconds)

    @property
    def now(self) -> datetime:
        """Local time in this home."""
        return self._now


def merged(calls: Iterable[Call]) -> tuple[Call, ...]:
    """One call for each tool and its arguments, whether it was said once or device by device."""
    found: dict[tuple[str, str], Call] = {}
    for call in calls:
        key = (call.tool, repr(sorted(call.args.items())))
        before = found[key].targets if key in found else ()
        found[key] = replace(call, targets=tuple(dict.fromkeys((*before, *call.targets))))
    return tuple(found.values())


def _call_of(result: ActionResult) -> Call:
    action = result.action
    return Call(action.tool, action.args, () if action.device_id is None else (action.device_id,))


def _changed(device: Device, change: DeviceChange | None) -> Device:
    if change is None:
        return device
    attributes = {k: v for k, v in {**device.attributes, **change.attributes}.items() if v is not None}
    return replace(
        device,
        state=device.state if change.state is None else change.state,
        attributes=attributes,
        is_available=device.is_available if change.is_available is None else change.is_available,
    )
