"""The few devices that a sentence can be about, and what in it says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agentkit.devices.adapter import Device
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.words import Words

MAX_DEVICES = 16
_TELLING = frozenset({Role.NAME, Role.AREA, Role.FLOOR, Role.KIND, Role.CLASS, Role.TOPIC})


@dataclass(frozen=True)
class Shortlist:
    """Devices in order of how much of them was said."""

    devices: tuple[Device, ...]
    evidence: tuple[Item, ...]
    """Mentions of this home; empty = the sentence is about something else."""


def shortlist(text: Normalised, view: HomeView, words: Words, lexicon: Lexicon) -> Shortlist:
    """Rank the devices by the words of their name, room and kind that the sentence holds."""
    folded = fold(text.text, words)
    mentions = lexicon.mentions(folded)
    evidence = tuple(m for m in mentions if m.role in _TELLING)
    said = set(_terms(folded))
    scored = [(_score(d, evidence, said, view, words), n, d) for n, d in enumerate(view.devices)]
    best = sorted((row for row in scored if row[0] > 0), key=lambda row: (-row[0], row[1]))
    fuzzy = tuple(d for _, _, d in best[:MAX_DEVICES])
    return Shortlist(fuzzy, evidence or _named(best, said, words))


def _score(device: Device, evidence: Iterable[Item], said: set[str], view: HomeView, words: Words) -> float:
    values = {(m.role, m.value) for m in evidence}
    score = 8.0 * any((Role.NAME, n) in values for n in device.names)
    score += 3.0 * ((Role.AREA, device.area) in values)
    area = view.area(device.area)
    score += 2.0 * (area is not None and (Role.FLOOR, area.floor) in values)
    score += 2.0 * ((Role.KIND, device.type) in values)
    score += 2.0 * any(r is Role.CLASS and v.partition(".")[0] == device.type for r, v in values)
    terms = {t for name in device.names for t in _terms(fold(name, words))}
    score += 2.0 * sum(any(_near(t, s) for s in said) for t in terms) / max(len(terms), 1)
    if score >= 2.0 and device.area is not None and device.area == view.speaker_area:
        score += 0.5
    return score if score >= 1.0 else 0.0


def _named(best: list[tuple[float, int, Device]], said: set[str], words: Words) -> tuple[Item, ...]:
    """Evidence of the last resort: a name that was nearly said."""
    for score, _, device in best[:1]:
        if score >= 1.5:
            return (Item(Role.NAME, device.name, 0, 0),)
    return ()


def is_nearly_said(device: Device, folded: str, words: Words) -> bool:
    """Whether every word of one of the device's names stands in the sentence, at most one slip of hearing apart."""
    said = _terms(folded)
    names = [_terms(fold(name, words)) for name in device.names]
    return any(terms and all(any(_near(t, s) for s in said) for t in terms) for terms in names)


def _terms(folded: str) -> list[str]:
    """English words, and pairs of Chinese characters."""
    terms: list[str] = []
    for word in folded.split():
        if word.isascii():
            terms.append(word)
        else:
            terms.extend(word[i : i + 2] for i in range(max(len(word) - 1, 1)))
    return terms


def _near(term: str, said: str) -> bool:
    """Equal, or one slip of speech recognition apart; numbers and short words must be equal."""
    if term == said:
        return True
    if not (term.isascii() and term.isalpha() and len(term) >= 4 and said[:1].isalpha()):
        return False
    return abs(len(term) - len(said)) <= 1 and distance(term, said, limit=1) <= 1


def distance(left: str, right: str, *, limit: int) -> int:
    """Edits between two words; anything past the limit is limit + 1."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
