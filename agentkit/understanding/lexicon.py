"""Cut a sentence into pieces that are all known: names of the home and words of the app, nothing left over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agentkit.devices.adapter import Device
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import fold
from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.slot_lists import spellings
from agentkit.understanding.words import Table, Words

_MAX_CUTS = 400


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
class _Entry:
    text: str
    role: Role
    value: str


class Lexicon:
    """All phrases that a sentence about this home can be made of, indexed by their first character."""

    def __init__(self, view: HomeView, words: Words) -> None:
        self._by_first: dict[str, list[_Entry]] = {}
        seen: set[_Entry] = set()
        for entry in (*_home_entries(view, words), *_word_entries(words)):
            if entry.text and entry not in seen:
                seen.add(entry)
                self._by_first.setdefault(entry.text[0], []).append(entry)
        for entries in self._by_first.values():
            entries.sort(key=lambda e: (-len(e.text), list(Role).index(e.role)))

    def at(self, text: str, start: int) -> list[Item]:
        """Pieces that can start at a place, longest first."""
        return [
            Item(e.role, e.value, start, start + len(e.text))
            for e in self._by_first.get(text[start], ())
            if text.startswith(e.text, start) and _is_whole(text, start, start + len(e.text))
        ]

    def cuts(self, text: str) -> Iterator[tuple[Item, ...]]:
        """Ways to cut a folded text into pieces without rest, the ones with longer pieces first."""
        numbers = {n.start: n for n in find_numbers(text)}
        budget = [_MAX_CUTS]
        dead: set[int] = set()

        def pieces(start: int) -> list[Item]:
            found = self.at(text, start)
            if number := numbers.get(start):
                item = Item(Role.NUMBER, text[number.start : number.end], start, number.end, number.value)
                found.append(item)
                found.sort(key=lambda i: i.start - i.end)
            return found

        def walk(start: int, done: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
            while start < len(text) and text[start] == " ":
                start += 1
            if start >= len(text):
                budget[0] -= 1
                yield done
                return
            if start in dead or budget[0] <= 0:
                return
            before = budget[0]
            for item in pieces(start):
                yield from walk(item.end, (*done, item))
            if budget[0] == before:
                dead.add(start)

        yield from walk(0, ())

    def mentions(self, text: str) -> list[Item]:
        """Pieces of a folded text that are known, longest first and without overlap; the rest is skipped."""
        found: list[Item] = []
        start = 0
        numbers = {n.start: n for n in find_numbers(text)}
        while start < len(text):
            items = self.at(text, start)
            number = numbers.get(start)
            if number and (not items or items[0].end < number.end):
                found.append(Item(Role.NUMBER, text[start : number.end], start, number.end, number.value))
                start = number.end
            elif items:
                longest = items[0].end
                found.extend(i for i in items if i.end == longest)
                start = longest
            else:
                start = _next_start(text, start)
        return found


def _next_start(text: str, start: int) -> int:
    """The next place a piece can start: behind the word, or behind one Chinese character."""
    if not _is_letter(text[start]):
        return start + 1
    end = start
    while end < len(text) and _is_letter(text[end]):
        end += 1
    return end


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a piece does not cut an English word or a number in two."""
    starts = start == 0 or not (_is_letter(text[start - 1]) and _is_letter(text[start]))
    ends = end >= len(text) or not (_is_letter(text[end - 1]) and _is_letter(text[end]))
    return (starts or text[start - 1].isdigit() != text[start].isdigit()) and ends


def _home_entries(view: HomeView, words: Words) -> Iterator[_Entry]:
    rows: list[tuple[str, Role, str]] = [(n, Role.NAME, n) for d in view.devices for n in d.names]
    rows += [(n, Role.AREA, a.id) for a in view.areas for n in a.names]
    rows += [(n, Role.FLOOR, f.id) for f in view.floors for n in f.names]
    taken: set[str] = set()
    for name, role, value in rows:
        for folded in dict.fromkeys(fold(s, words) for s in spellings(name, words)):
            taken.add(folded)
            yield from _with_s(folded, role, value)
    kinds = {fold(w, words) for listed in (*words.kinds.values(), *words.device_classes.values()) for w in listed}
    for device in view.devices:
        for name in device.names:
            folded = fold(name, words)
            for text in linked(folded, words):
                yield _Entry(text, Role.NAME, name)
            for part in _parts(folded, device.type, words):
                yield from _with_s(part, Role.PART, part)
                if part not in taken and part.rpartition(" ")[2] in kinds:
                    yield from _with_s(part, Role.NAME, name)  # "hall lights" for a switch called "hall lights switch"


def _with_s(text: str, role: Role, value: str) -> Iterator[_Entry]:
    yield _Entry(text, role, value)
    if text[-1:].isascii() and text[-1:].isalpha():
        yield _Entry(text + "s", role, value)  # "the bedroom's lamp"


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


def _word_entries(words: Words) -> Iterator[_Entry]:
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
            yield from (_Entry(fold(p, words), role, value) for p in phrases)
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
        yield from (_Entry(fold(p, words) or p, role, p) for p in listed)


def _chunks(role: Role, phrases: Iterable[str], words: Words) -> Iterator[_Entry]:
    """The halves of phrases with a gap; an act is recognised by the sequence of its halves."""
    for phrase in phrases:
        for chunk in phrase.split("…"):
            if text := fold(chunk, words):
                yield _Entry(text, role, text)
