"""Follow-ups to what was just planned or is so for a while: "the kitchen too", "no, the hall", "undo"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from agentkit.agent.acting import Acting
from agentkit.agent.calling_off import just_planned, planned_now
from agentkit.agent.dialogue import Answered
from agentkit.agent.hold_off import hold_called_off
from agentkit.agent.kept_tools import CANCEL_ENTRIES
from agentkit.agent.memory import Done
from agentkit.agent.overriding import whats_of
from agentkit.agent.retiming import same_time
from agentkit.agent.turn import End, Turn
from agentkit.planned import Entry
from agentkit.types import Intent
from agentkit.when import When, WhenKind

Found = TypeVar("Found", Answered, Answered | End, Answered | None)


def undone(turn: Turn, acting: Acting, undo: Callable[[Turn], Answered | End]) -> Answered | End:
    """What the last turn planned, called off, or what it did, put back; both if it did something for a while."""
    entry = just_planned(turn, acting)
    found = None if entry is None else hold_called_off(turn, acting, entry, undo, is_new=True)
    back = undo(turn) if found is None and entry is not None and entry.is_end else found
    if entry is not None and found is None and isinstance(back, Answered):
        return replace(back, intents=(_cancelled(entry), *back.intents))
    return found or planned_now(turn, acting) or undo(turn)


def with_end(found: Found, entry: Entry | None, acting: Acting, *, is_instead: bool) -> Found:
    """A follow-up to what is so for a while, with the same end; `is_instead`: that end is called off."""
    if not isinstance(found, Answered) or entry is None or not entry.is_end or found.when is not None:
        return found
    when = When(WhenKind.NOW, until=same_time(entry, acting.now()))
    if not is_instead:
        return replace(found, when=when)
    old = whats_of(entry.intents) - whats_of(found.intents[: found.n_back])
    is_safe = all(tool.is_ending for i in entry.intents if (tool := acting.tools.get(i.tool)) is not None)
    if not old:
        return replace(found, when=when)  # the end is dropped as soon as it came about
    first: tuple[Intent, ...] = entry.intents if is_safe else (_cancelled(entry),)
    return replace(found, when=when, intents=(*first, *found.intents), n_back=found.n_back + len(first))


def also_then(
    turn: Turn, acting: Acting, entry: Entry | None, also: Callable[[Turn, Sequence[Done]], Answered | None]
) -> Answered | None:
    """What was just planned, for more devices at the same time."""
    if entry is None or len(entry.intents) != 1:
        return None
    found = also(turn, (Done(entry.intents[0], entry.intents[0].selector.device_ids),))
    return None if found is None else replace(found, when=same_time(entry, acting.now()))


def _cancelled(entry: Entry) -> Intent:
    return Intent(CANCEL_ENTRIES, {"ids": entry.id})
