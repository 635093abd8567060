"""What the pieces of a sentence do, and the app's words as such pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agentkit.understanding.normalise import fold
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
    REPORT = "report"
    """How things are, in a question."""
    ASK = "ask"
    """What kind of question it is: one, yes_no, which, how_many …"""
    NUMBER = "number"
    UNIT = "unit"
    COLOR = "color"
    MODE = "mode"
    LEVEL = "level"
    WHITE = "white"
    GRADE = "grade"
    """low, medium, high: of a fan."""
    CHOICE = "choice"
    """One of what devices list: kind and canonical name ("effect:colorloop")."""
    TO = "to"
    AT = "at"
    BY = "by"
    FROM = "from"
    """Before the value that something has now."""
    SLIGHT = "slight"
    ALSO = "also"
    ASKED = "asked"
    """A state that is asked for, alone or as type.state."""
    ATTRIBUTE = "attribute"
    PREPOSITION = "preposition"
    POINTER = "pointer"
    FILLER = "filler"


TARGETS = frozenset(
    {
        Role.NAME,
        Role.PART,
        Role.HINT,
        Role.AREA,
        Role.FLOOR,
        Role.KIND,
        Role.CLASS,
        Role.ALL,
        Role.HOME,
        Role.HERE,
        Role.IT,
    }
)
USUAL = "usual"
"""Value of a piece that asks for the usual difference."""
PLACES = frozenset({Role.AREA, Role.FLOOR, Role.HERE, Role.HOME, Role.ALL})
VERBS = frozenset({Role.ACT, Role.STATE})
KINDS = frozenset({Role.KIND, Role.CLASS})
THINGS = frozenset({Role.NAME, Role.PART, Role.HINT}) | KINDS
"""What says which thing is meant, wherever it is."""
VALUES = frozenset({Role.NUMBER, Role.COLOR, Role.MODE, Role.LEVEL, Role.WHITE, Role.GRADE, Role.CHOICE})


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
        *((Role.CHOICE, {f"{kind}:{name}": w for name, w in table.items()}) for kind, table in words.choices.items()),
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
        (Role.POINTER, words.pointers),
        (Role.FILLER, words.fillers),
    )
    for role, listed in lists:
        yield from (Entry(fold(p, words) or p, role, p) for p in listed)
    yield from (Entry(fold(p, words), Role.SLIGHT, USUAL) for p in words.somewhat)


def ask_entries(words: Words) -> Iterator[Entry]:
    """What the questions that ask for `reports` are made of, beside the names of the home."""
    tables: Sequence[tuple[Role, Table]] = (
        (Role.KIND, words.kinds),
        (Role.CLASS, words.device_classes),
        (Role.TOPIC, words.topics),
        (Role.TOPIC, words.attributes),
        (Role.REPORT, words.reports),
        (Role.ASK, words.questions),
    )
    for role, table in tables:
        for value, phrases in table.items():
            yield from (Entry(fold(p, words), role, value) for p in phrases)
    lists: Sequence[tuple[Role, Iterable[str]]] = (
        (Role.ALL, words.everything),
        (Role.HOME, words.whole_home),
        (Role.HERE, words.here),
        (Role.ALSO, words.also),
        (Role.FILLER, (*words.fillers, *words.question_fillers)),
    )
    for role, listed in lists:
        yield from (Entry(fold(p, words) or p, role, p) for p in listed)


def question_entries(words: Words) -> Iterator[Entry]:
    """What the questions that ask for `asked_states` are made of: no verb that acts is among them."""
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
