"""Mend Chinese words that sound like a word of this home: the listener caught the sound and wrote other characters."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from agentkit.understanding.entries import Item, Role
from agentkit.understanding.lexicon import Lexicon

_MENDED = frozenset({Role.NAME, Role.AREA, Role.FLOOR, Role.KIND, Role.CLASS, Role.TOPIC})
_LONGEST = 8
_MAX_READINGS = 8
_BLURS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ing", "in"), ("eng", "en"), ("ang", "an"))
"""Sounds that many speakers do not tell apart."""


@dataclass(frozen=True)
class Mended:
    """A sentence with one run of characters replaced by a known word of the same sound."""

    text: str
    is_exact: bool
    """The usual sound of what was heard is the same but for its tone; else a rarer one, or only nearly the same."""


def mend_sound(folded: str, lexicon: Lexicon) -> list[Mended]:
    """Sentences that a folded one may have been before it was misheard; none if all of it is known."""
    if folded.isascii():
        return []
    mentions = lexicon.mentions(folded)
    known, words = _spans(mentions), _words_by_sound(lexicon)
    heard_well = [i for i in mentions if i.role is Role.NUMBER or (i.role is Role.ACT and i.end - i.start > 1)]
    kept = {n for i in heard_well for n in range(i.start, i.end)}
    found: dict[Mended, None] = {}
    for start, sound, after in _sounds_of_pairs(folded):
        near = {word for next_sound in after for word in words.get((sound, next_sound), ())}
        for word in sorted(near, key=lambda w: (-len(w), w)):
            heard = folded[start : start + len(word)]
            places = range(start, start + len(word))
            if heard == word or len(heard) < len(word) or known.issuperset(places) or not kept.isdisjoint(places):
                continue
            if all(_is_alike(a, b, is_exact=False) for a, b in zip(heard, word, strict=True)):
                is_exact = all(_is_alike(a, b, is_exact=True) for a, b in zip(heard, word, strict=True))
                found[Mended(folded[:start] + word + folded[start + len(word) :], is_exact)] = None
    return list(found)[:_MAX_READINGS]


def _spans(items: Iterable[Item]) -> set[int]:
    """Places of known words of some length; a single known character may be what was misheard."""
    return {n for i in items if i.end - i.start > 1 for n in range(i.start, i.end)}


def _sounds_of_pairs(folded: str) -> Iterator[tuple[int, str, frozenset[str]]]:
    """Each place of a text, with each sound of its character and all sounds of the next one."""
    for start, (char, after) in enumerate(itertools.pairwise(folded)):
        for sound in _blurred(char):
            yield start, sound, _blurred(after)


@lru_cache(maxsize=8)
def _words_by_sound(lexicon: Lexicon) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Sounds of the first two characters → words of this home and its kinds."""
    words = {e.text for e in lexicon.entries if e.role in _MENDED and 1 < len(e.text) <= _LONGEST}
    short = {e.text for e in lexicon.entries if e.role in (Role.KIND, Role.CLASS) and len(e.text) == 1}
    areas = {e.text for e in lexicon.entries if e.role is Role.AREA and len(e.text) < _LONGEST}
    words |= {area + kind for area in areas for kind in short}
    table: dict[tuple[str, str], list[str]] = {}
    for word in words:
        for sounds in itertools.product(_blurred(word[0]), _blurred(word[1])) if all(map(_sounds, word)) else ():
            table.setdefault(sounds, []).append(word)
    return {sounds: tuple(found) for sounds, found in table.items()}


def _is_alike(spoken: str, meant: str, *, is_exact: bool) -> bool:
    if spoken == meant:
        return True
    if is_exact:
        return _usual(spoken) in _sounds(meant)
    return not _blurred(spoken).isdisjoint(_blurred(meant))


@cache
def _blurred(char: str) -> frozenset[str]:
    return frozenset(map(_blur, _sounds(char)))


def _blur(sound: str) -> str:
    for clear, blurred in _BLURS:
        sound = sound.replace(clear, blurred)
    return sound


@cache
def _sounds(char: str) -> frozenset[str]:
    """How a character may be read, without tones; none for what is no Chinese character."""
    return frozenset(_toneless(s) for s in _readings().get(char, "").split(",") if s)


@cache
def _usual(char: str) -> str:
    """How a character is read most often, without its tone; "" for what is no Chinese character."""
    return _toneless(_readings().get(char, "").partition(",")[0])


def _toneless(sound: str) -> str:
    plain = unicodedata.normalize("NFD", sound.replace("ü", "v"))
    return "".join(c for c in plain if not unicodedata.combining(c))


@cache
def _readings() -> Mapping[str, str]:
    """The readings of every usual character, from pypinyin's table.

    The table is read without importing the package, which would load all its phrases: seventy megabytes for nothing.
    """
    spec = find_spec("pypinyin")
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        return {}
    table = json.loads(Path(places[0], "pinyin_dict.json").read_text("utf-8"))
    return {chr(int(code)): sounds for code, sounds in table.items() if 0x4E00 <= int(code) <= 0x9FFF}
