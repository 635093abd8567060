"""What happens when something planned is due, and what is asked about what was missed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from agentkit.agent.acting import Acting
from agentkit.agent.binding import bind
from agentkit.agent.dialogue import Pending, Wanted
from agentkit.agent.planning import times
from agentkit.agent.policy import Ruling
from agentkit.agent.reply import Replies
from agentkit.agent.scene_guard import consent
from agentkit.agent.schedule import Schedule
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.errors import ScheduleError
from agentkit.planned import Entry, EntryKind, Past
from agentkit.types import Outcome, Reply
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.talk import Talk

LATE, WAS_MISSED = "planned.late", "planned.was_missed"
"""Sentences of an app; without them nothing is said of it."""
LATE_S = 30
"""What is carried out later than this says so."""
MAX_TOLD = 5
"""Most missed things that are told at once, the newest."""


def carried_out(entry: Entry, view: HomeView, acting: Acting) -> End:
    """Run a planned command, or say that a timer or alarm is over; and that it comes late, if it does."""
    end = _carried_out(entry, view, acting)
    now = acting.now()
    if entry.due is None or (now - entry.due).total_seconds() < LATE_S:
        return end
    if not acting.replies.has(acting.replies.known(entry.language), LATE):
        return end
    return replace(end, sentences=(*end.sentences, Sentence(LATE, times(None, entry.due, now))))


def note_missed(schedule: Schedule, replies: Replies) -> None:
    """Give what was missed while nothing ran its sentence in the history."""

    def said(past: Past) -> str:
        language = replies.known(past.entry.language)
        key, values = _missed(past, past.at)
        return replies.render(language, key, values) if replies.has(language, key) else ""

    schedule.say_of_missed(said)


def asks_what_was_missed(turn: Turn, acting: Acting, talk: Talk) -> bool:
    """Whether a text asks for what was missed, in an app that can tell."""
    text = turn.text.text.strip(" .,!?")
    return acting.replies.has(turn.language, WAS_MISSED) and any(p.fullmatch(text) for p in talk.missed)


def told_missed(turn: Turn, acting: Acting) -> End:
    """Tell what was due while nothing ran and was not done."""
    said = turn.utterance
    missed = [p for p in acting.schedule.history() if p.outcome == "missed" and p.entry.user in (None, said.user)]
    rows = [Sentence(*_missed(p, acting.now())) for p in missed[-MAX_TOLD:]]
    return End(Outcome.ANSWER, tuple(rows) or (Sentence("planned.none_missed"),))


def _missed(past: Past, now: datetime) -> tuple[str, dict[str, Any]]:
    entry = past.entry
    due = datetime.fromisoformat(past.detail["due"]) if past.detail.get("due") else entry.due
    name = entry.text if entry.kind is EntryKind.COMMAND else entry.name
    return WAS_MISSED, {"name": name, **times(None, due, now)}


def _carried_out(entry: Entry, view: HomeView, acting: Acting) -> End:
    if entry.kind is EntryKind.COMMAND:
        return acting.perform_planned(entry, view)
    values = {"name": entry.name, "duration": entry.duration_s, "area": entry.area}
    key = "planned.timer_over" if entry.kind is EntryKind.TIMER else "planned.alarm_over"
    return End(Outcome.DONE, (Sentence(key, {k: v for k, v in values.items() if v is not None}),))


def past_of(entry: Entry, reply: Reply, now: datetime) -> Past:
    """The line of the history."""
    outcome = "fired" if entry.kind is EntryKind.COMMAND else "finished"
    return Past(now, entry, outcome, reply.say, {"outcome": reply.outcome.value})


def ask_about_missed(turn: Turn, end: End, acting: Acting) -> End:
    """Ask once, after another turn, whether what was missed while nothing ran is still wanted."""
    said = turn.utterance
    missed = [e for e in acting.schedule.missed() if e.user in (None, said.user)]
    if not missed or end.expects_reply or said.is_dry_run:
        return end
    entry = missed[0]
    try:
        acting.schedule.remove(entry.id)
    except ScheduleError as err:
        turn.why.append(str(err))
        return end
    bound = bind(entry.intents, turn.view, acting.tools)
    asked = consent(bound.steps, Ruling(), turn.view)
    pending = Pending(Wanted.YES_OR_NO, bound.pinned(), turn.language, said.user, asked=asked, source=said.source)
    acting.dialogue.ask(said.session, pending)
    values = {"action": acting.replies.describe(turn.language, bound.actions, turn.view)}
    question = Sentence("planned.missed", values | times(entry.when, entry.due, acting.now()))
    return replace(end, sentences=(*end.sentences, question), expects_reply=True)
