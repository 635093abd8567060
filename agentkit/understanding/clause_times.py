"""One clause among several, and whether the times in them tell which of them they hold for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """What a clause says of its time."""

    text: str
    is_now: bool
    """It says so."""
    is_timed: bool
    has_time_first: bool
    is_timer: bool
    """It is about a timer or an alarm, which has its own time."""
    is_reminder: bool
    """What follows may be what to be reminded of."""
    is_lasting: bool = False
    """Its time is but an end ("for ten minutes"), which says nothing about what follows."""
    is_countdown: bool = False
    """It is about a timer, which goes on beside what is done now; an alarm may be the hour of what follows."""
    is_ending: bool = False
    """It ends something, which a timer before it may be meant for."""


def needs_split(clauses: Sequence[Clause]) -> bool:
    """Whether a time may not hold for all clauses, or a timer stands beside another command."""
    if any(c.is_reminder for c in clauses[:-1]):
        return False
    timed = [c for c in clauses if c.is_timed and not c.is_timer]
    others = [c for c in clauses if not c.is_timer]
    is_later = any(c.has_time_first for c in clauses[1:] if not c.is_timer)
    is_mixed = bool(timed) and any(c.is_now for c in clauses if not c.is_timed)
    is_held = any(c.is_lasting for c in timed)
    return is_later or is_mixed or is_held or len(timed) > 1 or 0 < len(others) < len(clauses)


def is_unclear(clauses: Sequence[Clause], *, is_then: bool) -> bool:
    """Whether a time may hold for a neighbour: one behind it, or one before it that does not lead its clause.

    An end, and a timer beside what ends nothing, hold for no clause behind them, unless that is to come after them.
    """
    for n, clause in enumerate(clauses):
        if clause.is_timed or clause.is_now or clause.is_timer:
            continue
        before, after = clauses[:n], [c for c in clauses[n + 1 :] if c.is_timed and not c.is_timer]
        is_apart = {id(c) for c in before if c.is_lasting or (c.is_countdown and not clause.is_ending)}
        if any((c.is_timed or c.is_timer) and (is_then or id(c) not in is_apart) for c in before):
            return True
        if any(not c.has_time_first for c in after):
            return True
    return False
