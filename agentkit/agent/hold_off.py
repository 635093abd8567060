"""Call off what is so for a while: nothing that it began goes on for good because its end was taken away."""

from __future__ import annotations

from collections.abc import Callable

from agentkit.agent.acting import Acting
from agentkit.agent.binding import bind
from agentkit.agent.dialogue import Answered
from agentkit.agent.kept_tools import CANCEL_ENTRIES
from agentkit.agent.overriding import whats_of
from agentkit.agent.turn import End, Turn
from agentkit.planned import Entry
from agentkit.policy_rules import Verdict
from agentkit.types import Intent


def hold_called_off(
    turn: Turn, acting: Acting, entry: Entry, undo: Callable[[Turn], Answered | End], *, is_new: bool
) -> Answered | None:
    """What brings an end about at once; None if only the end is to be taken away, because it asks for a yes itself.

    `is_new`: the last turn began it, so that what it changed is put back; else it is asked about.
    """
    steps = bind(entry.intents, turn.view, acting.known).steps
    said = turn.utterance
    is_free = bool(steps) and acting.judge(said.user, said.source).of(steps, turn.view).verdict is Verdict.ALLOW
    if not entry.is_end or not is_free:
        return None
    found = undo(turn) if is_new else None
    if not isinstance(found, Answered):
        return Answered(entry.intents, is_unsure=True, why="asks whether the end comes now")
    if whats_of(entry.intents) <= whats_of(found.intents):
        return found  # the end is dropped as soon as it came about, and no sooner
    return Answered((Intent(CANCEL_ENTRIES, {"ids": entry.id}), *found.intents), notes=found.notes, why=found.why)
