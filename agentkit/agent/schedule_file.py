"""The file of the schedule: whole or as before after any crash; what cannot be read is set aside, never deleted."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentkit.devices.store import write_atomically
from agentkit.planned import Entry, Past, entry_from_dict, entry_to_dict, from_text, to_text

log = logging.getLogger(__name__)

FORMAT = 1
_BAD_ROW = (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError)
_FIRST, _LAST = 1900, 2300
_MOST_S = 10 * 366 * 86_400


@dataclass(frozen=True)
class Saved:
    """What the file holds."""

    entries: tuple[Entry, ...] = ()
    history: tuple[Past, ...] = ()
    next_id: int = 1


class ScheduleFile:
    """One JSON file."""

    def __init__(self, path: Path):
        self._path = path
        self.warnings: tuple[str, ...] = ()

    def load(self) -> Saved:
        """Read everything that can be read; each thing that cannot gives a warning."""
        document = self._document()
        entries: dict[str, Entry] = {}
        for row in self._rows(document, "entries"):
            entry = self._entry(row)
            if entry is not None and entry.id in entries:
                self._warn(f"{self._path}: a second entry {entry.id} is left out")
            elif entry is not None:
                entries[entry.id] = entry
        history = [p for row in self._rows(document, "history") if (p := self._past(row)) is not None]
        return Saved(tuple(entries.values()), tuple(history), _next_id(document, entries))

    def save(self, saved: Saved) -> None:
        """Write so that a crash leaves the old or the new file. Raises OSError."""
        document = {
            "format": FORMAT,
            "next_id": saved.next_id,
            "entries": [entry_to_dict(e) for e in saved.entries],
            "history": [_past_to_dict(p) for p in saved.history],
        }
        write_atomically(self._path, json.dumps(document, ensure_ascii=False, indent=1))

    def _document(self) -> dict[str, Any]:
        try:
            document = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as err:
            return self._set_aside(str(err))
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            return self._set_aside(f"it is no schedule of format {FORMAT}")
        return document

    def _set_aside(self, reason: str) -> dict[str, Any]:
        names = (self._path.with_name(f"{self._path.name}.corrupt-{n}") for n in range(1, 10_000))
        target = next(p for p in names if not p.exists())
        try:
            os.replace(self._path, target)
            kept = f"kept as {target.name}"
        except OSError as err:  # a folder that cannot be written: the start must go on, and nothing can overwrite it
            kept = f"left where it is ({err.strerror})"
        self._warn(f"{self._path}: cannot be read ({reason}); {kept}, nothing is planned")
        return {}

    def _rows(self, document: Mapping[str, Any], key: str) -> list[Any]:
        value = document.get(key)
        if key in document and not isinstance(value, list):
            self._warn(f"{self._path}: {key} is left out (it is {type(value).__name__}, wanted a list)")
        return value if isinstance(value, list) else []

    def _entry(self, row: Any) -> Entry | None:
        try:
            return _checked(entry_from_dict(row))
        except _BAD_ROW as err:
            self._warn(f"{self._path}: a planned entry is left out ({type(err).__name__}: {err})")
            return None

    def _past(self, row: Any) -> Past | None:
        try:
            entry = _checked(entry_from_dict(row["entry"]))
            return Past(from_text(row["at"]), entry, str(row["outcome"]), str(row["say"]), dict(row["detail"]))
        except _BAD_ROW as err:
            self._warn(f"{self._path}: a line of the history is left out ({type(err).__name__}: {err})")
            return None

    def _warn(self, line: str) -> None:
        self.warnings += (line,)
        log.warning("%s", line)


def _past_to_dict(past: Past) -> dict[str, Any]:
    row = {"at": to_text(past.at), "entry": entry_to_dict(past.entry), "outcome": past.outcome}
    return row | {"say": past.say, "detail": dict(past.detail)}


def _next_id(document: Mapping[str, Any], entries: Mapping[str, Entry]) -> int:
    """A number past every id that is taken: a file with a wrong one must not make a new plan replace an old one."""
    taken = [int(number) for key in entries if (number := key.rpartition("-")[2]).isdecimal() and len(number) < 10]
    said = document.get("next_id")
    if isinstance(said, int) and 0 < said < 10**9:
        taken.append(int(said) - 1)
    return max((len(entries), *taken)) + 1


def _checked(entry: Entry) -> Entry:
    """The entry, if times and names are of a kind that can be carried out. Raises TypeError or ValueError."""
    moments = [m for m in (entry.due, entry.created) if m is not None]
    period = None if entry.when is None else entry.when.seconds
    lengths = [x for x in (entry.left_s, entry.duration_s, period) if x is not None]
    if not all(_FIRST < moment.year < _LAST for moment in moments):
        raise ValueError(f"a moment is not between the years {_FIRST} and {_LAST}")
    if not all(0 <= length < _MOST_S for length in lengths):
        raise ValueError("a length is not between 0 seconds and ten years")
    if (rule := entry.when) is not None and not (
        (rule.hour is None or 0 <= rule.hour < 30) and 0 <= rule.minute < 60 and set(rule.weekdays) <= set(range(1, 8))
    ):
        raise ValueError("its rule names a time or day that does not exist")
    for intent in entry.intents:
        fields = [v for k, v in vars(intent.selector).items() if k not in ("device_class", "is_all", "is_one")]
        if not all(isinstance(v, tuple) and all(isinstance(x, str) for x in v) for v in fields):
            raise TypeError("what selects the devices is no list of names")
    return entry
