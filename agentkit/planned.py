"""What is kept for later: planned commands, timers and alarms, as plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from agentkit.types import Intent, Selector
from agentkit.when import When, when_from_dict

MISSED = ("run", "skip", "ask")


class EntryKind(StrEnum):
    """What happens when it is due."""

    COMMAND = "command"
    TIMER = "timer"
    ALARM = "alarm"
    REMINDER = "reminder"


@dataclass(frozen=True)
class Effect:
    """A guarded change of a device that a command does not name, such as what a scene sets."""

    tool: str
    """Tool that brings it."""
    device_id: str
    state: str | None
    attributes: str
    """As JSON text with sorted keys, so that two of them can be compared."""


@dataclass(frozen=True)
class Consent:
    """What somebody was asked about: a yes covers this and nothing else."""

    effects: tuple[Effect, ...] = ()
    devices: tuple[str, ...] = ()
    """Identity of every device concerned, as it was known then."""

    def covers(self, other: Consent) -> bool:
        """Whether all of it was asked about, on the very same devices."""
        return set(other.effects) <= set(self.effects) and set(other.devices) <= set(self.devices)


NO_CONSENT = Consent()


@dataclass(frozen=True)
class Entry:
    """One thing to come."""

    kind: EntryKind
    due: datetime | None
    """Local time; None while a timer is paused."""
    created: datetime
    id: str = ""
    """Empty until the schedule gives one."""
    text: str = ""
    """The command as said."""
    intents: tuple[Intent, ...] = ()
    """What a command does, understood and bound to devices when it was said."""
    when: When | None = None
    """The rule of a command or alarm; a recurring one is armed again when it was due."""
    is_confirmed: bool = False
    """The policy's question was answered with yes."""
    has_pin: bool = False
    """The code was given for it."""
    name: str | None = None
    area: str | None = None
    """Area id: of the speaker, or of the timer if one was said."""
    session: str = "default"
    user: str | None = None
    source: str = "cli"
    language: str = "en"
    duration_s: float | None = None
    """Length of a timer when it was started."""
    left_s: float | None = None
    """What is left of a paused timer."""
    is_missed: bool = False
    """It was due while nothing ran, and waits for somebody to decide."""
    asked: Consent = NO_CONSENT
    """What the yes or the code was given for."""
    is_end: bool = False
    """It undoes what is so until then ("for an hour")."""
    runs_late: bool = False
    """It is done after a start however long ago it was due: no heater goes on because the power failed."""

    def seconds_left(self, now: datetime) -> float:
        """Seconds until it is due, at least 0."""
        if self.due is None:
            return self.left_s or 0.0
        return max(0.0, (self.due - now).total_seconds())


@dataclass(frozen=True)
class ScheduleRules:
    """What to do about what was due while nothing ran."""

    missed: str = "skip"
    """run: carry it out late; skip: say so in the history; ask: ask at the next turn."""
    missed_after_minutes: float = 10
    """What is later than this counts as missed; what is younger is still carried out."""


@dataclass(frozen=True)
class EntryChange:
    """What a tool wants to become of an entry: a new one has no id yet."""

    entry: Entry
    is_removed: bool = False


@dataclass(frozen=True)
class Past:
    """One line of the history: what came due and what became of it."""

    at: datetime
    entry: Entry
    outcome: str
    """fired, finished, skipped, missed, interrupted or cancelled."""
    say: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


def entry_to_dict(entry: Entry) -> dict[str, Any]:
    """Plain data; moments carry their UTC offset, so that they survive a change of clocks."""
    row = {k: getattr(entry, k) for k in ("id", "text", "name", "area", "session", "user", "source", "language")}
    row |= {"kind": entry.kind.value, "due": to_text(entry.due), "created": to_text(entry.created)}
    row |= {
        "intents": [intent_to_dict(i) for i in entry.intents],
        "is_confirmed": entry.is_confirmed,
        "has_pin": entry.has_pin,
        "asked": {"effects": [vars(e) for e in entry.asked.effects], "devices": list(entry.asked.devices)},
    }
    row |= {"when": None if entry.when is None else entry.when.as_dict(), "is_missed": entry.is_missed}
    row |= {k: True for k in ("is_end", "runs_late") if getattr(entry, k)}
    return row | {"duration_s": entry.duration_s, "left_s": entry.left_s}


def entry_from_dict(row: Mapping[str, Any]) -> Entry:
    """Build an entry from plain data. Raises KeyError, TypeError or ValueError for what is none."""
    texts = {k: row.get(k) for k in ("id", "text", "name", "area", "session", "user", "source", "language")}
    if not all(v is None or isinstance(v, str) for v in texts.values()) or not texts["id"]:
        raise ValueError("id and names must be text")
    created = from_text(row["created"])
    due = None if row.get("due") is None else from_text(row["due"])
    if due is None and row.get("left_s") is None:
        raise ValueError("it has neither due nor left_s")
    return Entry(
        EntryKind(row["kind"]),
        due,
        created,
        str(texts["id"]),
        texts["text"] or "",
        tuple(intent_from_dict(i) for i in row.get("intents") or ()),
        None if row.get("when") is None else when_from_dict(row["when"]),
        bool(row.get("is_confirmed")),
        bool(row.get("has_pin")),
        texts["name"],
        texts["area"],
        texts["session"] or "default",
        texts["user"],
        texts["source"] or "cli",
        texts["language"] or "en",
        None if row.get("duration_s") is None else float(row["duration_s"]),
        None if row.get("left_s") is None else float(row["left_s"]),
        bool(row.get("is_missed")),
        _consent_from_dict(row.get("asked") or {}),
        bool(row.get("is_end")),
        bool(row.get("runs_late")),
    )


def _consent_from_dict(row: Mapping[str, Any]) -> Consent:
    effects = tuple(Effect(e["tool"], e["device_id"], e["state"], e["attributes"]) for e in row.get("effects") or ())
    return Consent(effects, tuple(str(d) for d in row.get("devices") or ()))


def intent_to_dict(intent: Intent) -> dict[str, Any]:
    """Plain data of an intent."""
    selector = {k: v for k, v in vars(intent.selector).items() if v not in ((), None, False)}
    return {"tool": intent.tool, "args": dict(intent.args), "selector": selector}


def intent_from_dict(row: Mapping[str, Any]) -> Intent:
    """Build an intent from plain data. Raises KeyError, TypeError or ValueError."""
    selector: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in (row.get("selector") or {}).items()
    }
    args = {str(k): tuple(v) if isinstance(v, list) else v for k, v in (row.get("args") or {}).items()}
    return Intent(str(row["tool"]), args, Selector(**selector))


def to_text(moment: datetime | None) -> str | None:
    """ISO 8601 with the offset that holds at that moment."""
    return None if moment is None else moment.astimezone().isoformat()


def from_text(text: Any) -> datetime:
    """Local time without an offset. Raises ValueError."""
    moment = datetime.fromisoformat(str(text))
    return moment if moment.tzinfo is None else moment.astimezone().replace(tzinfo=None)
