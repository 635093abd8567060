"""Planned commands, timers and the history as they go over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from agentkit.agent.trace import TurnRecord
from agentkit.planned import Entry, EntryKind, Past, intent_to_dict, to_text


class ScheduleOut(BaseModel):
    """A planned command."""

    id: str
    command: str
    due: str | None
    """Local time with its offset."""
    repeats: str | None
    """"07:00 every 1,2" (Monday is 1) or "every 3600 s"; null = once."""
    calls: list[dict[str, Any]]
    is_missed: bool
    area: str | None
    user: str | None
    source: str
    language: str
    created: str

    @classmethod
    def from_entry(cls, entry: Entry) -> ScheduleOut:
        """Build the answer."""
        return cls(
            id=entry.id,
            command=entry.text,
            due=to_text(entry.due),
            repeats=_repeats(entry),
            calls=[intent_to_dict(i) for i in entry.intents],
            is_missed=entry.is_missed,
            area=entry.area,
            user=entry.user,
            source=entry.source,
            language=entry.language,
            created=to_text(entry.created) or "",
        )


class TimerOut(BaseModel):
    """A timer, alarm or reminder."""

    id: str
    kind: EntryKind
    name: str | None
    area: str | None
    state: Literal["running", "paused"]
    duration_s: float | None
    left_s: float
    due: str | None
    repeats: str | None

    @classmethod
    def from_entry(cls, entry: Entry, now: datetime) -> TimerOut:
        """Build the answer."""
        return cls(
            id=entry.id,
            kind=entry.kind,
            name=entry.name,
            area=entry.area,
            state="paused" if entry.due is None else "running",
            duration_s=entry.duration_s,
            left_s=round(entry.seconds_left(now), 1),
            due=to_text(entry.due),
            repeats=_repeats(entry),
        )


class PastOut(BaseModel):
    """Something that came due, was missed or was interrupted."""

    at: str
    id: str
    kind: str
    command: str
    name: str | None
    outcome: str
    say: str
    detail: dict[str, Any]

    @classmethod
    def from_past(cls, past: Past) -> PastOut:
        """Build the answer."""
        entry = past.entry
        return cls(
            at=to_text(past.at) or "",
            id=entry.id,
            kind=entry.kind.value,
            command=entry.text,
            name=entry.name,
            outcome=past.outcome,
            say=past.say,
            detail=dict(past.detail),
        )


class TurnOut(BaseModel):
    """A turn as it went."""

    at: str
    text: str
    source: str
    session: str
    outcome: str
    say: str
    why: str

    @classmethod
    def from_record(cls, record: TurnRecord) -> TurnOut:
        """Build the answer."""
        said, reply = record.utterance, record.reply
        return cls(
            at=to_text(record.at) or "",
            text=said.text,
            source=said.source,
            session=said.session,
            outcome=reply.outcome.value,
            say=reply.say,
            why=reply.why,
        )


def _repeats(entry: Entry) -> str | None:
    when = entry.when
    if when is None or when.kind.value != "recurring":
        return None
    return f"every {when.seconds:g} s" if when.hour is None else when.spec()
