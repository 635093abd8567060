"""What happens when something planned is due, and what is asked about what was missed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from agentkit.agent.acting import Acting
from agentkit.agent.binding import bind
from agentkit.agent.dialogue import Pending, Wanted
from agentkit.agent.planning import times
from agentkit.agent.policy import Ruling
from agentkit.agent.scene_guard import consent
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.errors import ScheduleError
from agentkit.planned import Entry, EntryKind, Past
from agentkit.types import Outcome, Reply
from agentkit.understanding.home_view import HomeView


def carried_out(entry: Entry, view: HomeView, acting: Acting) -> End:
    """Run a planned command, or say that a timer or alarm is over."""
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
