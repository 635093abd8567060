"""The names of a home as pieces of sentences, with the variants in which people say them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentkit.devices.adapter import Area, Device, Floor
from agentkit.understanding.entries import Entry, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import fold
from agentkit.understanding.selecting import has_word
from agentkit.understanding.slot_lists import spellings
from agentkit.understanding.words import Words

_NUMBERED = re.compile(r"(.*[a-z]) \d+")
"""One of a series: "wall lamp 2"."""


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
    yield from (Entry(text, Role.AREA, area) for text, area in _rooms(view, words) if text not in taken)
    yield from _by_place(view, words)
    kinds, named = kind_words(words), _all_named(view, words)
    for device in view.devices:
        for name in device.names:
            folded = fold(name, words)
            for text in dict.fromkeys(t for s in spellings(name, words) for t in linked(fold(s, words), words)):
                yield Entry(text, Role.NAME, name)
            for part in _parts(folded, device.type, words):
                if len(part) == 1 and not part.isascii():
                    continue  # 前 of 前门 means much else
                yield from _with_s(part, Role.PART, part)
                others = (o for o in _with_synonyms(part, words) if o not in kinds and not _is_said(o, named))
                yield from (Entry(o, Role.PART, part) for o in others)
                if part not in taken and part not in kinds and part.rpartition(" ")[2] in kinds:
                    yield from _with_s(part, Role.NAME, name)  # "hall lights" for a switch called "hall lights switch"


def place_names(view: HomeView, words: Words) -> set[str]:
    """Every name of a room or floor."""
    places: tuple[Area | Floor, ...] = (*view.areas, *view.floors)
    return {fold(n, words) for place in places for n in place.names}


def kind_words(words: Words) -> set[str]:
    """Every word for a kind or class of devices."""
    return {fold(w, words) for listed in (*words.kinds.values(), *words.device_classes.values()) for w in listed}


def variants(rows: Sequence[tuple[str, Role, str]], taken: Collection[str], words: Words) -> Iterator[Entry]:
    """Other words for a place in names, ordinals for numbers, a place by one of its words; only where unique."""
    found: dict[str, set[tuple[Role, str]]] = {}
    for text, role, value in rows:
        others = [*_with_synonyms(text, words), *_ordinals(text)]
        if role is Role.AREA:
            others += [w for w in text.split() if len(w) > 3]
        for other in others:
            found.setdefault(other, set()).add((role, value))
    common = {w for w, owners in found.items() if len(owners) > 1}
    common |= {fold(w, words) for w in (*words.whole_home, *words.adjectives)}  # "home" is no word for the home office
    for text, owners in found.items():
        if text not in taken and text not in common and text not in words.fillers:
            yield from (Entry(text, role, value) for role, value in owners)


def _rooms(view: HomeView, words: Words) -> Iterator[tuple[str, str]]:
    """Other words for the rooms of a home, where only one room can be meant."""
    names = [(a.id, {fold(n, words) for n in a.names}) for a in view.areas]
    for listed in words.rooms.values():
        spellings_of = {fold(w, words) for w in listed}
        meant = [area for area, own in names if own & spellings_of]
        if len(meant) == 1:
            yield from ((text, meant[0]) for text in spellings_of)


def _by_place(view: HomeView, words: Words) -> Iterator[Entry]:
    """What the only device of a type in rooms of a sort is called by them, unless a name of the home says so."""
    named = _all_named(view, words)
    for key, listed in words.called_by_place.items():
        device_type, _, called = key.partition(".")
        rooms = {fold(w, words) for w in listed}
        areas = {a.id for a in view.areas if any(fold(n, words) in rooms for n in a.names)}
        there = [d for d in view.devices if d.type == device_type and d.area in areas]
        if len(there) == 1 and not _is_said(called, named):
            kinds = (f" {k}" for k in words.kinds.get(device_type, ()) if not called.endswith(k))
            yield from (Entry(fold(called + k, words), Role.NAME, there[0].name) for k in ("", *kinds))


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


@dataclass(frozen=True)
class NameIndex:
    """The names of a home, folded once."""

    folded: Mapping[str, tuple[str, ...]]
    """Device id → its names."""
    parts: Mapping[str, frozenset[str]]
    """Device id → its names without the word for its kind."""
    places: frozenset[str]
    """Every name of a room or floor."""
    series: Mapping[str, tuple[str, ...]]
    """Name of a device → the numbered names beside it: "Wall Lamp" → "Wall Lamp 1", "Wall Lamp 2"."""

    @classmethod
    def of(cls, view: HomeView, words: Words) -> NameIndex:
        """Fold every name."""
        folded = {d.id: tuple(fold(n, words) for n in d.names) for d in view.devices}
        parts = {d.id: parts_of(d, words) for d in view.devices}
        return cls(folded, parts, frozenset(place_names(view, words)), _series(view, words))

    def holds(self, device: Device, hints: Sequence[str]) -> bool:
        """Whether every hint stands in one of the device's names."""
        return all(any(has_word(n, h) for n in self.folded[device.id]) for h in hints)


def _series(view: HomeView, words: Words) -> dict[str, tuple[str, ...]]:
    """Names that are also those of a series, with the names in it."""
    numbered: dict[str, dict[str, None]] = {}
    for name in (n for d in view.devices for n in d.names):
        if found := _NUMBERED.fullmatch(fold(name, words)):
            numbered.setdefault(found[1], {})[name] = None
    bases = (n for d in view.devices for n in d.names) if numbered else ()
    return {n: tuple(numbered[base]) for n in bases if (base := fold(n, words)) in numbered}


def _all_named(view: HomeView, words: Words) -> str:
    """Every name of a home, folded, in one text."""
    places: tuple[Area | Floor, ...] = (*view.areas, *view.floors)
    names = [n for d in view.devices for n in d.names] + [n for place in places for n in place.names]
    return f" {' | '.join(fold(n, words) for n in names)} "


def _is_said(text: str, named: str) -> bool:
    """Whether a name of the home holds this other word for a name, and so is meant by it."""
    return f" {text} " in named


def halves(name: str) -> list[str]:
    """The rooms of a place that is several in one ("Kitchen/Diner")."""
    pieces = [p.strip() for p in name.split("/") if p.strip()]
    return pieces if len(pieces) > 1 else []


def hint_entries(view: HomeView, words: Words, known: frozenset[str]) -> Iterator[Entry]:
    """Runs of words out of names, unless they are known otherwise or end with a word for a kind."""
    kinds = kind_words(words)
    places = place_names(view, words)
    idle = {w for w in known if " " not in w} - places
    named = _all_named(view, words)
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
                    others = [*_ordinals(text), *_with_synonyms(text, words)]
                    yield from (Entry(o, Role.HINT, text) for o in others if o not in known and not _is_said(o, named))


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


def link_words(words: Words) -> frozenset[str]:
    """The words that hold a turned name together in a script with spaces: "in", "of"."""
    return frozenset(link.split("{")[1].partition("}")[2].split()[0] for link in words.links if link.isascii())


def parts_of(device: Device, words: Words) -> frozenset[str]:
    """What the device's names are without the word for its kind."""
    return frozenset(p for name in device.names for p in _parts(fold(name, words), device.type, words))


def _parts(folded: str, device_type: str, words: Words) -> Iterator[str]:
    kinds = list(words.kinds.get(device_type, ()))
    kinds += [w for key, ws in words.device_classes.items() if key.partition(".")[0] == device_type for w in ws]
    last = max((k for k in kinds if folded.endswith(k)), key=len, default="")
    for kind in kinds if folded.isascii() else [last]:  # 窗帘 without 帘 is no part of a name but another thing
        rest = folded.removesuffix(kind)  # words for kinds are written as texts are folded
        if rest != folded and (not rest.isascii() or rest.endswith(" ")) and rest.strip():
            yield rest.strip()
            yield from _parts(rest.strip(), device_type, words)  # "desk lamp light"
