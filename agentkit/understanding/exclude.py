"""Leave out what a sentence excludes: "all but the bedroom", "leave the bedroom, close the rest"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.entries import TARGETS, Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.selecting import select
from agentkit.understanding.words import Words

Match = Callable[[Normalised, HomeView], Understanding]
_IDLE = frozenset({Role.FILLER, Role.POINTER, Role.ALSO, Role.COPULA})
_NOTHING = Understanding(Kind.NONE)


@dataclass(frozen=True)
class Excluder:
    """Reads the rest of a sentence by another tier and takes the excluded devices out of it."""

    match: Match
    lexicon: Lexicon
    words: Words
    view: HomeView

    def read(self, text: Normalised) -> Understanding:
        """The calls of the sentence without what it excludes; kind NONE if either part stays unclear."""
        for pattern in self.words.exclusions:
            found = pattern.search(text.text)
            if found is None:
                continue
            kept = self._devices(found["but"])
            rest = f"{text.text[: found.start()]} {text.text[found.end() :]}".strip(" ,.")
            for other in self.words.others:
                rest = rest.replace(other, _first(self.words))
            if not kept or not rest:
                return _NOTHING
            return self._without(replace(text, text=rest, taken_back=""), kept)
        return self._forbidden(text)

    def _forbidden(self, text: Normalised) -> Understanding:
        """ "leave the bedroom alone, switch off the hall": what is forbidden only takes devices away."""
        parts = negated_clauses(text.text, self.words)
        if parts is None:
            return _NOTHING
        mentions = self.lexicon.mentions(fold(parts[0], self.words))
        kept = self._fitting([m for m in mentions if m.role in TARGETS])
        understood = self.match(replace(text, text=parts[1], taken_back=""), self.view)
        if understood.kind is not Kind.CALLS or not kept:
            return _NOTHING
        ids = {d.id for d in kept}
        reached = {d.id for i in understood.intents for d in select(i.selector, self.view)}
        if not reached & ids or reached <= ids:
            return understood
        less = [self._less(i, ids) for i in understood.intents]
        intents = tuple(i for i in less if i)
        return (
            replace(understood, intents=intents, why=f"{understood.why}; less what is forbidden")
            if all(less)
            else _NOTHING
        )

    def _without(self, text: Normalised, kept: Sequence[Device]) -> Understanding:
        understood = self.match(text, self.view)
        is_of_any_kind = all(len(i.selector.types) > 1 for i in understood.intents)
        is_guessed = (
            understood.kind is not Kind.CALLS or is_of_any_kind
        )  # "all but the lamp": all lamps, not all there is
        if is_guessed:
            kind = next((w for w in self.words.kinds.get(_type(kept), ())), "")
            understood = self.match(replace(text, text=f"{_first(self.words)}{kind} {text.text}"), self.view)
        if understood.kind is not Kind.CALLS:
            return _NOTHING
        ids = {d.id for d in kept}
        less = [self._less(intent, ids) for intent in understood.intents]
        intents = tuple(i for i in less if i)
        why = f"{understood.why}; less what is excluded"
        return replace(understood, intents=intents, why=why, needs_confirmation=is_guessed) if all(less) else _NOTHING

    def _less(self, intent: Intent, ids: set[str]) -> Intent | None:
        """The call on the devices that are left; one that names its device cannot be meant to exclude."""
        selector = intent.selector
        if selector.names or not (selector.types or selector.device_ids):
            return None
        found = list(select(selector, self.view))
        is_placed = selector.areas or selector.floors or selector.device_ids or selector.is_all
        if not is_placed and all(d.area == self.view.speaker_area for d in found if d.id in ids):
            found = [d for d in found if d.area == self.view.speaker_area]
        found = [d for d in found if d.id not in ids]
        return replace(intent, selector=Selector(device_ids=tuple(d.id for d in found))) if found else None

    def _devices(self, part: str) -> list[Device]:
        """Everything in the rooms, or of the names and kinds, that a part of the sentence is made of."""
        for cut in self.lexicon.cuts(fold(part, self.words)):
            items = [i for i in cut if i.role not in _IDLE]
            if items and all(i.role in TARGETS for i in items) and (found := self._fitting(items)):
                return found
        return []

    def _fitting(self, items: Sequence[Item]) -> list[Device]:
        groups: dict[Role, list[str]] = {}
        for item in items:
            groups.setdefault(item.role, []).append(item.value)
        return [d for d in self.view.devices if self._fits(d, groups)] if groups else []

    def _fits(self, device: Device, groups: dict[Role, list[str]]) -> bool:
        floors = set(self.view.areas_of(groups.get(Role.FLOOR, ())))
        names, kinds, areas = groups.get(Role.NAME), groups.get(Role.KIND), groups.get(Role.AREA)
        classes = groups.get(Role.CLASS)
        return (
            (names is None or bool(set(names) & set(device.names)))
            and (kinds is None or device.type in kinds)
            and (classes is None or any(c.partition(".")[0] == device.type for c in classes))
            and (areas is None or device.area in areas)
            and (Role.FLOOR not in groups or device.area in floors)
        )


def negated_clauses(text: str, words: Words) -> tuple[str, str] | None:
    """The part of a sentence that forbids and the part that commands; None if it is not made of both."""
    clauses = [c.strip() for c in re.split("[,.;]", text) if c.strip()]
    forbidden = [c for c in clauses if any(p.search(c) for p in words.forbids)]
    if not forbidden or len(forbidden) == len(clauses):
        return None
    return ",".join(forbidden), ",".join(c for c in clauses if c not in forbidden)


def _type(devices: Sequence[Device]) -> str:
    types = {d.type for d in devices}
    return next(iter(types)) if len(types) == 1 else ""


def _first(words: Words) -> str:
    return words.everything[0] if words.everything else ""
