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
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from agentkit.devices.adapter import Device, Home
from agentkit.devices.registry import Registry
from agentkit.errors import ConfigError, DeviceUnknown, PromptTooLong
from agentkit.records import GENERIC, NOON, Record, area_of, devices_of
from agentkit.types import Call, Reply, Utterance

log = logging.getLogger(__name__)

Prediction = dict[str, Any]
Now = Callable[[], datetime]


class Turns(Protocol):
    """What an evaluation needs of the agent."""

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
        before, self._now = devices_of(record, home), record.now
        put_back(live.registry, before)
        area = area_of(record, home, self._kinds)
        utterance = Utterance(record.text, area=area, session=f"eval:{record.id}", source="eval")
        start = self._clock()
        try:
            reply = live.agent.handle(utterance)
        except PromptTooLong as err:
            return {"id": record.id, "outcome": "refused", "calls": [], "say": str(err), "state_after": {}}
        except Exception as err:  # one record that breaks the agent must not end the run; the caller counts these
            log.exception("record %s broke the agent", record.id)
            return {"id": record.id, "outcome": "none", "calls": [], "say": "", "error": f"{type(err).__name__}: {err}"}
        ms = (self._clock() - start) * 1000
        return prediction(record.id, reply, before, live.registry.devices(), ms)


def put_back(registry: Registry, devices: Sequence[Device]) -> None:
    """Make the registry hold exactly these devices, in these states."""
    wanted = {d.id: d for d in devices}
    for held in registry.devices():
        if held.id not in wanted:
            registry.remove(held.id)
    for device in devices:
        if _held(registry, device.id) != device:
            registry.upsert(device)


def prediction(
    record_id: str, reply: Reply, before: Sequence[Device], after: Sequence[Device], ms: float
) -> Prediction:
    """One line of the prediction file."""
    return {
        "id": record_id,
        "outcome": reply.outcome.value,
        "calls": [_call(call) for call in reply.calls],
        "say": reply.say,
        "state_after": changes(before, after),
        "path": reply.path,
        "why": reply.why,
        "ms": round(ms, 2),
    }


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


def _call(call: Call) -> dict[str, Any]:
    return {"tool": call.tool, "args": dict(call.args), "targets": list(call.targets)}


def _held(registry: Registry, device_id: str) -> Device | None:
    try:
        return registry.get(device_id)
    except DeviceUnknown:
        return None
