"""Evaluation records: what was said, in which home, in which state. What is expected of it is never read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from agentkit.devices.adapter import Device, Home
from agentkit.errors import ConfigError
from agentkit.home_file import load_homes

NOON = datetime(2026, 1, 15, 12, 0)
GENERIC = "generic"
"""Id of the home for records that name none."""


@dataclass(frozen=True)
class Record:
    """One utterance with its home."""

    id: str
    text: str
    home: str | None = None
    """Id of its home; None = the generic one."""
    home_state: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Device id → state and attributes that differ from the home file for this record only."""
    area: str | None = None
    """Name or id of the speaker's room."""
    is_implicit: bool = False
    """The utterance means the speaker's room; without `area` any room will do."""
    device: str | None = None
    """Device that heard it; its room is the speaker's."""
    history: tuple[str, ...] = ()
    """What the same speaker said before, oldest first."""
    now: datetime = NOON
    """Local time of the home; the same for all records that do not say, so that answers do not depend on the hour."""


def read_records(
    data: Path, *, suite: str | None = None, source: str | None = None, split: str = "dev"
) -> tuple[Record, ...]:
    """Read the records of a suite or source ("all" and comma-separated lists too), each once. Raises ConfigError."""
    rows = {str(row["id"]): row for path in sorted(data.rglob(f"*.{split}.jsonl")) for row in _rows(path)}
    if not rows:
        raise ConfigError(
            f"no *.{split}.jsonl in this folder; wanted evaluation records, which are not part of the source", path=data
        )
    groups: dict[str, list[str]] = {}
    if suite is not None:
        groups = _suites(data / f"suites.{split}.json")
    else:
        for key, row in rows.items():
            groups.setdefault(str(row["source"]), []).append(key)
    wanted = suite or source or "all"
    names = list(groups) if wanted == "all" else wanted.split(",")
    for name in names:
        if name not in groups:
            what = "suite" if suite is not None else "source"
            raise ConfigError(f"no {what} {name!r}; there are {', '.join(sorted(groups))}", path=data)
    ids = dict.fromkeys(i for name in names for i in groups[name])
    if missing := next((i for i in ids if i not in rows), None):
        raise ConfigError(f"the suite lists {missing}, which is in no *.{split}.jsonl", path=data)
    return tuple(_record(rows[i]) for i in ids)


def read_homes(data: Path, generic: Path) -> dict[str, Home]:
    """Read all homes below a folder; the one of the other file serves records without a home. Raises ConfigError."""
    homes = {key: home for path in sorted(data.rglob("homes/*.yaml")) for key, home in load_homes(path).items()}
    if not generic.is_file():
        raise ConfigError("no such file; name the home of records without one with --generic-home FILE", path=generic)
    return homes | {GENERIC: next(iter(load_homes(generic).values()))}


def devices_of(record: Record, home: Home) -> tuple[Device, ...]:
    """The home's devices in the record's own state; devices that the record adds come last."""
    devices = {d.id: d for d in home.devices}
    for key, change in record.home_state.items():
        attributes = dict(change.get("attributes") or {})
        old = devices.get(key) or Device(key, str(attributes.get("friendly_name") or key), key.split(".")[0])
        state = change["state"] if change.get("state") is not None else old.state
        merged = {k: v for k, v in {**old.attributes, **attributes}.items() if v is not None}
        devices[key] = replace(old, state=None if state is None else str(state), attributes=merged)
    return tuple(devices.values())


def area_of(record: Record, home: Home, kinds: Iterable[tuple[str, str]] = ()) -> str | None:
    """Id of the speaker's room, or None if the record does not depend on one.

    Where any room will do, take one that has what the sentence speaks of; `kinds` are (device type, word for it).
    """
    if record.area is not None:
        wanted = record.area.casefold()
        found = (a.id for a in home.areas if wanted in (a.id.casefold(), *(n.casefold() for n in a.names)))
        return next(found, None)
    heard_by = next((d.area for d in home.devices if record.device in (d.id, d.id.rpartition(".")[2])), None)
    if heard_by or not record.is_implicit:
        return heard_by
    text = record.text.casefold()
    spoken = {kind for kind, word in kinds if word.casefold() in text}
    rooms = {a.id: [d.type for d in home.devices if d.area == a.id] for a in home.areas}
    fullest = sorted(rooms, key=lambda a: (-sum(t in spoken for t in rooms[a]), -len(rooms[a])))
    return home.speaker_area or next(iter(fullest), None)


def _record(row: Mapping[str, Any]) -> Record:
    context = row.get("context") or {}
    return Record(
        str(row["id"]),
        str(row["utterance"]),
        row.get("home"),
        row.get("home_state") or {},
        context.get("area"),
        bool(context.get("implicit")),
        context.get("satellite_device"),
        tuple(str(text) for who, text in context.get("history") or () if who == "user"),
        _time(context.get("now")),
    )


def _time(text: Any) -> datetime:
    """Wall-clock time of the home; a record that says it in another form runs at noon."""
    try:
        return datetime.fromisoformat(str(text)).replace(tzinfo=None)
    except ValueError:
        return NOON


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield {key: row[key] for key in row if key != "expected"}
        except (ValueError, TypeError) as err:
            raise ConfigError(f"not a JSON object: {err}", path=path, line=number) from err


def _suites(path: Path) -> dict[str, list[str]]:
    try:
        return {str(k): [str(x) for x in v] for k, v in json.loads(path.read_text("utf-8")).items()}
    except OSError as err:
        raise ConfigError(f"cannot be read ({err.strerror}); wanted suite name → record ids", path=path) from err
    except (ValueError, AttributeError, TypeError) as err:
        raise ConfigError(f"not a JSON object of suite name → record ids: {err}", path=path) from err


def kind_words(words: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Pairs of device type and word for it, out of the app's words files."""
    return tuple((kind, str(w)) for table in words for kind, found in (table.get("kinds") or {}).items() for w in found)
