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
        entries = [e for row in _rows(document, "entries") if (e := self._entry(row)) is not None]
        history = [p for row in _rows(document, "history") if (p := self._past(row)) is not None]
        next_id = document.get("next_id")
        return Saved(tuple(entries), tuple(history), next_id if isinstance(next_id, int) else len(entries) + 1)

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
        except (OSError, ValueError) as err:
            return self._set_aside(str(err))
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            return self._set_aside(f"it is no schedule of format {FORMAT}")
        return document

    def _set_aside(self, reason: str) -> dict[str, Any]:
        names = (self._path.with_name(f"{self._path.name}.corrupt-{n}") for n in range(1, 10_000))
        target = next(p for p in names if not p.exists())
        os.replace(self._path, target)
        self._warn(f"{self._path}: cannot be read ({reason}); kept as {target.name}, nothing is planned")
        return {}

    def _entry(self, row: Any) -> Entry | None:
        try:
            return entry_from_dict(row)
        except (AttributeError, KeyError, TypeError, ValueError) as err:
            self._warn(f"{self._path}: a planned entry is left out ({type(err).__name__}: {err})")
            return None

    def _past(self, row: Any) -> Past | None:
        try:
            entry = entry_from_dict(row["entry"])
            return Past(from_text(row["at"]), entry, str(row["outcome"]), str(row["say"]), dict(row["detail"]))
        except (AttributeError, KeyError, TypeError, ValueError) as err:
            self._warn(f"{self._path}: a line of the history is left out ({type(err).__name__}: {err})")
            return None

    def _warn(self, line: str) -> None:
        self.warnings += (line,)
        log.warning("%s", line)


def _past_to_dict(past: Past) -> dict[str, Any]:
    row = {"at": to_text(past.at), "entry": entry_to_dict(past.entry), "outcome": past.outcome}
    return row | {"say": past.say, "detail": dict(past.detail)}


def _rows(document: Mapping[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if isinstance(value, list) else []
