"""The template tier: a sentence that a template consumes whole, with the names of this home."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hassil.intents import Intents, SlotList
from hassil.recognize import RecognizeResult, recognize_ranked

from agentkit.types import Kind, Understanding
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.narrowing import Pack
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.numbers import in_digits
from agentkit.understanding.reading import NO_DEVICE, Reader
from agentkit.understanding.sentences import load_packs
from agentkit.understanding.slot_lists import HomeLists, build_lists
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

SPEAKER = "\N{BULLET}speaker"
"""Stands for the speaker's room in hassil's context; no area id can be spelled like it."""


class TemplateTier:
    """Matches whole sentences; the packs are compiled once, at the first sentence of a language."""

    def __init__(self, templates: TemplateMap, tools: Mapping[str, Tool], words: Mapping[str, Words]) -> None:
        self._templates = templates
        self._words = words
        self._reader = Reader(templates, tools)
        self._packs: dict[str, tuple[Pack, ...]] = {}
        self._lists: HomeCache[HomeLists] = HomeCache(build_lists)

    def load(self, language: str) -> None:
        """Compile the packs of a language now, so that the first sentence need not wait. Raises ConfigError."""
        self._packs_of(language)

    def warm_up(self, language: str) -> None:
        """Compile what hassil would only compile when a sentence first needs it."""
        for pack in self._packs_of(language):
            pack.warm_up()

    def match(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a sentence that one template consumes whole; kind NONE if there is none."""
        start = time.perf_counter()
        refusal: Understanding | None = None
        for result in self._results(text, view):
            found = self._reader.read(result, view, self._words[text.language])
            if found.kind is Kind.NONE:
                continue
            if found.kind is Kind.CALLS or found.kind is Kind.SAY:
                return _timed(found, start)
            refusal = refusal or found
        if refusal is None:
            return _timed(Understanding(Kind.NONE, why="no template consumes the sentence"), start)
        if refusal.reply_key == NO_DEVICE:  # the resolver tells what the home lacks
            refusal = replace(refusal, kind=Kind.CALLS)
        return _timed(refusal, start)

    def _results(self, text: Normalised, view: HomeView) -> Iterator[RecognizeResult]:
        """Matches in order of trust; a pack is asked only when the ones before it gave nothing that counts."""
        words = self._words[text.language]
        lists: dict[str, SlotList] = {**self._lists.get(view, words).for_text(text.text)}
        spellings = dict.fromkeys([text.text, fold(text.text, words), in_digits(text.text)])
        for pack in self._packs_of(text.language):
            barren: set[str] = set()  # what matched nothing does not match in other case either
            for spelling in spellings:
                if (haystack := pack.haystack(spelling)) in barren:
                    continue
                narrowed = pack.left_by(haystack, lists)
                found = self._recognised(spelling, narrowed, lists, pack) if narrowed.intents else []
                yield from found
                barren |= set() if found else {haystack}

    def _recognised(
        self, text: str, intents: Intents, lists: dict[str, SlotList], pack: Pack
    ) -> Sequence[RecognizeResult]:
        return recognize_ranked(
            text,
            intents,
            slot_lists=lists,
            intent_context={"area": SPEAKER},
            language=pack.name.split("-")[0],
            best_slot_name="name",
        )

    def _packs_of(self, language: str) -> tuple[Pack, ...]:
        if language not in self._packs:
            self._packs[language] = tuple(Pack(*named) for named in load_packs(self._templates, language))
        return self._packs[language]


def _timed(found: Understanding, start: float) -> Understanding:
    return replace(found, timings_ms={"template": (time.perf_counter() - start) * 1000})
