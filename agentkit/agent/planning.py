"""What a plan is called, kept as and said like."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agentkit.agent.binding import Bound
from agentkit.agent.dialogue import Answered
from agentkit.agent.reply import Replies
from agentkit.agent.turn import Sentence, Turn
from agentkit.planned import Entry, EntryKind
from agentkit.types import Call
from agentkit.when import When, WhenKind


def planned_call(bound: Bound, when: When, due: datetime | None) -> Call:
    """The one call that a plan is, with the calls it will make; without `due` it is only understood so far."""
    calls = tuple(
        {"tool": c.tool, "args": dict(c.args), "targets": list(c.targets)}
        for c in bound.calls(is_running=due is not None)
    )
    if when.kind is WhenKind.DELAY:
        time: dict[str, Any] = {"after_seconds": _plain(when.seconds or 0)}
    elif when.kind is WhenKind.AT and due is not None:
        time = {"at": due.isoformat(timespec="minutes")}
    elif when.hour is None:
        time = {"every_seconds": _plain(when.seconds or 0)}
    else:
        time = {"at": when.spec()}
    return Call("schedule", {**time, "calls": calls}, ())


def new_entry(turn: Turn, bound: Bound, meant: Answered, when: When, due: datetime, now: datetime) -> Entry:
    """The entry to keep: the intents bound to their devices, and who wanted it."""
    said = turn.utterance
    return Entry(
        EntryKind.COMMAND,
        due,
        now,
        text=meant.text or said.text,
        intents=bound.pinned(),
        when=when,
        is_confirmed=meant.is_confirmed,
        has_pin=meant.has_pin,
        asked=meant.asked,
        area=turn.view.speaker_area,
        session=said.session,
        user=said.user,
        source=said.source,
        language=turn.language,
    )


def planned_sentence(replies: Replies, turn: Turn, bound: Bound, when: When, due: datetime, now: datetime) -> Sentence:
    """What is said of a new plan: when, with the clock time, and what."""
    action = replies.describe(turn.language, bound.actions, turn.view)
    return Sentence(*_timed(when, due, now, action))


def times(when: When | None, due: datetime | None, now: datetime) -> dict[str, Any]:
    """Values for a sentence: time, day, weekdays, and what is left."""
    if due is None:
        return {}
    found: dict[str, Any] = {"time": due.strftime("%H:%M"), "left": max(0.0, (due - now).total_seconds())}
    if when is not None and when.kind is WhenKind.RECURRING:
        found["period" if when.hour is None else "weekdays"] = (
            when.seconds if when.hour is None else day_key(when.weekdays)
        )
        return found
    return found | {"on_day": day_of(due, now)}


def day_of(due: datetime, now: datetime) -> str:
    """Key of the day's word: today, tomorrow, 1 to 7 within a week, else the date."""
    n_days = (due.date() - now.date()).days
    if n_days < 2:
        return "today" if n_days == 0 else "tomorrow"
    return str(due.isoweekday()) if n_days < 7 else due.date().isoformat()


def day_key(weekdays: Sequence[int]) -> tuple[str, ...] | str:
    """Key of the words for the days of a rule."""
    known = {(): "daily", (1, 2, 3, 4, 5): "workdays", (6, 7): "weekend", (1, 2, 3, 4, 5, 6, 7): "daily"}
    return known.get(tuple(weekdays)) or tuple(f"each {d}" for d in weekdays)


def _timed(when: When, due: datetime, now: datetime, action: str) -> tuple[str, dict[str, Any]]:
    values = {"action": action, **times(when, due, now)}
    if when.kind is WhenKind.DELAY:
        return "planned.delay", values | {"duration": when.seconds}
    if when.kind is WhenKind.AT:
        return ("planned.today" if values["on_day"] == "today" else "planned.at"), values
    return ("planned.period" if when.hour is None else "planned.every"), values


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value
