"""Everything a sentence about a home can be made of: its names with their variants, and the app's words."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agentkit.devices.adapter import Device
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import fold
from agentkit.understanding.slot_lists import spellings
from agentkit.understanding.words import Table, Words


class Role(StrEnum):
    """What a piece of a sentence does."""

    NAME = "name"
    AREA = "area"
    FLOOR = "floor"
    PART = "part"
    """A device's name without the word for its kind, which an act or a kind word must replace."""
    HINT = "hint"
    """Some words of a device's name that mean nothing else; the verb or a kind word must leave one device."""
    KIND = "kind"
    CLASS = "class"
    ALL = "all"
    HOME = "home"
    HERE = "here"
    IT = "it"
    ACT = "act"
    STATE = "state"
    WISH = "wish"
    COPULA = "copula"
    TOPIC = "topic"
    NUMBER = "number"
    UNIT = "unit"
    COLOR = "color"
    MODE = "mode"
    LEVEL = "level"
    WHITE = "white"
    GRADE = "grade"
    """low, medium, high: of a fan."""
    TO = "to"
    AT = "at"
    BY = "by"
    FROM = "from"
    """Before the value that something has now."""
    SLIGHT = "slight"
    ALSO = "also"
    PREPOSITION = "preposition"
    ASK = "ask"
    """What kind of question it is: one, yes_no, which, how_many …"""
    ASKED = "asked"
    """A state that is asked for, alone or as type.state."""
    ATTRIBUTE = "attribute"
    FILLER = "filler"


TARGETS = frozenset(
    {Role.NAME, Role.PART, Role.HINT, Role.AREA, Role.FLOOR, Role.KIND, Role.CLASS, Role.ALL, Role.HOME, Role.HERE, Role.IT}
)
PLACES = frozenset({Role.AREA, Role.FLOOR, Role.HERE, Role.HOME, Role.ALL})
VALUES = frozenset({Role.NUMBER, Role.COLOR, Role.MODE, Role.LEVEL, Role.WHITE, Role.GRADE})


_NUMBERED = re.compile(r"(.*[a-z]) \d+")
"""One of a series: "wall lamp 2"."""


@dataclass(frozen=True)
class Item:
    """One piece, with what it means here."""

    role: Role
    value: str
    """Name as the home spells it, id, type, act chunk, canonical value; for a number its text."""
    start: int
    end: int
    number: float = 0.0
    is_plural: bool = False
    text: str = ""
    """As it stands in the folded sentence."""


@dataclass(frozen=True)
class Entry:
    """One known phrase."""

    text: str
    role: Role
    value: str
    is_plural: bool = False
    """A plural made of a word that the home or the app has in the singular."""


def home_entries(view: HomeView, words: Words) -> Iterator[Entry]:
    rows: list[tuple[str, Role, str]] = [(n, Role.NAME, n) for d in view.devices for n in d.names]
    rows += [(n, Role.AREA, a.id) for a in view.areas for name in a.names for n in (name, *halves(name))]
    rows += [(n, Role.FLOOR, f.id) for f in view.floors for n in f.names]
    taken: set[str] = set()
    for name, role, value in rows:
        for folded in dict.fromkeys(fold(s, words) for s in spellings(name, words)):
            taken.add(folded)
            yield from _with_s(folded, role, value)
            yield from (Entry(text, role, value) for text in _joined(folded))
    folded_rows = [(fold(n, words), role, value) for n, role, value in rows]
    yield from variants(folded_rows, taken, words)
    kinds = kind_words(words)
    for device in view.devices:
        for name in device.names:
            folded = fold(name, words)
            for text in linked(folded, words):
                yield Entry(text, Role.NAME, name)
            for part in _parts(folded, device.type, words):
                yield from _with_s(part, Role.PART, part)
                if part not in taken and part not in kinds and part.rpartition(" ")[2] in kinds:
                    yield from _with_s(part, Role.NAME, name)  # "hall lights" for a switch called "hall lights switch"


def kind_words(words: Words) -> set[str]:
    """Every word for a kind or class of devices."""
    return {fold(w, words) for listed in (*words.kinds.values(), *words.device_classes.values()) for w in listed}


def variants(rows: Sequence[tuple[str, Role, str]], taken: Collection[str], words: Words) -> Iterator[Entry]:
    """Other words for a place in names, ordinals for numbers, and a place by one of its words, where they are unique."""
    found: dict[str, set[tuple[Role, str]]] = {}
    for text, role, value in rows:
        others = [*_with_synonyms(text, words), *_ordinals(text)]
        if role is Role.AREA:
            others += [w for w in text.split() if len(w) > 3]
        for other in others:
            found.setdefault(other, set()).add((role, value))
    common = {w for w, owners in found.items() if len(owners) > 1}
    for text, owners in found.items():
        if text not in taken and text not in common and text not in words.fillers:
            yield from (Entry(text, role, value) for role, value in owners)


def _with_synonyms(text: str, words: Words) -> Iterator[str]:
    for group in words.place_synonyms.values():
        said = next((w for w in group if f" {w} " in f" {text} "), None)
        if said is not None:
            yield from (f" {text} ".replace(f" {said} ", f" {w} ").strip() for w in group if w != said)


def _ordinals(text: str) -> Iterator[str]:
    """ "second hall lamp" for "hall lamp 2" and "hall 2 lamp"."""
    pieces = text.split()
    for n, ordinal in enumerate(("first", "second", "third", "fourth", "fifth"), start=1):
        if str(n) in pieces[1:]:
            yield " ".join([ordinal, *(p for p in pieces if p != str(n))])


def halves(name: str) -> list[str]:
    """The rooms of a place that is several in one ("Kitchen/Diner")."""
    pieces = [p.strip() for p in name.split("/") if p.strip()]
    return pieces if len(pieces) > 1 else []


def hint_entries(view: HomeView, words: Words, known: frozenset[str]) -> Iterator[Entry]:
    """Runs of words out of names, unless they are known otherwise or end with a word for a kind."""
    kinds = kind_words(words)
    places = {fold(n, words) for place in (*view.areas, *view.floors) for n in place.names}
    idle = {w for w in known if " " not in w} - places
    series = Counter(m[1] for d in view.devices for n in d.names if (m := _NUMBERED.fullmatch(fold(n, words))))
    yield from (Entry(base + "s", Role.HINT, base, is_plural=True) for base, n in series.items() if n > 1)
    for device in view.devices:
        for name in device.names:
            pieces = fold(name, words).split()
            for start, end in itertools.combinations(range(len(pieces) + 1), 2):
                run = pieces[start:end]
                text = " ".join(run)
                is_telling = text.isascii() and text not in known and not set(run) <= idle and run[-1] not in kinds
                if is_telling and len(run) < len(pieces) and any(len(w) > 1 for w in run):
                    yield from _with_s(text, Role.HINT, text)


def _joined(folded: str) -> Iterator[str]:
    """A name with two of its words written as one ("livingroom")."""
    pieces = folded.split()
    for cut in range(1, len(pieces)):
        if pieces[cut - 1].isascii() and pieces[cut - 1].isalpha() and len(pieces[cut]) > 2 and pieces[cut].isalpha():
            yield " ".join([*pieces[: cut - 1], pieces[cut - 1] + pieces[cut], *pieces[cut + 1 :]])


def _with_s(text: str, role: Role, value: str) -> Iterator[Entry]:
    yield Entry(text, role, value)
    if text[-1:].isascii() and text[-1:].isalpha():
        yield Entry(text + "s", role, value, is_plural=True)  # "the wall lamps", but also "the bedroom's lamp"


def linked(folded: str, words: Words) -> Iterator[str]:
    """A name with its words turned around or held together by a particle: "lamp in the hall" for "hall lamp"."""
    pieces = folded.split() if folded.isascii() else list(folded)
    glue = " " if folded.isascii() else ""
    for cut in range(1, len(pieces)):
        head, tail = glue.join(pieces[:cut]), glue.join(pieces[cut:])
        yield from (link.format(head=head, tail=tail) for link in words.links)


def parts_of(device: Device, words: Words) -> frozenset[str]:
    """What the device's names are without the word for its kind."""
    return frozenset(p for name in device.names for p in _parts(fold(name, words), device.type, words))


def _parts(folded: str, device_type: str, words: Words) -> Iterator[str]:
    kinds = list(words.kinds.get(device_type, ()))
    kinds += [w for key, ws in words.device_classes.items() if key.partition(".")[0] == device_type for w in ws]
    for kind in kinds:
        rest = folded.removesuffix(fold(kind, words))
        if rest != folded and (not rest.isascii() or rest.endswith(" ")) and rest.strip():
            yield rest.strip()
            yield from _parts(rest.strip(), device_type, words)  # "desk lamp light"


def word_entries(words: Words) -> Iterator[Entry]:
    tables: Sequence[tuple[Role, Table]] = (
        (Role.KIND, words.kinds),
        (Role.CLASS, words.device_classes),
        (Role.STATE, words.states),
        (Role.TOPIC, words.topics),
        (Role.UNIT, words.units),
        (Role.COLOR, words.colors),
        (Role.MODE, words.modes),
        (Role.LEVEL, words.levels),
        (Role.WHITE, words.whites),
        (Role.GRADE, words.grades),
    )
    yield from _listed(tables, words)
    yield from _chunks(Role.ACT, (p for phrases in words.verbs.values() for p in phrases), words)
    yield from _chunks(Role.WISH, words.wishes, words)
    lists: Sequence[tuple[Role, Iterable[str]]] = (
        (Role.COPULA, words.copulas),
        (Role.ALL, words.everything),
        (Role.HOME, words.whole_home),
        (Role.HERE, words.here),
        (Role.IT, words.it),
        (Role.TO, words.to),
        (Role.AT, words.at),
        (Role.BY, words.by),
        (Role.FROM, words.origin),
        (Role.SLIGHT, words.slightly),
        (Role.ALSO, words.also),
        (Role.PREPOSITION, words.prepositions),
        (Role.FILLER, words.fillers),
    )
    for role, listed in lists:
        yield from (Entry(fold(p, words) or p, role, p) for p in listed)


def command_entries(view: HomeView, words: Words) -> Iterator[Entry]:
    """What commands are made of."""
    yield from _with_hints([*home_entries(view, words), *word_entries(words)], view, words)


def question_entries(view: HomeView, words: Words) -> Iterator[Entry]:
    """What questions are made of: no verb that acts is among it."""
    yield from _with_hints([*home_entries(view, words), *_question_words(words)], view, words)


def _with_hints(entries: list[Entry], view: HomeView, words: Words) -> Iterator[Entry]:
    yield from entries
    yield from hint_entries(view, words, frozenset(e.text for e in entries))


def _question_words(words: Words) -> Iterator[Entry]:
    tables: Sequence[tuple[Role, Table]] = (
        (Role.KIND, words.kinds),
        (Role.CLASS, words.device_classes),
        (Role.CLASS, words.asked_classes),
        (Role.ASK, words.questions),
        (Role.ASKED, words.asked_states),
        (Role.ATTRIBUTE, words.attributes),
    )
    yield from _listed(tables, words)
    lists: Sequence[tuple[Role, Iterable[str]]] = (
        (Role.ALL, words.everything),
        (Role.HOME, words.whole_home),
        (Role.HERE, words.here),
        (Role.PREPOSITION, words.prepositions),
        (Role.FILLER, words.fillers),
        (Role.FILLER, words.question_fillers),
    )
    for role, listed in lists:
        yield from (Entry(fold(p, words) or p, role, p) for p in listed)


def _listed(tables: Sequence[tuple[Role, Table]], words: Words) -> Iterator[Entry]:
    for role, table in tables:
        for value, phrases in table.items():
            known = {fold(p, words) for p in phrases}
            yield from (Entry(p, role, value, p.endswith("s") and p[:-1] in known) for p in known)


def _chunks(role: Role, phrases: Iterable[str], words: Words) -> Iterator[Entry]:
    """The halves of phrases with a gap; an act is recognised by the sequence of its halves."""
    for phrase in phrases:
        for chunk in phrase.split("…"):
            if text := fold(chunk, words):
                yield Entry(text, role, text)
