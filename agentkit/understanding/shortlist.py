"""The few devices that a sentence can be about, and what in it says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agentkit.devices.adapter import Device
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon, terms_of
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.words import Words

MAX_DEVICES = 16
_NEARLY_NAMED = 1.5
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
    evidence = _telling(folded, lexicon)
    near = _Nearness(folded)
    scored = [(_score(d, evidence, near, view, lexicon), n, d) for n, d in enumerate(view.devices)]
    best = sorted((row for row in scored if row[0] > 0), key=lambda row: (-row[0], row[1]))
    devices = tuple(d for _, _, d in best[:MAX_DEVICES])
    nearly = tuple(Item(Role.NAME, d.name, 0, 0) for score, _, d in best[:1] if score >= _NEARLY_NAMED)
    return Shortlist(devices, evidence or nearly)


def is_about_home(text: Normalised, view: HomeView, words: Words, lexicon: Lexicon) -> bool:
    """Whether anything of this home is mentioned, at least nearly."""
    folded = fold(text.text, words)
    return bool(_telling(folded, lexicon)) or bool(shortlist(text, view, words, lexicon).evidence)


def is_wish(text: Normalised, words: Words, lexicon: Lexicon) -> bool:
    """Whether a sentence begins like a command for devices or holds a unit: it may be about this home after all."""
    folded = fold(text.text, words)
    is_set = folded.partition(" ")[0] in {fold(w, words) for w in words.talk.sets}  # one sets tables, too
    is_begun = not is_set and any(p.search(folded) for p in words.talk.starts)
    return is_begun or any(m.role is Role.UNIT for m in lexicon.mentions(folded))


def is_nearly_said(device: Device, folded: str, lexicon: Lexicon) -> bool:
    """Whether every word of one of the device's names stands in the sentence, at most one slip of hearing apart."""
    near = _Nearness(folded)
    return any(terms and all(map(near.has, terms)) for terms in lexicon.terms[device.id])


class _Nearness:
    """Which words are said or nearly said in one sentence; remembers what it has compared."""

    def __init__(self, folded: str) -> None:
        self._said = set(terms_of(folded))
        self._by_length: dict[int, list[str]] = {}
        for said in self._said:
            if said[:1].isalpha():
                self._by_length.setdefault(len(said), []).append(said)
        self._known: dict[str, bool] = {}

    def has(self, term: str) -> bool:
        """Whether a word was said, or one that differs by one slip of hearing."""
        if term not in self._known:
            self._known[term] = term in self._said or self._is_near(term)
        return self._known[term]

    def _is_near(self, term: str) -> bool:
        """Whether a word was said that is one slip of speech recognition apart; numbers and short words never are."""
        if not (term.isascii() and term.isalpha() and len(term) >= 4):
            return False
        lengths = range(len(term) - 1, len(term) + 2)
        return any(_is_one_edit(term, said) for n in lengths for said in self._by_length.get(n, ()))


def _telling(folded: str, lexicon: Lexicon) -> tuple[Item, ...]:
    mentions = lexicon.mentions(folded)
    has_act = any(m.role is Role.ACT for m in mentions)  # "turn off everything" is about this home, "all right" is not
    return tuple(m for m in mentions if m.role in _TELLING or (has_act and m.role is Role.ALL))


def _score(device: Device, evidence: Iterable[Item], near: _Nearness, view: HomeView, lexicon: Lexicon) -> float:
    values = {(m.role, m.value) for m in evidence}
    score = 8.0 * any((Role.NAME, n) in values for n in device.names)
    score += 3.0 * ((Role.AREA, device.area) in values)
    area = view.area(device.area)
    score += 2.0 * (area is not None and (Role.FLOOR, area.floor) in values)
    score += 2.0 * ((Role.KIND, device.type) in values)
    score += 2.0 * any(r is Role.CLASS and v.partition(".")[0] == device.type for r, v in values)
    terms = {t for name in lexicon.terms[device.id] for t in name}
    score += 2.0 * sum(map(near.has, terms)) / max(len(terms), 1)
    if score >= _NEARLY_NAMED and device.area is not None and device.area == view.speaker_area:
        score += 0.5
    return score if score >= 1.0 else 0.0


def _is_one_edit(left: str, right: str) -> bool:
    """Whether one letter put in, left out or exchanged makes one of the other."""
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    left, right = left[at:], right[at:]
    return left[1:] == right[1:] or left == right[1:] or left[1:] == right


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
