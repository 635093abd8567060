"""Which moment an entry is due at, and what becomes of one that was missed. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from agentkit.planned import Entry, EntryKind, ScheduleRules
from agentkit.when import WhenKind


def after_missing(entry: Entry, rules: ScheduleRules, now: datetime) -> Entry | None:
    """What is kept of an entry that was due while nothing ran: itself, a question, its next time, or nothing."""
    again = armed(entry, now)
    if again is not None:
        return again
    if rules.missed == "ask" and entry.kind is EntryKind.COMMAND:
        return replace(entry, is_missed=True)
    return None


def runs_late(entry: Entry, rules: ScheduleRules) -> bool:
    """Whether a command is still run that was due long ago, while nothing ran."""
    return entry.kind is EntryKind.COMMAND and (rules.missed == "run" or entry.runs_late)


def is_relative(entry: Entry) -> bool:
    """Whether an entry was given as a length of time and not as a time of day."""
    return entry.kind is EntryKind.TIMER or entry.when is None or entry.when.hour is None


def armed(entry: Entry, now: datetime) -> Entry | None:
    """Return the entry for its next time, if it repeats."""
    if entry.when is None or entry.when.kind is not WhenKind.RECURRING:
        return None
    if entry.when.hour is not None:
        return replace(entry, due=entry.when.due(now))
    period = entry.when.seconds or 0
    if entry.due is None or period <= 0:
        return None
    n_periods = max(1, int((now - entry.due).total_seconds() // period) + 1)
    return replace(entry, due=entry.due + timedelta(seconds=period * n_periods))
