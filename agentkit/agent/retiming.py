"""Correct what was just planned: its time ("make it 20", "no, at ten") or its device ("no, the hallway light")."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from agentkit.agent.acting import Acting
from agentkit.agent.binding import bind
from agentkit.agent.dialogue import Answered
from agentkit.agent.kept_tools import CANCEL_ENTRIES, SHIFT_ENTRIES
from agentkit.agent.memory import Done
from agentkit.agent.rewriting import framed
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.planned import Entry, EntryKind
from agentkit.types import Intent, Outcome
from agentkit.understanding.durations import find_durations
from agentkit.understanding.holding import read_end
from agentkit.understanding.numbers import find_numbers, plain
from agentkit.understanding.when import find_when
from agentkit.understanding.words import Words
from agentkit.when import When, WhenKind, end_of

Like = Callable[[Turn, str, Done], tuple[Intent, ...]]
"""The intent of something done, for other devices that a text names; empty if it names none."""

_EDGES = " ,.;!?"
_HALF_DAY = timedelta(hours=12)
_UNITS = (3600, 60, 1)


def retimed(turn: Turn, acting: Acting, entry: Entry, words: Words) -> Answered | End | None:
    """The entry at the time that a text gives instead; None if it gives none."""
    now = acting.now()
    for rest in _said_instead(turn, words):
        seconds = _by_length(rest, entry, words)
        seconds = _by_clock(rest, entry, words, now) if seconds is None else seconds
        seconds = _by_end(rest, entry, words, now) if seconds is None else seconds
        if seconds is not None:
            return shifted(turn, acting, entry, seconds, "corrects the time of what was just planned")
    return None


def shifted(turn: Turn, acting: Acting, entry: Entry, seconds: float, why: str) -> Answered | End:
    """An entry at another time; a later end of what needed a yes needs one more, and never passes without the code."""
    args = {"ids": entry.id, "seconds": plain(seconds), **named_anew(turn, acting, entry)}
    is_guarded = is_guarded_end(entry) and seconds > 0 and entry.due is not None
    if not is_guarded or entry.due is None:
        return Answered((Intent(SHIFT_ENTRIES, args),), why=why)
    if entry.has_pin:
        return End(Outcome.REFUSED, (Sentence("refused.denied"),))
    args["name"] = args.get("text", entry.text)
    args["time"] = (entry.due + timedelta(seconds=seconds)).strftime("%H:%M")
    return Answered((Intent(SHIFT_ENTRIES, args),), is_unsure=True, why=f"{why}, and a yes was for the old time")


def is_guarded_end(entry: Entry) -> bool:
    """Whether an entry ends something that needed a yes or the code."""
    return entry.is_end and (entry.is_confirmed or entry.has_pin)


def retargeted(turn: Turn, acting: Acting, entry: Entry, words: Words, like: Like) -> Answered | None:
    """The command for the devices that a text names instead, in the place of the entry; None if it names none."""
    if len(entry.intents) != 1 or entry.is_end:
        return None
    base = Done(entry.intents[0], entry.intents[0].selector.device_ids)
    for rest in _said_instead(turn, words):
        if not (intents := like(turn, rest, base)):
            continue
        bound = bind(intents, turn.view, acting.known)
        text = acting.replies.describe(turn.language, bound.actions, turn.view) if bound.steps else None
        instead = Answered(
            intents, when=same_time(entry, acting.now()), text=text, why="corrects what was just planned"
        )
        if bound.refusals or bound.question is not None:
            return instead
        old = Intent(CANCEL_ENTRIES, {"ids": entry.id})
        return Answered((old,), then=(instead,), why=instead.why)
    return None


def same_time(entry: Entry, now: datetime) -> When:
    """A time that comes when an entry is due, by the same rule if it has one."""
    when = entry.when
    if when is not None and when.due(now) == entry.due:
        return when
    return When(WhenKind.DELAY, entry.seconds_left(now))


def named_anew(turn: Turn, acting: Acting, entry: Entry) -> dict[str, str]:
    """What a command is called from now on, because its own words tell the old time."""
    if entry.kind is not EntryKind.COMMAND:
        return {}
    bound = bind(entry.intents, turn.view, acting.known)
    return {"text": acting.replies.describe(entry.language, bound.actions, turn.view)} if bound.steps else {}


def _said_instead(turn: Turn, words: Words) -> Iterator[str]:
    for frames in (words.talk.retimes, words.talk.corrections):
        for rest in framed(turn.text, frames):
            yield rest
            yield from framed(replace(turn.text, text=rest, original=rest), words.talk.retimes)


def _length_of(entry: Entry) -> float | None:
    """How long an entry was to wait, if that was said."""
    if entry.kind is EntryKind.TIMER:
        return entry.duration_s
    return entry.when.seconds if entry.when is not None and entry.when.kind is WhenKind.DELAY else None


def _by_length(rest: str, entry: Entry, words: Words) -> float | None:
    """How much longer it takes with the length of time that is all of a text; a bare number has the unit of before."""
    before, text = _length_of(entry), rest.strip(_EDGES).lower()
    if before is None:
        return None
    when = (found := find_when(text, words.time)).when
    if when is not None and when.kind is WhenKind.DELAY and when.seconds and not found.rest.strip(_EDGES):
        return when.seconds - before
    lengths = find_durations(text, words.time)
    lead = text[: lengths[0].start].strip() if lengths else ""
    if len(lengths) == 1 and lengths[0].end == len(text) and lead in ("", "in", "for"):
        return lengths[0].seconds - before
    numbers = find_numbers(text)
    if len(numbers) != 1 or (numbers[0].start, numbers[0].end) != (0, len(text)):
        return None
    unit = next(u for u in _UNITS if (before >= u and before % u == 0) or u == 1)
    return float(numbers[0].value) * unit - before


def _by_end(rest: str, entry: Entry, words: Words, now: datetime) -> float | None:
    """How much later the end is that is all of a text ("until eleven")."""
    until = read_end(rest.strip(_EDGES), words.time) if entry.is_end else None
    ends = None if until is None else end_of(None, until, now)
    return None if ends is None or entry.due is None else _whole(ends[1] - entry.due)


def _by_clock(rest: str, entry: Entry, words: Words, now: datetime) -> float | None:
    """How much later the clock time is that is all of a text; of two halves of a day the nearer one."""
    found = find_when(rest.strip(_EDGES), words.time, is_time=True)
    planned = entry.due
    if planned is None or found.when is None or found.when.kind is not WhenKind.AT or found.rest.strip(_EDGES):
        return None
    due = found.when.due(now)
    if due is None:
        return None
    if found.when.day_offset is None and not found.when.weekdays and found.when.month_day is None:
        due = due.replace(year=planned.year, month=planned.month, day=planned.day)
    dues = [due, due + _HALF_DAY, due - _HALF_DAY] if found.when.is_half_open else [due]
    coming = [d for d in dues if d > now]
    nearest = min(coming, key=lambda d: abs(d - planned)) if coming else None
    return None if nearest is None else _whole(nearest - planned)


def _whole(later: timedelta) -> int:
    """Whole seconds, never less, so that a time is not told as the minute before it."""
    return math.ceil(later.total_seconds())
