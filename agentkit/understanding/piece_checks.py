"""What is checked of the pieces of a sentence before they are read, and of the calls after that."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from agentkit.devices.adapter import Device
from agentkit.types import Intent
from agentkit.understanding.entries import KINDS, TARGETS, THINGS, VALUES, Item, Role
from agentkit.understanding.guard import guard
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.names import NameIndex
from agentkit.understanding.selecting import has_word, select
from agentkit.understanding.surname import is_surname
from agentkit.understanding.words import Words

Named = tuple[frozenset[str], ...]
"""For each name in a sentence the ids of the devices called so."""
_CALLED = frozenset({Role.NAME, Role.PART, Role.KIND, Role.CLASS})
MAX_COMMANDS = 6
_ALL = 100
MAX_VERBS = 15
"""Halves of verbs; six commands hold twelve."""
_COMMA = re.compile(r"(?<!\d),|,(?!\d)")
_GUARDED = frozenset(
    {Role.ALSO, Role.TO, Role.COPULA, Role.WISH, Role.SLIGHT, Role.PREPOSITION, Role.POINTER, Role.FILLER}
)


def joined(text: str, words: Words) -> str:
    """The text with its commas as words that join: what stands on both sides of one is meant, or nothing is."""
    return _COMMA.sub(f" {words.also[0]} ", text) if words.also else text


def has_too_many_verbs(mentions: Iterable[Item]) -> bool:
    """Whether a text holds more commands than are ever read: the ways to cut it would be tried for seconds."""
    n_verbs = n_commands = 0
    is_open = True
    spans: dict[tuple[int, int], set[Role]] = {}
    unspaced: set[tuple[int, int]] = set()
    for item in mentions:
        spans.setdefault((item.start, item.end), set()).add(item.role)
        unspaced |= set() if item.text.isascii() else {(item.start, item.end)}
    for span, roles in spans.items():
        if Role.ACT in roles:
            n_verbs, n_commands, is_open = n_verbs + 1, n_commands + is_open, False
        elif Role.ALSO in roles or (span in unspaced and roles & TARGETS):
            is_open = True  # in English the verb may stand on both sides of a thing
    return n_verbs > MAX_VERBS or n_commands > MAX_COMMANDS


def named_in(mentions: Sequence[Item], view: HomeView, types: Collection[str], words: Words, names: NameIndex) -> Named:
    """Devices of some types that each name in a text may mean; one that is a word for a kind too may mean all of it.

    What is a word for a place or a verb too is no name for sure.
    """
    spans: dict[tuple[int, int], list[Item]] = {}
    for m in mentions:
        spans.setdefault((m.start, m.end), []).append(m)
    named = (items for items in spans.values() if any(m.role is Role.NAME for m in items))
    sure = (items for items in named if all(m.role in _CALLED for m in items))
    owners = (
        frozenset(d.id for m in items for d in _called(m, view, words, names) if d.type in types) for items in sure
    )
    return tuple(ids for ids in owners if ids)


def _called(mention: Item, view: HomeView, words: Words, names: NameIndex) -> Iterator[Device]:
    """The devices that a mention may mean."""
    if mention.role is Role.NAME:
        series = names.series.get(mention.value, ()) if mention.is_plural else ()
        yield from (d for name in (mention.value, *series) for d in view.named(name))
    else:
        yield from (d for d in view.devices if _is_called(d, mention, words))


def _is_called(device: Device, mention: Item, words: Words) -> bool:
    """Whether a mention may mean a device: by its kind or its class."""
    kind, _, device_class = mention.value.partition(".")
    if mention.role is Role.PART or device.type != kind:
        return False
    listed = words.device_classes.get(mention.value, ())
    return device_class in ("", device.device_class) or any(has_word(n, w) for n in device.names for w in listed)


def reaches_named(found: Sequence[Intent], said: Named, view: HomeView) -> bool:
    """Whether calls reach a device of every name that was said: "back" in "the back door" is no idle word."""
    if not said:
        return True
    reached = {d.id for i in found for d in select(i.selector, view)}
    return all(ids & reached for ids in said)


def unrepeated(found: Sequence[Intent], view: HomeView) -> tuple[Intent, ...]:
    """The calls without those that only say again what another does ("the curtain, the hall curtain, close it")."""
    kept: dict[str, Intent] = {}
    for intent in found:
        reached = tuple(d.id for d in select(intent.selector, view)) if len(found) > 1 else ()
        kept.setdefault(f"{intent.tool} {sorted(intent.args.items())} {reached or intent.selector}", intent)
    return tuple(kept.values())


def distinct(cuts: Iterable[tuple[Item, ...]]) -> Iterator[tuple[Item, ...]]:
    """Cuts without their fillers, each once: many differ only in pieces that mean nothing."""
    seen: set[tuple[Item, ...]] = set()
    for cut in cuts:
        kept = tuple(i for i in cut if i.role is not Role.FILLER)
        if kept not in seen:
            seen.add(kept)
            yield kept


def is_guarded(cut: Sequence[Item], folded: str, words: Words, *, kinds: Collection[str] = ()) -> bool:
    """Whether the words between the pieces that mean something hold a time, a condition or a negation."""
    rest = list(folded)
    for item in cut:
        if item.role not in _GUARDED:
            rest[item.start : item.end] = "\N{WHITE SQUARE}" * (item.end - item.start)
    return guard("".join(rest), words, kinds=kinds) is not None


def is_open(items: Sequence[Item], kind_words: Collection[str]) -> bool:
    """Whether a word points at a thing that nothing names, or two rooms touch in a script without spaces."""
    is_pointing = any(i.role is Role.POINTER for i in items)
    if is_pointing and not any(
        i.role is Role.AREA or (i.role is Role.NAME and i.value not in kind_words) for i in items
    ):
        return True
    return any(
        a.role is b.role is Role.AREA and a.end == b.start and a.value != b.value for a, b in itertools.pairwise(items)
    )


def is_preposition_cut(items: Sequence[Item], words: Words) -> bool:
    """Whether a preposition was read as a verb: "next" in "next to the tv", "on" in "set the sound on the tv to 20"."""
    said = [i for i in items if i.role is not Role.FILLER]
    ends = [n for n, i in enumerate(said) if n and i.role is Role.ACT and i.text in words.prepositions]
    if any(said[n - 1].role is Role.TOPIC and _is_thing_of(said[n + 1 :]) for n in ends) and any(
        i.role in VALUES for i in said
    ):
        return True
    return any(
        a.role is Role.ACT and a.text.isascii() and f"{a.text} {b.text}" in words.prepositions
        for a, b in itertools.pairwise(items)
    )


def _is_thing_of(items: Sequence[Item]) -> bool:
    """Whether a thing comes first, by its name or by its room and kind."""
    roles = [i.role for i in items[:2]]
    return bool(roles) and (roles[0] in THINGS or (roles[0] is Role.AREA and bool(set(roles[1:]) & KINDS)))


def is_verb_torn(cut: Sequence[Item]) -> bool:
    """Whether a kind between two verbs is made of them, so that they are said over and over: 开开关关."""
    return any(
        b.role is Role.KIND
        and a.role is c.role is Role.ACT
        and a.end == b.start
        and b.end == c.start
        and b.text == a.text[-1] + c.text[0]
        for a, b, c in zip(cut, cut[1:], cut[2:], strict=False)
    )


def without_stutter(items: Sequence[Item]) -> list[Item]:
    """The pieces without those that repeat the one before ("the hall, the hall lamp")."""
    kept: list[Item] = []
    for item in items:
        last = kept[-1] if kept and kept[-1].role is item.role else None
        if last and item.role is Role.ACT and not item.value.isascii() and item.value.startswith(last.value):
            kept[-1] = item  # "off, off with it": the verb once more, and whole
        elif last is None or item.role is Role.NUMBER or item.value != last.value:
            kept.append(item)
    return _without_echo(kept)


def _without_echo(items: list[Item]) -> list[Item]:
    """The pieces without verbs at the end that were all said before ("close the curtain, close, close")."""
    end = len(items)
    while end and items[end - 1].role in (Role.ACT, Role.ALSO):
        end -= 1
    said = {i.value for i in items[:end] if i.role is Role.ACT}
    is_echo = end < len(items) and items[end].role is Role.ALSO
    is_echo = is_echo and all(i.value in said for i in items[end:] if i.role is Role.ACT)
    return items[:end] if is_echo else items


def without_theme(items: Sequence[Item], view: HomeView, words: Words) -> Sequence[Item]:
    """The pieces without a kind that only leads up to a device of that kind ("the curtain, close the hall curtain")."""
    if len(items) < 3 or items[0].role not in (Role.KIND, Role.CLASS) or items[1].role is not Role.ALSO:
        return items
    named = [view.named(i.value) for i in items[2:] if i.role is Role.NAME]
    is_theme = len(named) == 1 and any(is_surname(d, items[0], words) for d in named[0])
    return items[2:] if is_theme and items[2].role is Role.ACT else items


def is_name_alone(cut: Sequence[Item]) -> bool:
    """A name that ends like a verb ("front door lock") is no command."""
    return len(cut) == 1 and cut[0].role is Role.NAME


def has_torn_kind(cut: Sequence[Item], kinds: Collection[str]) -> bool:
    """Whether a verb ends with half of what a thing is called: "I want some light" does not want light bulbs."""
    pairs = ((a, b) for a, b in itertools.pairwise(cut) if a.role is Role.ACT and b.role in KINDS)
    return any(" " in a.text and a.text.rpartition(" ")[2] in kinds for a, b in pairs)


def has_share_as_value(cut: Sequence[Item], kinds: Collection[str]) -> bool:
    """Whether a share of several things was taken for a value of each: "half the lights"."""
    return any(
        a.role is Role.LEVEL and 1 < int(a.value) < _ALL and b.text in kinds for a, b in itertools.pairwise(cut)
    ) and not any(i.role is Role.TO for i in cut)


def has_value_as_other(cut: Sequence[Item], modes: Collection[str]) -> bool:
    """Whether a value was taken for a device or a verb: "to heat" tells a mode, "to warm white" a colour."""
    behind = [b for a, b in itertools.pairwise(cut) if a.role is Role.TO and b.text.isascii()]
    return any(b.role is Role.ACT or (b.role in (Role.KIND, Role.TOPIC) and b.text in modes) for b in behind)
