"""The home's names as hassil's slot lists: only those that stand in the sentence, so large homes stay fast."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hassil.intents import TextSlotList, TextSlotValue
from hassil.util import normalize_for_matching

from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import fold
from agentkit.understanding.numbers import find_numbers, plain
from agentkit.understanding.words import Words

_GLUED = re.compile(r"(?<=[a-z]{3})(?=\d)")
"""Between a word and its number: "bedroom2"."""
_Row = tuple[str, str, dict[str, str]]
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Entry:
    """One spelling of a name."""

    key: str
    """Folded without spaces: the sentence must contain it."""
    value: TextSlotValue


@dataclass(frozen=True)
class HomeLists:
    """Every name, area and floor of one home, ready to be offered to a sentence."""

    entries: Mapping[str, tuple[Entry, ...]]
    words: Words

    def for_text(self, text: str) -> dict[str, TextSlotList]:
        """The slot lists of the names that occur in a text."""
        key = squash(text, self.words)
        return {
            name: TextSlotList(name=name, values=[e.value for e in entries if e.key in key])
            for name, entries in self.entries.items()
        }


def build_lists(view: HomeView, words: Words) -> HomeLists:
    """Collect the names of a home; the value of an area or floor is its id."""
    names: list[_Row] = [
        (spelling, name, {"domain": d.type} | ({"device_class": d.device_class} if d.device_class else {}))
        for d in view.devices
        for name in d.names
        for spelling in spellings(name, words)
    ]
    areas: list[_Row] = [(s, a.id, {}) for a in view.areas for name in a.names for s in spellings(name, words)]
    floors: list[_Row] = [(s, f.id, {}) for f in view.floors for name in f.names for s in spellings(name, words)]
    return HomeLists(
        {"name": _entries(names, words), "area": _entries(areas, words), "floor": _entries(floors, words)}, words
    )


def spellings(name: str, words: Words) -> tuple[str, ...]:
    """How a name may be written: as it is, in the words' own spelling, with digits as words and back."""
    plain_name = normalize_for_matching(name).text.strip()
    folded = fold(name, words)
    forms = dict.fromkeys([plain_name, folded, _GLUED.sub(" ", folded)])
    for form in tuple(forms):
        forms.update(dict.fromkeys(_number_forms(form)))
    return tuple(f for f in forms if f)


def squash(text: str, words: Words) -> str:
    """Fold a text and drop the spaces."""
    return fold(text, words).replace(" ", "")


def _number_forms(name: str) -> Iterator[str]:
    for number in find_numbers(name.casefold()):
        value = plain(number.value)
        said = name[number.start : number.end]
        if said.isascii() and isinstance(value, int):
            digits = str(value)
            spelled = _NUMBER_WORDS[value] if 0 <= value < len(_NUMBER_WORDS) else digits
            other = spelled if said == digits else digits
            yield name[: number.start] + other + name[number.end :]


def _entries(rows: Iterable[_Row], words: Words) -> tuple[Entry, ...]:
    unique = {(spelling.casefold(), value, tuple(context.items())): spelling for spelling, value, context in rows}
    return tuple(
        Entry(squash(spelling, words), TextSlotValue.from_tuple((spelling, value, dict(context)), allow_template=False))
        for (_, value, context), spelling in unique.items()
    )
