"""Verbs of a sentence: the pieces that make one, what it may mean, and on which side of its object it stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from agentkit.understanding.entries import KINDS, TARGETS, THINGS, VALUES, VERBS, Item, Role
from agentkit.understanding.normalise import fold
from agentkit.understanding.words import Words

VerbTable = Mapping[tuple[str, ...], tuple[str, ...]]
"""Halves of a verb → acts it may mean."""
THINGS_OR_ALL = THINGS | {Role.ALL}
_PARTICLES = frozenset({Role.ACT, Role.PREPOSITION})
_AFTER_PREPOSITION = frozenset({Role.AREA, Role.FLOOR, Role.NAME, Role.PART})


SETTING = "set"
"""The act that only a value makes complete."""


@dataclass(frozen=True)
class Head:
    """The verb of one clause, with the places of its halves."""

    acts: tuple[str, ...]
    first: int
    last: int
    side: str = ""
    """after: it must come after what it acts on ("lights on"); before: it must come before it (关了灯)."""
    leads: bool = False
    """It must be the first of the sentence ("on the fan"); elsewhere it is no verb."""
    follows: bool = False
    """It is the particle of the verb before it, behind an "and" ("turn on the fan and off the lamp")."""


def verb_table(words: Words) -> VerbTable:
    """Halves of a phrase → acts it may mean."""
    table: dict[tuple[str, ...], tuple[str, ...]] = {}
    for act, phrases in words.verbs.items():
        for phrase in phrases:
            chunks = tuple(text for chunk in phrase.split("…") if (text := fold(chunk, words)))
            key = (phrase[0], *chunks) if phrase[0] in "…^" else (*chunks, "…") if phrase.endswith("…") else chunks
            table[key] = (*table.get(key, ()), act)
    return table


def is_verb_missed(
    items: Sequence[Item], verbs: VerbTable, opposites: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> bool:
    """Whether a word that can be a verb was taken for a thing although it leads a clause ("lock the back door").

    So is one whose particle follows ("switch off the power"), and one alone behind "and" that is contrary to a verb
    before it: "unlock the door and lock".
    """
    for n, item in enumerate(items):
        leads = n == 0 or items[n - 1].role is Role.ALSO
        is_kind = item.role in KINDS
        if n + 1 == len(items):
            return n > 0 and leads and is_kind and _is_contrary(item, items[:n], verbs, opposites)
        if leads and is_kind and items[n + 1].role in THINGS_OR_ALL and (item.text,) in verbs:
            return True
        particles = (i.text.split()[-1] for i in items[n + 1 :] if i.role in _PARTICLES)
        if leads and is_kind and any((f"{item.text} {p}",) in verbs or (item.text, p) in verbs for p in particles):
            return True  # "switch … off"
    return False


def is_verb_split(cut: Sequence[Item], verbs: VerbTable) -> bool:
    """Whether a verb was cut in two, its first half taken for a thing or the end of one: "unlock it, lock it"."""
    return any(i.role in THINGS and _joins(i, after, verbs) for i, after in itertools.pairwise(cut))


def _joins(item: Item, after: Item, verbs: VerbTable) -> bool:
    """Whether a word for a thing is a verb together with the piece behind it: "lock" before "it", 锁 before 上."""
    if after.role is Role.IT:
        return (item.text.split()[-1],) in verbs
    is_apart = item.text.isascii() or item.end != after.start or (after.role in VERBS and (after.text,) in verbs)
    return not is_apart and any((item.text[n:] + after.text,) in verbs for n in range(len(item.text)))


def _is_contrary(item: Item, before: Sequence[Item], verbs: VerbTable, opposites: Mapping[str, Sequence[str]]) -> bool:
    """Whether a word would, as a verb, take back what a verb before it does."""
    contrary = {other for act in verbs.get((item.text,), ()) for other in opposites.get(act, ())}
    return any(contrary & set(verbs.get((i.value,), ())) for i in before if i.role is Role.ACT)


def head_choices(items: Sequence[Item], verbs: VerbTable) -> Iterator[tuple[Head, ...]]:
    """Ways to join the verb pieces into verbs, the longer ones first."""
    places = [n for n, i in enumerate(items) if i.role in VERBS]

    def walk(at: int) -> Iterator[tuple[Head, ...]]:
        if at >= len(places):
            yield ()
            return
        for n in (3, 2, 1):
            chosen = places[at : at + n]
            pieces = [items[p] for p in chosen]
            if len(chosen) < n or (n > 1 and any(p.role is Role.STATE for p in pieces)):
                continue
            for acts, side in _acts_of(pieces, verbs):
                head = Head(acts, chosen[0], chosen[-1], side, leads=side == "first")
                if not head.leads or len(places) == 1:
                    yield from ((head, *rest) for rest in walk(at + n))
            if n == 1 and (acts := _as_particle(items, chosen[0], verbs)):
                yield from ((Head(acts, chosen[0], chosen[0], follows=True), *rest) for rest in walk(at + 1))

    yield from walk(0)


def with_led(heads: Sequence[Head], items: Sequence[Item]) -> tuple[Head, ...]:
    """The verbs with a silent one before them, for a value that leads: "red on the lamp and close the curtain"."""
    first = heads[0].first if heads else 0
    before = items[: first - 1] if first > 1 and items[first - 1].role is Role.ALSO else ()
    is_setting = any(i.role in VALUES for i in before) and any(i.role in THINGS for i in before)
    return (Head((SETTING,), 0, -1), *heads) if is_setting else ()


def _as_particle(items: Sequence[Item], at: int, verbs: VerbTable) -> tuple[str, ...]:
    """Acts of a particle right behind "and", with the verb of the command before it; none if there is none."""
    if at == 0 or items[at - 1].role is not Role.ALSO:
        return ()
    for before in (i.value.split()[0] for i in reversed(items[:at]) if i.role is Role.ACT):
        for key in ((f"{before} {items[at].text}",), (before, items[at].text)):
            if key in verbs:
                return verbs[key]
    return ()


def is_particle_missed(cut: Sequence[Item], verbs: VerbTable) -> bool:
    """Whether the particle of a verb was taken for a preposition: "turn on …", "… and on the radio"."""
    items = [i for i in cut if i.role is not Role.FILLER]
    for n, (item, after) in enumerate(itertools.pairwise(items)):
        if after.role is not Role.PREPOSITION:
            continue
        if item.role is Role.ACT and (f"{item.text} {after.text}",) in verbs:
            return True
        last = next((i for i in reversed(items[: n + 1]) if i.role is Role.ACT), None)
        is_same = last is None or last.text.split()[-1] == after.text
        is_floor = any(i.role is Role.FLOOR for i in items[n + 2 : n + 3])
        if not is_same and not is_floor and _as_particle(items, n + 1, verbs):
            return True
    return False


def _acts_of(pieces: Sequence[Item], verbs: VerbTable) -> Iterator[tuple[tuple[str, ...], str]]:
    """Acts that verb pieces may mean, and on which side of what they act on they must stand."""
    if pieces[0].role is Role.STATE:
        yield (pieces[0].value,), ""
        return
    chunks = tuple(p.value for p in pieces)
    sides = ((chunks, ""), (("…", *chunks), "after"), ((*chunks, "…"), "before"), (("^", *chunks), "first"))
    for key, side in sides:
        if key in verbs:
            yield verbs[key], side


def is_between(head: Head, items: Sequence[Item], start: int, end: int) -> bool:
    """Whether a verb follows an "and" with a thing of its own, so that what stands before it has lost its verb."""
    if head.first - 1 <= start or items[head.first - 1].role is not Role.ALSO:
        return False
    before, after = items[start : head.first], items[head.last + 1 : end]
    return all(any(i.role in THINGS for i in part) for part in (before, after))


def is_cut_short(clause: Sequence[Item], after: Sequence[Item]) -> bool:
    """Whether a verb without an object is followed by another one with nothing between ("lock stop the door")."""
    return after[0].role in VERBS and all(i.role in VERBS for i in clause)


def is_placed(head: Head, items: Sequence[Item], start: int, end: int) -> bool:
    """Whether a verb that must stand on one side does, and is no preposition ("on the first floor")."""
    if head.leads:
        return head.first == 0
    if head.follows:
        is_first = all(i.role is Role.ALSO for i in items[start : head.first])
        return is_first and any(i.role in TARGETS for i in items[head.last + 1 : end])
    if not head.side:
        return True
    if head.side == "before":
        return any(i.role in TARGETS for i in items[head.last + 1 : end])
    is_spaced = items[head.first].value.isascii()
    if is_spaced and start > 0 and items[start].role is not Role.ALSO:
        return False
    has_target = any(i.role in TARGETS for i in items[start : head.first])
    is_last = head.last + 1 >= end or items[head.last + 1].role not in _AFTER_PREPOSITION
    return has_target and (is_last or " " in items[head.last].text)  # "are too bright" is no preposition
