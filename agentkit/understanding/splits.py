"""Where one command of a sentence ends and the next begins, and what the parts mean."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from agentkit.types import Intent, Selector
from agentkit.understanding.clause import ClauseReader
from agentkit.understanding.entries import PLACES, TARGETS, Item, Role
from agentkit.understanding.groups import GUARDS, borrowed_places, make_groups, share_place
from agentkit.understanding.heads import SETTING, Head, is_between, is_cut_short, is_placed

_MAX_SPLITS = 64


def best_split(items: Sequence[Item], heads: Sequence[Head], reader: ClauseReader) -> tuple[Intent, ...]:
    """Read the clauses under the most natural split; two equally natural ones that differ mean nothing."""
    if len(heads) <= 1:
        is_wrong = heads and not is_placed(heads[0], items, 0, len(items))
        if is_wrong or (heads and is_between(heads[0], items, 0, len(items))):
            return ()
        acts = heads[0].acts if heads and not _ends_in_preposition(heads[0], items) else (SETTING,)
        return _read_clause(items, acts, reader, None)
    gaps = [_bounds(items, a, b, is_verb_first=heads[0].first == 0) for a, b in itertools.pairwise(heads)]
    readings: list[tuple[int, tuple[Intent, ...]]] = []
    for bounds in itertools.islice(itertools.product(*gaps), _MAX_SPLITS):
        if found := _read_clauses(items, heads, bounds, reader):
            readings.append((_naturalness(items, heads, bounds), found))
    best = max((score for score, _ in readings), default=0)
    distinct = {repr(found): found for score, found in readings if score == best}
    return next(iter(distinct.values())) if len(distinct) == 1 else ()


def _ends_in_preposition(head: Head, items: Sequence[Item]) -> bool:
    """Whether what looks like the end of a verb stands between a value and a thing: "set it to 20 on the heater"."""
    inner, behind = items[head.first + 1 : head.last], items[head.last + 1 :]
    return any(i.role is Role.TO for i in inner) and any(i.role in TARGETS for i in behind)


def _bounds(items: Sequence[Item], head: Head, after: Head, *, is_verb_first: bool) -> Sequence[int]:
    """Where one clause may end: at the "and" that stands beside the verb, if one does."""
    if is_verb_first and items[after.first - 1].role is Role.ALSO:
        return (after.first - 1,)
    return range(head.last + 1, after.first + 1)


def _naturalness(items: Sequence[Item], heads: Sequence[Head], bounds: Sequence[int]) -> int:
    """Splits at "and" count most; then those that keep the verb where the first clause has it."""
    is_verb_first = heads[0].first == 0
    score = 0
    for bound, (head, after) in zip(bounds, itertools.pairwise(heads), strict=True):
        score += 4 if items[bound].role is Role.ALSO else 0
        gap = items[bound : after.first] if is_verb_first else items[head.last + 1 : bound]
        score += 1 if all(i.role is Role.ALSO for i in gap) else 0
    return score


def _read_clauses(
    items: Sequence[Item], heads: Sequence[Head], bounds: Sequence[int], reader: ClauseReader
) -> tuple[Intent, ...]:
    edges = [0, *bounds, len(items)]
    spans = list(itertools.pairwise(edges))
    clauses = [tuple(items[start:end]) for start, end in spans]
    found: tuple[Intent, ...] = ()
    before: Selector | None = None
    if any(is_between(head, items, start, end) for (start, end), head in zip(spans, heads, strict=True)):
        return ()
    if any(is_cut_short(clause, after) for clause, after in itertools.pairwise(clauses)):
        return ()
    for n, ((start, end), head) in enumerate(zip(spans, heads, strict=True)):
        places = borrowed_places(clauses, n) if is_placed(head, items, start, end) else ()
        readings = (_read_clause([*clauses[n], *place], head.acts, reader, before) for place in places)
        own_place = any(i.role in PLACES for i in clauses[n])
        clause = next((r for r in readings if r and (own_place or not _is_guard_borrowed(r))), ())
        if not clause:
            return ()
        found, before = found + tuple(c for c in clause if c not in found), clause[-1].selector
    return found


def _is_guard_borrowed(found: Sequence[Intent]) -> bool:
    """Whether what guards the home was to be chosen by a place that stands in another command."""
    return any(GUARDS & set(i.selector.types) and (i.selector.areas or i.selector.floors) for i in found)


def _read_clause(
    items: Sequence[Item], acts: Sequence[str], reader: ClauseReader, before: Selector | None
) -> tuple[Intent, ...]:
    """Read a clause; the ways to cut and to split one sentence share most of them."""
    key = (tuple(items), acts, before)
    if (found := reader.clauses.get(key)) is None:
        found = reader.clauses[key] = _read_groups(items, acts, reader, before)
    return found


def _read_groups(
    items: Sequence[Item], acts: Sequence[str], reader: ClauseReader, before: Selector | None
) -> tuple[Intent, ...]:
    """Read the groups of a clause; a place at its end may hold for all of them ("the lamp and the fan in the hall")."""
    groups = make_groups(items)
    if acts == (SETTING,) and not any(g.values for g in groups):
        return ()
    for choice in (share_place(groups), groups):
        found: tuple[Intent, ...] = ()
        last = before
        for group in choice:
            intents = reader.read(acts, group, last)
            if not intents:
                found = ()
                break
            found, last = found + intents, intents[-1].selector
        if found:
            return tuple(intent for n, intent in enumerate(found) if intent not in found[:n])
    return ()
