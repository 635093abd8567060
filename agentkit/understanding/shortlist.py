"""The few devices that a sentence can be about, and what in it says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentkit.devices.adapter import Device
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold, fold_all
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
    said, terms, here = _Said.of(folded, evidence, view, lexicon), lexicon.terms.of_device, view.speaker_area
    ids = lexicon.terms.holding(said.terms).union(d.id for name in said.names for d in view.named(name))
    types, places = said.kinds | said.of_classes, said.areas | said.on_floors
    scored = (
        (said.score(d, terms[d.id], is_near=d.area is not None and d.area == here), n, d)
        for n, d in enumerate(view.devices)
        if d.id in ids or d.type in types or d.area in places  # the others score nothing
    )
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
    is_set = folded.partition(" ")[0] in fold_all(words.talk.sets, words)  # one sets tables, too
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

    names: frozenset[str]
    areas: frozenset[str]
    on_floors: frozenset[str]
    """Areas of the floors that were mentioned."""
    kinds: frozenset[str]
    of_classes: frozenset[str]
    """Types of the classes of devices that were mentioned."""
    terms: frozenset[str]
    """Words that were said or nearly said."""

    @classmethod
    def of(cls, folded: str, evidence: Sequence[Item], view: HomeView, lexicon: Lexicon) -> _Said:
        def values(role: Role) -> frozenset[str]:
            return frozenset(m.value for m in evidence if m.role is role)

        return cls(
            values(Role.NAME),
            values(Role.AREA),
            frozenset(view.areas_of(values(Role.FLOOR))),
            values(Role.KIND),
            frozenset(c.partition(".")[0] for c in values(Role.CLASS)),
            lexicon.terms.said_in(folded),
        )

    def score(self, device: Device, terms: frozenset[str], *, is_near: bool) -> float:
        """How much of a device was said; `terms` are the words of its names. `is_near`: in the speaker's room."""
        score = 8.0 * (bool(self.names) and not self.names.isdisjoint(device.names)) + 3.0 * (device.area in self.areas)
        score += 2.0 * (device.area in self.on_floors)
        score += 2.0 * (device.type in self.kinds) + 2.0 * (device.type in self.of_classes)
        score += 2.0 * len(terms & self.terms) / max(len(terms), 1)
        if score >= _NEARLY_NAMED and is_near:
            score += 0.5
        return score if score >= 1.0 else 0.0
