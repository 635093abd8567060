"""Everything a sentence about a home can be made of: its names with their variants, and the app's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    TO = "to"
    AT = "at"
    BY = "by"
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
    {Role.NAME, Role.PART, Role.AREA, Role.FLOOR, Role.KIND, Role.CLASS, Role.ALL, Role.HOME, Role.HERE, Role.IT}
)
PLACES = frozenset({Role.AREA, Role.FLOOR, Role.HERE, Role.HOME, Role.ALL})
VALUES = frozenset({Role.NUMBER, Role.COLOR, Role.MODE, Role.LEVEL, Role.WHITE})


@dataclass(frozen=True)
class Item:
    """One piece, with what it means here."""

    role: Role
    value: str
    """Name as the home spells it, id, type, act chunk, canonical value; for a number its text."""
    start: int
    end: int
    number: float = 0.0


@dataclass(frozen=True)
class Entry:
    """One known phrase."""

    text: str
    role: Role
    value: str


def home_entries(view: HomeView, words: Words) -> Iterator[Entry]:
    rows: list[tuple[str, Role, str]] = [(n, Role.NAME, n) for d in view.devices for n in d.names]
    rows += [(n, Role.AREA, a.id) for a in view.areas for n in a.names]
    rows += [(n, Role.FLOOR, f.id) for f in view.floors for n in f.names]
    taken: set[str] = set()
    for name, role, value in rows:
        for folded in dict.fromkeys(fold(s, words) for s in spellings(name, words)):
            taken.add(folded)
            yield from _with_s(folded, role, value)
            yield from (Entry(text, role, value) for text in _joined(folded))
    kinds = {fold(w, words) for listed in (*words.kinds.values(), *words.device_classes.values()) for w in listed}
    for device in view.devices:
        for name in device.names:
            folded = fold(name, words)
            for text in linked(folded, words):
                yield Entry(text, Role.NAME, name)
            for part in _parts(folded, device.type, words):
                yield from _with_s(part, Role.PART, part)
                if part not in taken and part.rpartition(" ")[2] in kinds:
                    yield from _with_s(part, Role.NAME, name)  # "hall lights" for a switch called "hall lights switch"


def _joined(folded: str) -> Iterator[str]:
    """A name with two of its words written as one ("livingroom")."""
    pieces = folded.split()
    for cut in range(1, len(pieces)):
        if pieces[cut - 1].isascii() and pieces[cut - 1].isalpha() and len(pieces[cut]) > 2 and pieces[cut].isalpha():
            yield " ".join([*pieces[: cut - 1], pieces[cut - 1] + pieces[cut], *pieces[cut + 1 :]])


def _with_s(text: str, role: Role, value: str) -> Iterator[Entry]:
    yield Entry(text, role, value)
    if text[-1:].isascii() and text[-1:].isalpha():
        yield Entry(text + "s", role, value)  # "the bedroom's lamp"


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
    )
    for role, table in tables:
        for value, phrases in table.items():
            yield from (Entry(fold(p, words), role, value) for p in phrases)
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
        (Role.SLIGHT, words.slightly),
        (Role.ALSO, words.also),
        (Role.PREPOSITION, words.prepositions),
        (Role.FILLER, words.fillers),
    )
    for role, listed in lists:
        yield from (Entry(fold(p, words) or p, role, p) for p in listed)


def command_entries(view: HomeView, words: Words) -> Iterator[Entry]:
    """What commands are made of."""
    yield from home_entries(view, words)
    yield from word_entries(words)


def question_entries(view: HomeView, words: Words) -> Iterator[Entry]:
    """What questions are made of: no verb that acts is among it."""
    yield from home_entries(view, words)
    tables: Sequence[tuple[Role, Table]] = (
        (Role.KIND, words.kinds),
        (Role.CLASS, words.device_classes),
        (Role.CLASS, words.asked_classes),
        (Role.ASK, words.questions),
        (Role.ASKED, words.asked_states),
        (Role.ATTRIBUTE, words.attributes),
    )
    for role, table in tables:
        for value, phrases in table.items():
            yield from (Entry(fold(p, words), role, value) for p in phrases)
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


def _chunks(role: Role, phrases: Iterable[str], words: Words) -> Iterator[Entry]:
    """The halves of phrases with a gap; an act is recognised by the sequence of its halves."""
    for phrase in phrases:
        for chunk in phrase.split("…"):
            if text := fold(chunk, words):
                yield Entry(text, role, text)
