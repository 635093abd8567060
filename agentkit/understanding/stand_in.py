"""Find what a command speaks of that the home lacks: with a stand-in for those words, every word has its meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from agentkit.devices.adapter import DECLARED_CLASS, Area, Device
from agentkit.types import Intent
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.named_guard import guard_unless_named
from agentkit.understanding.names import link_words
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

STAND_IN = "qzx"
"""Name of one device of every type and class, and of the room they are in; no word in any language."""
_MAX_CHARS, _MAX_LENGTH, _MAX_WORDS = 120, 40, 6
_LONG = 6
"""Letters of an unknown word before a mere "on" that is rather a name than a verb ("come on")."""
_KINDS = frozenset({Role.KIND, Role.CLASS})
_IDLE = frozenset({Role.FILLER, Role.POINTER})
_BEHIND = frozenset({Role.NUMBER, Role.UNIT})


@dataclass(frozen=True)
class Lacking:
    """What is asked of something unknown."""

    name: str
    """Its words, with the kind of device that is said with them."""
    intents: tuple[Intent, ...]
    """The calls, on stand-ins."""
    areas: tuple[str, ...]
    """Ids of the rooms of the home that are said beside it."""


@dataclass(frozen=True)
class _Stage:
    """What is made of a home once."""

    view: HomeView
    """Its rooms with stand-ins in place of its devices."""
    ours: frozenset[str]
    """Every word of its devices' names."""


class StandIns:
    """Reads sentences in a home that has only what is unknown; cached per home."""

    def __init__(self, phrases: PhraseTier, tools: Mapping[str, Tool], words: Mapping[str, Words]) -> None:
        self._phrases, self._tools, self._words = phrases, tools, words
        self._types = sorted({t for tool in tools.values() if not tool.is_query for t in tool.types})
        self._stages = HomeCache(self._stage_of)

    def read(self, text: Normalised, view: HomeView) -> Lacking | None:
        """The command that a sentence is but for a name; None if it is none, or its words may forbid something."""
        words = self._words[text.language]
        is_asked = text.is_question and not text.is_request
        if is_asked or len(text.text) > _MAX_CHARS:
            return None
        lexicon, stage = self._phrases.lexicon(view, words), self._stages.get(view, words)
        sentence = _Sentence(text, lexicon, words, stage.ours)
        spans = [s for s in sentence.spans() if s[1] - s[0] > 1 and sentence.is_object(*s)]
        if not spans or guard_unless_named(text.text, words, self._words.values(), lexicon) is not None:
            return None  # a single sign is what is left of a word, not a name
        for start, end in spans:
            said = replace(text, text=sentence.with_stand_in(start, end), taken_back="")
            found = self._phrases.match(said, stage.view).intents
            if found and not any(self._tools[i.tool].is_query for i in found):
                areas = {a for i in found for a in i.selector.areas if a != STAND_IN}
                return Lacking(sentence.name(start, end), found, tuple(sorted(areas)))
        return None

    def _stage_of(self, view: HomeView, words: Words) -> _Stage:
        of_device = self._phrases.lexicon(view, words).terms.of_device
        return _Stage(self._view_of(view, words), frozenset().union(*of_device.values()))

    def _view_of(self, view: HomeView, words: Words) -> HomeView:
        """The rooms of a home, with nothing in them but stand-ins in a room of their own."""
        keys = [*self._types, *(k for k in words.device_classes if k.partition(".")[0] in self._types)]
        devices = tuple(_device(key, area) for key in keys for area in (STAND_IN, None))
        return HomeView(devices, (*view.areas, Area(STAND_IN, STAND_IN)), view.floors)


def _device(key: str, area: str | None) -> Device:
    """A stand-in; one without a room may be in any."""
    kind, _, device_class = key.partition(".")
    attributes = {DECLARED_CLASS: device_class} if device_class else {}
    return Device(f"{kind}.{STAND_IN}_{device_class}_{area}", STAND_IN, kind, area, attributes=attributes)


class _Sentence:
    """A folded sentence with what is known of it."""

    def __init__(self, text: Normalised, lexicon: Lexicon, words: Words, ours: frozenset[str]) -> None:
        slips = {slip: meant for meant, listed in words.slips.items() for slip in listed}
        folded = " ".join(slips.get(w, w) for w in fold(text.text, words).split())
        self._folded = folded
        self._lexicon, self._mentions = lexicon, lexicon.mentions(folded)
        self._links = link_words(words)
        self._ours = ours
        self._is_spaced = folded.isascii()
        self._is_led = any(m.role is Role.ACT and not folded[: m.start].strip() for m in self._unless_idle())
        self._identifiers = [w.casefold().replace(".", "_") for w in text.text.split() if _is_identifier(w)]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where the name may stand: an identifier, or the unknown words with what belongs to them."""
        for word in self._identifiers:
            if "_" in word and (at := f" {self._folded} ".find(f" {word.replace('_', ' ')} ")) >= 0:
                yield at, at + len(word)
        known = {n for m in self._mentions for n in range(m.start, m.end)}
        unknown = [n for n, c in enumerate(self._folded) if not c.isspace() and n not in known]
        if unknown:
            start, end = unknown[0], unknown[-1] + 1
            if self._is_name(self._folded[start:end]):
                far = self._behind(end)
                yield from dict.fromkeys([(self._before(start), far), (start, far), (start, end)])
        elif any(m.role is Role.AREA for m in self._mentions):
            yield from {(m.start, m.end) for m in self._mentions if m.role is Role.NAME}  # a thing of another room

    def is_object(self, start: int, end: int) -> bool:
        """Whether a span stands where a verb has its object; elsewhere unknown words are talk."""
        behind = self._kind_behind(end)
        others = any(m.role in _KINDS and not start <= m.start <= max(end, behind) for m in self._things())
        if not self._is_spaced:
            beside = [m for m in self._mentions if m.end == start or m.start == end]
            return bool(behind) or not others or any(m.role in _KINDS or m.role is Role.ALL for m in beside)
        if not self._is_led:
            is_first = not any(m.end <= start for m in self._unless_idle())
            is_last = any(
                m.role is Role.ACT and m.end == len(self._folded) and m.start == end + 1 for m in self._mentions
            )
            is_long = is_last and end - start >= _LONG and " " not in self._folded[start:end]
            return is_first and (bool(behind) or bool(self._identifiers) or is_long)
        before = [m for m in self._unless_idle() if m.end <= start][-1:]
        is_next = any(m.role in _KINDS for m in self._mentions if before and m.end == before[0].end)
        return bool(behind) or not others or is_next or self._is_linked(start)

    def with_stand_in(self, start: int, end: int) -> str:
        """The sentence with the stand-in for a span."""
        gap = " " if self._is_spaced else ""
        return f"{self._folded[:start].strip()}{gap}{STAND_IN}{gap}{self._folded[end:].strip()}".strip()

    def name(self, start: int, end: int) -> str:
        """The words of a span with the kind of device behind them, or before a mere number."""
        if any(m.role is Role.NUMBER and m.start == start for m in self._mentions):
            before = self._folded[:start].rstrip()
            kinds = [m.start for m in self._mentions if m.role in _KINDS and m.end == len(before)]
            start = min(kinds, default=start)
        return self._folded[start : max(end, self._kind_behind(end))].strip()

    def _unless_idle(self) -> list[Item]:
        return [m for m in self._mentions if m.role not in _IDLE]

    def _things(self) -> list[Item]:
        """The pieces without the verb that leads, which may be a word for a kind too."""
        return [m for m in self._mentions if m.start > 0 or not self._is_led]

    def _behind(self, end: int) -> int:
        """The end of the numbers and single letters behind a place."""
        for item in self._mentions:
            is_next = 0 <= item.start - end <= 1
            if self._is_spaced and is_next and (item.role in _BEHIND or item.end - item.start == 1):
                end = item.end
        return end

    def _before(self, start: int) -> int:
        """The start of the word for the whole home, or of the Chinese number, right before a place."""
        near = [m for m in self._mentions if 0 <= start - m.end <= 1]
        wanted = Role.HOME if self._is_spaced else Role.NUMBER
        return min((m.start for m in near if m.role is wanted), default=start)

    def _kind_behind(self, end: int) -> int:
        """The end of the word for a kind of device right behind a place; 0 if there is none."""
        at = end + (self._folded[end : end + 1] in (" ", "的"))
        found = self._lexicon.at(self._folded, at) if at < len(self._folded) else []
        return max((i.end for i in found if i.role in _KINDS), default=0)

    def _is_linked(self, start: int) -> bool:
        """Whether the word before a place tells where: "the lights in …"."""
        before = [m for m in self._mentions if m.end <= start]
        return any(m.text in self._links for m in before if start - m.end <= 1 or m.end >= before[-1].start - 1)

    def _is_name(self, span: str) -> bool:
        """Whether a span holds a word of its own, and none of the home's names."""
        terms = span.split()
        if len(span) > _MAX_LENGTH or len(terms) > _MAX_WORDS:
            return False
        is_own = not span.isascii() or any(w not in self._lexicon.vocabulary for w in terms)
        return is_own and not any(w in self._ours for w in terms if len(w) > 2)


def _is_identifier(word: str) -> bool:
    return "_" in word or (word[:1].isalpha() and any(c.isdigit() for c in word))
