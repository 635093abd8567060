"""The few devices that a sentence can be about, and what in it says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentkit.devices.adapter import Device
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
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
    said, terms = _Said.of(folded, evidence, lexicon), lexicon.terms.of_device
    scored = ((said.score(d, view, terms[d.id]), n, d) for n, d in enumerate(view.devices))
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
    said = lexicon.terms.said_in(folded)
    return any(terms and said.issuperset(terms) for terms in lexicon.terms.of_names[device.id])


def _telling(folded: str, lexicon: Lexicon) -> tuple[Item, ...]:
    mentions = lexicon.mentions(folded)
    has_act = any(m.role is Role.ACT for m in mentions)  # "turn off everything" is about this home, "all right" is not
    return tuple(m for m in mentions if m.role in _TELLING or (has_act and m.role is Role.ALL))


@dataclass(frozen=True)
class _Said:
    """What of a home a sentence speaks of."""

    by_role: Mapping[Role, frozenset[str]]
    types: frozenset[str]
    """Types of the classes of devices that were mentioned."""
    terms: frozenset[str]
    """Words that were said or nearly said."""

    @classmethod
    def of(cls, folded: str, evidence: Iterable[Item], lexicon: Lexicon) -> _Said:
        by_role = {role: frozenset(m.value for m in evidence if m.role is role) for role in _TELLING}
        types = frozenset(c.partition(".")[0] for c in by_role[Role.CLASS])
        return cls(by_role, types, lexicon.terms.said_in(folded))

    def score(self, device: Device, view: HomeView, terms: frozenset[str]) -> float:
        """How much of a device was said; `terms` are the words of its names."""
        score = 8.0 * (not self.by_role[Role.NAME].isdisjoint(device.names))
        score += 3.0 * (device.area in self.by_role[Role.AREA])
        score += 2.0 * (bool(floors := self.by_role[Role.FLOOR]) and _floor_of(device, view) in floors)
        score += 2.0 * (device.type in self.by_role[Role.KIND])
        score += 2.0 * (device.type in self.types)
        score += 2.0 * len(terms & self.terms) / max(len(terms), 1)
        if score >= _NEARLY_NAMED and device.area is not None and device.area == view.speaker_area:
            score += 0.5
        return score if score >= 1.0 else 0.0


def _floor_of(device: Device, view: HomeView) -> str | None:
    area = view.area(device.area)
    return None if area is None else area.floor
