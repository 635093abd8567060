"""Runs evaluation records through the path that every utterance takes, each in its own home and state.

One agent serves all records of a home; before every record its devices are put back and the conversation is a new one,
so no record can influence another.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from agentkit.agent.schedule import Schedule
from agentkit.agent.trace import Trace
from agentkit.devices.adapter import Device, Home
from agentkit.devices.registry import Registry
from agentkit.errors import ConfigError, DeviceUnknown, PromptTooLong
from agentkit.planned import Entry, EntryKind
from agentkit.records import GENERIC, NOON, Record, area_of, devices_of
from agentkit.types import Call, Intent, Reply, Selector, Utterance

log = logging.getLogger(__name__)

MAX_SESSION = 100
Prediction = dict[str, Any]
Now = Callable[[], datetime]


class Turns(Protocol):
    """What an evaluation needs of the agent."""

    @property
    def trace(self) -> Trace:
        """The last turns with what was understood."""
        ...

    def handle(self, utterance: Utterance) -> Reply:
        """Run one turn."""
        ...


class Live(Protocol):
    """An agent in a home."""

    @property
    def agent(self) -> Turns:
        """What runs the turns."""
        ...

    @property
    def registry(self) -> Registry:
        """The devices it moves."""
        ...

    @property
    def schedule(self) -> Schedule:
        """The timers and plans it keeps."""
        ...

    def prepare(self) -> None:
        """Make ready for the home as it is now, as a server is before it is asked."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Evaluation:
    """Owns the agent of the home at hand; `run` gives one prediction per record, home by home."""

    def __init__(
        self,
        homes: Mapping[str, Home],
        open_home: Callable[[Home, Now], Live],
        *,
        kinds: Iterable[tuple[str, str]] = (),
        clock: Callable[[], float] = time.perf_counter,
    ):
        self._homes, self._open, self._kinds, self._clock = homes, open_home, tuple(kinds), clock
        self._now = NOON

    def run(self, records: Sequence[Record]) -> Iterator[Prediction]:
        """Predict all records. Raises ConfigError for a home that does not exist before the first one is run."""
        by_home: dict[str, list[Record]] = {}
        for record in records:
            by_home.setdefault(record.home or GENERIC, []).append(record)
        for key in by_home:
            if key not in self._homes:
                raise ConfigError(f"no home {key!r}; it is named by record {by_home[key][0].id}", path="homes")
        for key, of_home in by_home.items():
            live = self._open(self._homes[key], lambda: self._now)
            try:
                for record in of_home:
                    yield self._predict(record, self._homes[key], live)
            finally:
                live.close()

    def _predict(self, record: Record, home: Home, live: Live) -> Prediction:
        self._now = record.now
        put_back(live.registry, devices_of(record, home))
        live.schedule.replace_all(timers_of(home, record.now))
        live.prepare()
        area = area_of(record, home, self._kinds)
        utterance = Utterance(record.text, area=area, session=f"eval:{record.id}"[:MAX_SESSION], source="eval")
        try:
            for text in record.history:
                live.agent.handle(replace(utterance, text=text))
            before, start = live.registry.devices(), self._clock()
            reply = live.agent.handle(utterance)
        except PromptTooLong as err:
            return {"id": record.id, "outcome": "refused", "calls": [], "say": str(err), "state_after": {}}
        except Exception as err:  # one record that breaks the agent must not end the run; the caller counts these
            log.exception("record %s broke the agent", record.id)
            return {"id": record.id, "outcome": "none", "calls": [], "say": "", "error": f"{type(err).__name__}: {err}"}
        ms = (self._clock() - start) * 1000
        turn = live.agent.trace.last(utterance.session)
        intents = turn.understanding.intents if turn and turn.understanding else ()
        calls = [called(call, intents, home, area) for call in reply.calls]
        return prediction(record.id, reply, calls, changes(before, live.registry.devices()), ms)


def put_back(registry: Registry, devices: Sequence[Device]) -> None:
    """Make the registry hold exactly these devices, in these states."""
    wanted = {d.id: d for d in devices}
    for held in registry.devices():
        if held.id not in wanted:
            registry.remove(held.id)
    for device in devices:
        if _held(registry, device.id) != device:
            registry.upsert(device)


def timers_of(home: Home, now: datetime) -> tuple[Entry, ...]:
    """The timers that a recorded home had running, as if they ran now."""
    return tuple(
        Entry(
            EntryKind.TIMER,
            now + timedelta(seconds=t.left_s) if t.is_active else None,
            now - timedelta(seconds=t.start_s - t.left_s),
            f"timer-{n}",
            name=t.name,
            area=t.area,
            language=home.language,
            duration_s=t.start_s,
            left_s=None if t.is_active else t.left_s,
        )
        for n, t in enumerate(home.timers, start=1)
    )


def prediction(
    record_id: str, reply: Reply, calls: Sequence[Mapping[str, Any]], state_after: Mapping[str, Any], ms: float
) -> Prediction:
    """One line of the prediction file."""
    return {
        "id": record_id,
        "outcome": reply.outcome.value,
        "calls": list(calls),
        "say": reply.say,
        "state_after": dict(state_after),
        "path": reply.path,
        "why": reply.why,
        "ms": round(ms, 2),
    }


def called(call: Call, intents: Sequence[Intent], home: Home, area: str | None) -> dict[str, Any]:
    """A call for the judge; one that reached no device carries the words that were to find one."""
    args = dict(call.args)
    meant = next((i for i in intents if i.tool == call.tool and dict(i.args) == args), None)
    if not call.targets and meant is not None:
        args = {**_selecting_words(meant.selector, home, area), **args}
    return {"tool": call.tool, "args": args, "targets": list(call.targets)}


def _selecting_words(selector: Selector, home: Home, area: str | None) -> dict[str, Any]:
    has_place = selector.areas or selector.floors or selector.names or selector.is_all
    areas = selector.areas or (() if has_place or area is None else (area,))
    words = {
        "name": list(selector.names),
        "area": [a.name for a in home.areas if a.id in areas],
        "floor": [f.name for f in home.floors if f.id in selector.floors],
    }
    return {key: found[0] if len(found) == 1 else found for key, found in words.items() if found}


def changes(before: Sequence[Device], after: Sequence[Device]) -> dict[str, Any]:
    """Devices that are no longer as they were: their state, and the attributes that differ (None = gone)."""
    old = {d.id: d for d in before}
    found: dict[str, Any] = {}
    for device in after:
        was = old.get(device.id)
        if was is None or device == was:
            continue
        keys = [k for k in {**was.attributes, **device.attributes} if was.attributes.get(k) != device.attributes.get(k)]
        found[device.id] = {"state": device.state, "attributes": {k: device.attributes.get(k) for k in keys}}
    return found


def write_predictions(path: Path, predictions: Iterable[Prediction], order: Sequence[Record]) -> None:
    """Write predictions in the order of the records; the file is whole or not there. Raises ConfigError."""
    place = {record.id: number for number, record in enumerate(order)}
    lines = [json.dumps(p, ensure_ascii=False) for p in sorted(predictions, key=lambda p: place[p["id"]])]
    part = path.with_name(path.name + ".part")
    try:
        part.write_text("".join(line + "\n" for line in lines), "utf-8")
        os.replace(part, path)
    except OSError as err:
        raise ConfigError(f"cannot be written ({err.strerror}); choose another --out", path=path) from err


def _held(registry: Registry, device_id: str) -> Device | None:
    try:
        return registry.get(device_id)
    except DeviceUnknown:
        return None
