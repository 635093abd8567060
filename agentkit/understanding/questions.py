"""Understand questions by their pieces: what is asked, of which devices; nothing here can act."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.asked import AskedFinder
from agentkit.understanding.entries import TARGETS, Item, Role, question_entries
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon, WordIndex
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.target import Group
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_MAX_CHARS = 200
_MAX_STATES = 3
_LISTING = frozenset({"which", "how_many"})


@dataclass(frozen=True)
class _Asked:
    """What the words of a question ask for, without the devices."""

    kinds: tuple[str, ...]
    states: tuple[str, ...]
    attribute: str | None
    group: Group

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
            finder = AskedFinder(words, view, lexicon.names, self._phrases.attributes)
            found = next((i for cut in lexicon.cuts(folded) if (i := self._read(cut, text, finder))), None)
        timings = {"questions": (time.perf_counter() - start) * 1000}
        if found is None:
            return Understanding(Kind.NONE, why="no question whose every word has a meaning", timings_ms=timings)
        return Understanding(Kind.CALLS, (found,), path="template", why="question pieces", timings_ms=timings)

    def _read(self, cut: Sequence[Item], text: Normalised, finder: AskedFinder) -> Intent | None:
        items = [i for i in cut if i.role is not Role.FILLER]
        if any(i.role is Role.PREPOSITION and after not in TARGETS for i, after in _with_next(items)):
            return None
        asked = _asked(items)
        if not asked.kinds and not (text.is_question and (asked.states or asked.attribute)):
            return None
        if len(asked.states) > _MAX_STATES or ("yes_no" in asked.kinds and not (asked.states or asked.attribute)):
            return None
        devices = finder.find(asked.group, asked.states, asked.attribute, is_listing=bool(_LISTING & set(asked.kinds)))
        return self._intent(asked, devices) if devices else None

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
            args["state"] = asked.states[0].rpartition(".")[2]
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
    for kind in ("how_many", "which", "any", "all"):
        if kind in asked.kinds:
            return kind
    if asked.group.has(Role.ALL) and n_devices > 1:
        return "any" if any(v.startswith("any") for v in asked.group.of(Role.ALL)) else "all"
    return "yes_no" if n_devices == 1 else "any"
