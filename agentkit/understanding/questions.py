"""Understand questions by their pieces: what is asked, of which devices; nothing here can act."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.asked import AskedFinder
from agentkit.understanding.asking import MOTION, PERSON, first_wide
from agentkit.understanding.entries import TARGETS, THINGS, Item, Role, question_entries
from agentkit.understanding.groups import Group
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lacking import WHY
from agentkit.understanding.lexicon import Lexicon, WordIndex
from agentkit.understanding.normalise import Normalised, fold, fold_all
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.selecting import select
from agentkit.understanding.tools import Tool
from agentkit.understanding.wide import are_joined, meanings, state_of
from agentkit.understanding.words import Words

_MAX_CHARS = 200
_MAX_STATES = 3
_LISTING = frozenset({"which", "how_many"})
_EVERYBODY = frozenset({"everyone", "nobody"})
_OPEN = _LISTING | _EVERYBODY | {"any", "anyone"}
"""Kinds of questions that need not say of what they ask."""


@dataclass(frozen=True)
class _Asked:
    """What the words of a question ask for, without the devices."""

    kinds: tuple[str, ...]
    states: tuple[str, ...]
    attribute: str | None
    group: Group
    senses: tuple[str, ...] = ()
    """All states that the one word for a state may mean, if nothing says of what."""

    @property
    def is_of_anything(self) -> bool:
        """Whether one state is asked of whatever there is: no word says of which device or kind."""
        return len(self.states) == 1 and self.attribute is None and not self.group.has(*THINGS)

    @property
    def has_place(self) -> bool:
        """Whether it is asked of a part of the home."""
        return self.group.has(Role.AREA, Role.FLOOR, Role.HERE)

    @property
    def has_scope(self) -> bool:
        """Whether a place or "everything" says of what it is asked."""
        return self.has_place or self.group.has(Role.ALL, Role.HOME)

    @property
    def is_of_people(self) -> bool:
        """Whether it is asked who is there, which no lamp and no robot can tell."""
        is_there = all(s.partition(".")[0] in ("person", "device_tracker", "occupancy") for s in self.senses)
        is_there = is_there or any(s.startswith(f"{PERSON}.") for s in self.senses)
        is_told = bool(self.states) or self.has_place or self.group.has(Role.HOME)
        return "anyone" in self.kinds and is_there and is_told and not self.group.has(*THINGS)

    @property
    def wants_nobody(self) -> bool:
        """Whether it is asked if a place is empty, or if all of the people are somewhere."""
        is_of_home = self.has_place or self.group.has(Role.HOME)
        is_empty = "occupancy.off" in self.senses and is_of_home and "which" not in self.kinds
        is_told = any(s.startswith(f"{PERSON}.") for s in self.senses)
        return (is_empty or (is_told and bool(_EVERYBODY & set(self.kinds)))) and not self.group.has(*THINGS)

    @property
    def state(self) -> str:
        """The state as devices call it; of several senses the one that most kinds share and that is no mere on."""
        values = [s.rpartition(".")[2] for s in self.senses or self.states]
        return Counter([v for v in values if v not in ("on", "off")] or values).most_common(1)[0][0]

    @property
    def is_choice(self) -> bool:
        """ "on or off": neither is what is asked, but the state itself."""
        return len(self.states) > 1


class QuestionTier:
    """Cuts a question into known pieces; the lexicon is its own, so that no verb of a command can be among them."""

    def __init__(self, phrases: PhraseMap, tools: Mapping[str, Tool], words: Mapping[str, Words]) -> None:
        self._phrases, self._tools, self._words = phrases, tools, words
        self._indexes = {language: WordIndex(w, question_entries) for language, w in words.items()}
        self._lexicons: HomeCache[Lexicon] = HomeCache(lambda view, w: Lexicon(view, w, self._indexes[w.language]))

    def match(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a question that is used up by its pieces; kind NONE if it is not."""
        start = time.perf_counter()
        words = self._words[text.language]
        folded = fold(text.text, words)
        found: Intent | None = None
        if words.asked_states and len(folded) <= _MAX_CHARS:
            lexicon = self._lexicons.get(view, words)
            asks = self._phrases.asks
            finder = AskedFinder(words, view, lexicon.names, self._phrases.attributes, asks.everywhere)
            idle = fold_all(words.question_fillers, words)
            cuts = (_without_adverbs(cut, idle) for cut in lexicon.cuts(folded))
            read = ((cut, self._read(cut, text, finder, lexicon)) for cut in cuts)
            found = next(iter(first_wide(((c, (i,) if i else ()) for c, i in read), asks, words)), None)
        timings = {"questions": (time.perf_counter() - start) * 1000}
        if found is None:
            return Understanding(Kind.NONE, why="no question whose every word has a meaning", timings_ms=timings)
        return Understanding(Kind.CALLS, (found,), path="template", why="question pieces", timings_ms=timings)

    def _read(self, cut: Sequence[Item], text: Normalised, finder: AskedFinder, lexicon: Lexicon) -> Intent | None:
        items = [i for i in cut if i.role is not Role.FILLER]
        if any(i.role is Role.PREPOSITION and after not in TARGETS for i, after in _with_next(items)):
            return None
        asked = _asked(items)
        if not asked.kinds and not (text.is_question and (asked.states or asked.attribute)):
            return None
        if len(asked.states) > _MAX_STATES or ("yes_no" in asked.kinds and not (asked.states or asked.attribute)):
            return None
        if asked.is_of_anything:
            is_begun = items[0].role is Role.ASK or text.is_question
            if not is_begun or not (asked.has_scope or _OPEN & set(asked.kinds)):
                return None  # "clear the list" asks for nothing, and "is it open" of one thing that was not named
            asked = replace(asked, senses=_senses(items, lexicon))
        if asked.is_of_people:
            return self._who(asked, finder)
        if asked.wants_nobody:
            return self._whether_all(asked, finder)
        if (wide := self._widened(asked, cut, finder, lexicon)) is not None:
            return wide
        devices = self._devices(asked, finder)
        return self._intent(asked, devices) if devices else None

    def _who(self, asked: _Asked, finder: AskedFinder) -> Intent:
        """Whether somebody is there; without a device that knows, people are asked for, so that the refusal says so."""
        found = finder.people(asked.group)
        name = self._phrases.readers[-1]
        args: dict[str, Any] = {"question": "any", "state": "detected" if found and asked.has_place else "home"}
        if found and all(d.device_class == MOTION for d in found):
            args = {"question": "one"}  # somebody may sit still
        if found:
            types = tuple(dict.fromkeys(d.type for d in found))
            return Intent(name, args, Selector(device_ids=tuple(d.id for d in found), types=types))
        here = (finder.view.speaker_area or "",) if asked.group.has(Role.HERE) and finder.view.speaker_area else ()
        areas = (*asked.group.of(Role.AREA), *here)
        return Intent(name, args, Selector(areas=areas, floors=asked.group.of(Role.FLOOR), types=(PERSON,)))

    def _whether_all(self, asked: _Asked, finder: AskedFinder) -> Intent:
        """Whether all are there or away; of a room that something senses, what it senses."""
        is_home = "everyone" in asked.kinds and f"{PERSON}.home" in asked.senses
        intent = self._who(asked, finder)
        if asked.has_place and intent.selector.device_ids:
            is_sure = intent.args.get("state") == "detected"
            return replace(intent, args={"question": "all", "state": "clear"}) if is_sure else intent
        return replace(intent, args={"question": "all", "state": "home" if is_home else "away"})

    def lacking(self, text: Normalised, view: HomeView) -> Understanding:
        """A question about a kind of device that its place lacks, so that the answer can say so."""
        words = self._words[text.language]
        folded = fold(text.text, words)
        if not words.asked_states or len(folded) > _MAX_CHARS:
            return Understanding(Kind.NONE)
        lexicon = self._lexicons.get(view, words)
        for cut in lexicon.cuts(folded):
            items = [i for i in cut if i.role is not Role.FILLER]
            asked = _asked(items)
            if items[:1] and items[0].role is Role.ASK and len(asked.states) == 1 and not asked.attribute:
                asked = replace(asked, senses=_senses(items, lexicon))
                if (intent := self._absent(asked, view)) is not None:
                    return Understanding(Kind.CALLS, (intent,), path="template", why=WHY)
        return Understanding(Kind.NONE)

    def _absent(self, asked: _Asked, view: HomeView) -> Intent | None:
        """The question for a kind in a place that has none of it; None if it names more than that."""
        group = asked.group
        kinds = group.of(Role.KIND, Role.CLASS) or (asked.senses[0].rpartition(".")[0],)
        device_type, _, device_class = kinds[0].partition(".")
        is_named = group.has(Role.NAME, Role.PART, Role.HINT, Role.HERE)
        if not group.has(Role.AREA, Role.FLOOR) or is_named or len(kinds) > 1 or not device_type:
            return None
        if not any(s.rpartition(".")[0] in ("", device_type, device_class) for s in asked.senses):
            return None
        place = Selector(areas=group.of(Role.AREA), floors=group.of(Role.FLOOR), types=(device_type,))
        if select(place, view):
            return None
        args: dict[str, Any] = {"question": _question(asked, 0), "state": asked.state}
        return Intent(self._phrases.readers[-1], args, replace(place, device_class=device_class or None))

    def _widened(self, asked: _Asked, cut: Sequence[Item], finder: AskedFinder, lexicon: Lexicon) -> Intent | None:
        """The question where a word means more ("door", and "garage" for its door), or kinds stand side by side."""
        asks, words, group = self._phrases.asks, finder.words, asked.group
        if len(asked.states) != 1 or asked.attribute or group.has(Role.NAME, Role.PART, Role.HINT):
            return None
        kinds = [i for i in group.items if i.role in (Role.KIND, Role.CLASS)]
        if not kinds and not group.has(Role.ALL) and not _OPEN & set(asked.kinds):
            kinds = [i for i in group.items if i.role is Role.AREA and asks.wide_key(i.text, words)]
        keys = {i: asks.wide_key(i.text, words) for i in kinds}
        states = {k: state_of(k, meanings(cut, lexicon)) for k in keys.values() if k}
        if not kinds or None in states.values() or not (are_joined(kinds, cut, words) or (states and len(kinds) == 1)):
            return None
        place = Group(tuple(i for i in group.items if i not in kinds))
        senses = _senses(cut, lexicon)
        singles = {i: {d.id for s in senses for d in finder.of_kind(place, i, s)} for i in kinds if not keys[i]}
        pool = tuple(
            d
            for d in finder.placed(place)
            if any(asks.is_wide(d, keys[i]) if keys[i] else d.id in singles[i] for i in kinds)
        )
        state = next((s for s in states.values() if s), None) or replace(asked, senses=senses).state
        types = tuple(dict.fromkeys(d.type for d in pool))
        args: dict[str, Any] = {"question": _question(asked, len(pool)), "state": state}
        name = self._phrases.readers[-1]
        return Intent(name, args, Selector(device_ids=tuple(d.id for d in pool), types=types)) if pool else None

    def _devices(self, asked: _Asked, finder: AskedFinder) -> tuple[Device, ...]:
        """What is asked about; "anything open" is whatever can be open in any sense of the word."""
        is_listing, is_any = bool(_LISTING & set(asked.kinds)), asked.is_of_anything
        found: set[str] = set()
        singles: list[tuple[str, ...]] = [(s,) for s in asked.senses]
        for states in singles or [asked.states]:
            pool = finder.find(asked.group, states, asked.attribute, is_listing=is_listing, is_any=is_any)
            found |= {d.id for d in pool}
        return tuple(d for d in finder.view.devices if d.id in found)

    def _intent(self, asked: _Asked, devices: tuple[Device, ...]) -> Intent | None:
        types = tuple(dict.fromkeys(d.type for d in devices))
        selector = Selector(device_ids=tuple(d.id for d in devices), types=types)
        reader = self._reader(asked, types)
        if reader is None:
            return None
        args: dict[str, Any] = {"question": _question(asked, len(devices))}
        if asked.attribute:
            args["attribute"] = asked.attribute
        elif asked.states and not asked.is_choice:
            args["state"] = asked.state
        known = {p.name for p in reader.params}
        return Intent(reader.name, {k: v for k, v in args.items() if k in known}, selector)

    def _reader(self, asked: _Asked, types: Sequence[str]) -> Tool | None:
        """The tool that answers: a special one if its devices as a whole are asked about."""
        *special, general = (t for name in self._phrases.readers if (t := self._tools.get(name)) is not None)
        for tool in special:
            is_whole = asked.attribute is None or self._phrases.attributes.get(asked.attribute) == tool.types
            if set(types) <= set(tool.types) and is_whole:
                return tool
        return general if set(types) <= set(general.types) else None


def _without_adverbs(cut: Sequence[Item], idle: Collection[str]) -> Sequence[Item]:
    """The pieces without a word that is no state before one that is: "still on" is on."""
    return [i for i, after in _with_next(cut) if not (i.role is Role.ASKED and after is Role.ASKED and i.text in idle)]


def _senses(items: Sequence[Item], lexicon: Lexicon) -> tuple[str, ...]:
    """What the one state word may mean of different kinds; a sense that fits all kinds stands for the others."""
    found = meanings(items, lexicon)
    return tuple(v for v in found if "." not in v) or found


def _with_next(items: Sequence[Item]) -> Iterator[tuple[Item, Role | None]]:
    return zip(items, [*(i.role for i in items[1:]), None][: len(items)], strict=True)


def _asked(items: Sequence[Item]) -> _Asked:
    group = Group(tuple(i for i in items if i.role in TARGETS))
    kinds = tuple(i.value for i in items if i.role is Role.ASK)
    states = tuple(dict.fromkeys(i.value for i in items if i.role is Role.ASKED))
    attributes = tuple(dict.fromkeys(i.value for i in items if i.role is Role.ATTRIBUTE))
    return _Asked(kinds, states, attributes[0] if len(attributes) == 1 else None, group)


def _question(asked: _Asked, n_devices: int) -> str:
    if not asked.states or asked.is_choice:
        return "how_many" if "how_many" in asked.kinds and not asked.attribute else "one"
    for kind in ("how_many", "which", "any", "anyone", "all"):
        if kind in asked.kinds:
            return "any" if kind == "anyone" else kind
    if asked.group.has(Role.ALL) and n_devices > 1:
        return "any" if any(v.startswith("any") for v in asked.group.of(Role.ALL)) else "all"
    return "yes_no"
