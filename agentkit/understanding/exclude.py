"""Leave out what a sentence excludes: "all but the bedroom", "leave the bedroom, close the rest"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.entries import TARGETS, Item, Role
from agentkit.understanding.guard import guard
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.piece_checks import joined
from agentkit.understanding.selecting import of_class, select
from agentkit.understanding.words import Words

Match = Callable[[Normalised, HomeView], Understanding]
_IDLE = frozenset({Role.FILLER, Role.POINTER, Role.ALSO, Role.COPULA})
_EXCLUDED = frozenset({Role.NAME, Role.KIND, Role.CLASS, Role.AREA, Role.FLOOR, Role.HERE, Role.ALL})
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
            rest = _with_others_as_all(
                f"{text.text[: found.start()]} {text.text[found.end() :]}".strip(" ,."), self.words
            )
            if not kept or not rest or not self._is_several(rest) or self._is_statement(text.text):
                return _NOTHING
            return self._without(replace(text, text=rest, taken_back=""), kept)
        return self._forbidden(text)

    def _is_several(self, rest: str) -> bool:
        """Whether an English command is for several things: of one ("lock but the front door") nothing is left out."""
        return not rest.isascii() or any(
            m.role is Role.ALL or (m.role in (Role.KIND, Role.CLASS) and m.text.endswith("s"))
            for m in self.lexicon.mentions(fold(rest, self.words))
        )

    def _is_statement(self, text: str) -> bool:
        """Whether an English sentence has no verb before its "are" ("all lights but the kitchen light are off")."""
        mentions = sorted(self.lexicon.mentions(fold(text, self.words)), key=lambda m: m.start)
        roles = [m.role for m in mentions if m.role in (Role.ACT, Role.COPULA)]
        return text.isascii() and roles[:1] == [Role.COPULA]

    def _forbidden(self, text: Normalised) -> Understanding:
        """ "leave the bedroom alone, switch off the hall": what is forbidden only takes devices away."""
        parts = negated_clauses(text.text, self.words)
        if parts is None:
            return _NOTHING
        if guard(parts[0], self.words, kinds=[k for k in self.words.guards if k != "negation"]) is not None:
            return _NOTHING
        mentions = self.lexicon.mentions(fold(parts[0], self.words))
        kept = self._fitting([m for m in mentions if m.role in TARGETS])
        understood = self._commanded(replace(text, text=parts[1], taken_back=""), kept, mentions)
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

    def _commanded(self, text: Normalised, kept: Sequence[Device], mentions: Sequence[Item]) -> Understanding:
        """The command beside what is forbidden, which may mean the same thing by a pronoun or by its verb alone."""
        if text.text.isascii() and not any(p.search(fold(text.text, self.words)) for p in self.words.talk.starts):
            return _NOTHING
        if not any(m.role in (Role.NAME, Role.AREA, Role.FLOOR, Role.ALL) for m in mentions):
            kept = [d for d in kept if d.area == self.view.speaker_area] or kept
        spoken_of = Selector(device_ids=tuple(d.id for d in kept), types=tuple(dict.fromkeys(d.type for d in kept)))
        view = replace(self.view, spoken_of=spoken_of) if kept else self.view
        it = next(iter(self.words.it), "")
        bare = f"{text.text} {it}" if text.text.isascii() else f"{it}{text.text}"
        tries = (self.match(replace(text, text=said), view) for said in (text.text, bare))
        return next((found for found in tries if found.kind is not Kind.NONE), _NOTHING)

    def _without(self, text: Normalised, kept: Sequence[Device]) -> Understanding:
        understood = self.match(text, self.view)
        is_of_any_kind = all(len(i.selector.types) > 1 for i in understood.intents)
        # Without spaces the kind may be left unsaid: "all but the lamp" means all lamps there, not all there is.
        is_guessed = not text.text.isascii() and (understood.kind is not Kind.CALLS or is_of_any_kind)
        if is_guessed:
            kind = next((w for w in self.words.kinds.get(_type(kept), ())), "")
            understood = self.match(replace(text, text=f"{_first(self.words)}{kind} {text.text}"), self.view)
        if understood.kind is not Kind.CALLS:
            return _NOTHING
        is_guessed = is_guessed or (is_of_any_kind and _first(self.words) not in text.text.casefold())
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
        folded = fold(joined(part, self.words), self.words)
        for cut in self.lexicon.cuts(folded):
            parts = list(_parts(cut))
            items = [i for part in parts for i in part if i.role not in _IDLE]
            if not items or not all(i.role in _EXCLUDED for i in items):
                continue
            if not any(self._is_command(p, folded) for p in parts) and (found := self._all_of(items, parts)):
                return found
        return []

    def _is_command(self, part: Sequence[Item], folded: str) -> bool:
        """Whether a part begins with a verb ("... and lock the door"): it does not belong to what is left out."""
        return folded.isascii() and any(i.role is Role.ACT for i in self.lexicon.at(folded, part[0].start))

    def _all_of(self, items: Sequence[Item], parts: Sequence[Sequence[Item]]) -> list[Device]:
        """What the words mean together, if each of them counts; else what each of the joined parts means."""
        together = self._fitting(items)
        if together and all(any(self._fits(d, {i.role: [i.value]}) for d in together) for i in items):
            return together
        found = [self._fitting([i for i in part if i.role not in _IDLE]) for part in parts]
        return [d for part in found for d in part] if all(found) else []

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
            and (classes is None or any(self._is_of(device, c) for c in classes))
            and (areas is None or device.area in areas)
            and (Role.FLOOR not in groups or device.area in floors)
            and (Role.HERE not in groups or device.area == self.view.speaker_area)
        )

    def _is_of(self, device: Device, key: str) -> bool:
        kind, _, device_class = key.partition(".")
        listed = self.words.device_classes.get(key, ())
        return device.type == kind and bool(
            of_class(Selector(device_ids=(device.id,), types=(kind,)), device_class, listed, self.view)
        )


def _parts(cut: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """The pieces between the words that join."""
    for is_joint, items in itertools.groupby(cut, key=lambda i: i.role is Role.ALSO):
        if not is_joint:
            yield tuple(items)


def _with_others_as_all(rest: str, words: Words) -> str:
    """ "the other lights" are all the lights, once what is left out is told."""
    for other in words.others:
        rest = re.sub(rf"(?<![A-Za-z]){re.escape(other)}(?![A-Za-z])", _first(words), rest, flags=re.IGNORECASE)
    return rest


def negated_clauses(text: str, words: Words) -> tuple[str, str] | None:
    """The part of a sentence that forbids and the part that commands; None if it is not made of both."""
    clauses = clauses_of(text, words)
    forbidden = [c for c in clauses if any(p.search(c) for p in words.forbids)]
    if not forbidden or len(forbidden) == len(clauses):
        return None
    return ",".join(forbidden), ",".join(c for c in clauses if c not in forbidden)


def clauses_of(text: str, words: Words) -> list[str]:
    """The parts of a sentence between marks and between words for a contrast."""
    return [c.strip() for c in words.made("contrasts", _contrasts).split(text) if c.strip()]


def _contrasts(words: Words) -> re.Pattern[str]:
    spelled = (rf"(?<!\w){re.escape(w)}(?!\w)" if w.isascii() else re.escape(w) for w in words.contrasts)
    return re.compile("|".join(("[,.;]", *spelled)), re.IGNORECASE)


def is_mixed_up(text: str, words: Words) -> bool:
    """Whether a negation stands among several clauses or in a mere reason, so that it is no wish to leave something."""
    return len(clauses_of(text, words)) > 1 or any(p.match(text) for p in words.reasons)


def _type(devices: Sequence[Device]) -> str:
    types = {d.type for d in devices}
    return next(iter(types)) if len(types) == 1 else ""


def _first(words: Words) -> str:
    return words.everything[0] if words.everything else ""
