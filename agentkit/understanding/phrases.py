"""Understand sentences by their pieces: any word order, several commands, but no piece without meaning."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from agentkit.types import Intent, Kind, Understanding
from agentkit.understanding.asking import AskReader, first_wide
from agentkit.understanding.clause import ClauseReader
from agentkit.understanding.entries import TARGETS, Item, Role, ask_entries
from agentkit.understanding.groups import without_origin
from agentkit.understanding.heads import (
    head_choices,
    is_particle_missed,
    is_verb_missed,
    is_verb_split,
    verb_table,
    with_led,
)
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon, WordIndex, lexicons_of
from agentkit.understanding.named_topics import with_named_topic
from agentkit.understanding.normalise import Normalised, fold, fold_all
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.piece_checks import (
    MAX_COMMANDS,
    Named,
    distinct,
    has_share_as_value,
    has_too_many_verbs,
    has_torn_kind,
    has_value_as_other,
    is_guarded,
    is_name_alone,
    is_open,
    is_preposition_cut,
    is_verb_torn,
    joined,
    named_in,
    reaches_named,
    unrepeated,
    without_stutter,
    without_theme,
)
from agentkit.understanding.selecting import select
from agentkit.understanding.splits import best_split
from agentkit.understanding.target import TargetFinder
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_MAX_CHARS = 400
_SPENT = frozenset({Role.WISH, Role.COPULA, Role.PREPOSITION, Role.POINTER})
_AFTER = TARGETS | {Role.MODE}
_LACKED = frozenset({Role.AREA, Role.FLOOR, Role.HINT, Role.CLASS})
"""What a device may not fit: a cut without any reads the same whether or not it may be absent."""
BESIDE = "beside"
"""Kind of guard: what is beside a room or a device is not in or on it."""


class PhraseTier:
    """Cuts a sentence into known pieces and reads each clause; cached per home."""

    def __init__(
        self,
        phrases: PhraseMap,
        tools: Mapping[str, Tool],
        words: Mapping[str, Words],
        lexicons: HomeCache[Lexicon] | None = None,
    ) -> None:
        """`lexicons`: those that others use as well; None = of its own."""
        self._phrases, self._tools, self._words = phrases, tools, words
        self._acted_on = {t for rules in phrases.acts.values() for rule in rules for t in rule.types}
        self._verbs = {language: verb_table(w) for language, w in words.items()}
        self._kind_words = frozenset(
            w
            for own in words.values()
            for table in (own.kinds, own.device_classes)
            for listed in table.values()
            for w in listed
        )
        asked = {language: WordIndex(own, ask_entries) for language, own in words.items()}
        self._lexicons = lexicons if lexicons is not None else lexicons_of(words.values())
        self._ask_lexicons = HomeCache(lambda view, own: Lexicon(view, own, asked[own.language]))

    def lexicon(self, view: HomeView, words: Words) -> Lexicon:
        """All phrases of this home, also for those who only look for mentions."""
        return self._lexicons.get(view, words)

    def is_too_long(self, text: Normalised, view: HomeView) -> bool:
        """Whether a text holds more commands than are ever read."""
        words = self._words[text.language]
        return has_too_many_verbs(self.lexicon(view, words).mentions(fold(joined(text.text, words), words)))

    def match(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a sentence that is used up by its pieces; kind NONE if it is not."""
        start = time.perf_counter()
        words = self._words[text.language]
        is_asked = text.is_question and not text.is_request
        folded = fold(joined(text.text, words), words)
        lexicon = self.lexicon(view, words)
        modes = words.made("modes", lambda own: frozenset().union(*(fold_all(m, own) for m in own.modes.values())))
        raw = lexicon.cuts(folded) if len(folded) <= _MAX_CHARS else iter(())
        raw = itertools.takewhile(lambda cut: not is_name_alone(cut), raw)
        raw = (cut for cut in raw if not is_preposition_cut(cut, words) and not is_verb_torn(cut))
        raw = (cut for cut in raw if not is_verb_split(cut, self._verbs[text.language]))
        whole = (c for c in raw if not has_value_as_other(c, modes) and not has_torn_kind(c, self._kind_words))
        cuts: Iterator[tuple[Item, ...]] = (c for c in distinct(whole) if not has_share_as_value(c, self._kind_words))
        if is_asked:
            cuts = (cut for cut in cuts if any(i.role is Role.WISH and i.value in words.asks for i in cut))
        kinds = () if words.is_pieces_first else (BESIDE,)
        cuts = (cut for cut in cuts if not is_guarded(cut, folded, words, kinds=kinds))
        cuts, again = itertools.tee(cuts)  # made one after the other: mostly the first ones tell what is meant
        found = (
            self._first(cuts, self._clauses(words, view), folded)
            or self._asked(folded, text.is_question, view, words)
            or self._absent(again, self._clauses(words, view, is_absent_fine=True), folded)
        )
        found = unrepeated(found, view)
        timings = {"phrases": (time.perf_counter() - start) * 1000}
        if not found:
            return Understanding(Kind.NONE, why="not every word has a meaning here", timings_ms=timings)
        why = "pieces: " + "; ".join(intent.tool for intent in found)
        return Understanding(Kind.CALLS, found, path="template", why=why, timings_ms=timings)

    def _clauses(self, words: Words, view: HomeView, *, is_absent_fine: bool = False) -> ClauseReader:
        targets = TargetFinder(words, view, self.lexicon(view, words).names, is_absent_fine)
        return ClauseReader(self._phrases, self._tools, targets)

    def _first(self, cuts: Iterable[Sequence[Item]], reader: ClauseReader, folded: str) -> tuple[Intent, ...]:
        """What the first cut means that is readable and passes over no device's name of the folded sentence."""
        words, view = reader.targets.words, reader.targets.view
        readings = (found for cut in cuts if (found := self._read(cut, reader, folded)))
        if not (first := next(readings, ())):
            return ()
        said = self._named_in(folded, view, words)
        return next((found for found in itertools.chain((first,), readings) if reaches_named(found, said, view)), ())

    def _named_in(self, folded: str, view: HomeView, words: Words) -> Named:
        """Names in a text of devices that can be acted on."""
        lexicon = self.lexicon(view, words)
        return named_in(lexicon.mentions(folded), view, self._acted_on, words, lexicon.names)

    def passes_over(self, found: Understanding, text: Normalised, view: HomeView) -> bool:
        """Whether calls of another tier leave out a device whose name was said: 台灯 is no word for any light here."""
        words = self._words[text.language]
        said = self._named_in(fold(text.text, words), view, words)
        return bool(found.intents) and not reaches_named(found.intents, said, view)

    def _absent(self, cuts: Iterable[Sequence[Item]], reader: ClauseReader, folded: str) -> tuple[Intent, ...]:
        """Commands to kinds of devices that their rooms lack, or of which several fit: the resolver says so."""
        found = self._first((cut for cut in cuts if any(i.role in _LACKED for i in cut)), reader, folded)
        is_unclear = any(i.selector.is_one for i in found)
        return () if any(select(i.selector, reader.targets.view) for i in found) and not is_unclear else found

    def _asked(self, folded: str, is_question: bool, view: HomeView, words: Words) -> tuple[Intent, ...]:
        """Read a question about states or values."""
        if not words.reports or len(folded) > _MAX_CHARS:
            return ()
        reader, lexicon = self.asking(view, words)
        cuts = distinct(cut for cut in lexicon.cuts(folded) if not is_guarded(cut, folded, words, kinds=(BESIDE,)))
        read = ((cut, reader.read(cut, is_question=is_question)) for cut in cuts)
        return first_wide(read, self._phrases.asks, words)

    def asking(self, view: HomeView, words: Words) -> tuple[AskReader, Lexicon]:
        """What reads questions in the words of `reports`, and the phrases that they are made of."""
        return AskReader(self._phrases.asks, words, view), self._ask_lexicons.get(view, words)

    @property
    def phrases(self) -> PhraseMap:
        """What acts and values mean, as the app's data say."""
        return self._phrases

    def reader(self, folded: str, view: HomeView, language: str) -> Callable[[Sequence[Item]], tuple[Intent, ...]]:
        """Give what reads one cut of a folded sentence; empty if the cut does not make commands of this home."""
        reader = self._clauses(self._words[language], view)
        return lambda cut: self._first([cut], reader, folded)

    def _read(self, cut: Sequence[Item], reader: ClauseReader, folded: str) -> tuple[Intent, ...]:
        words, view = reader.targets.words, reader.targets.view
        verbs = self._verbs[words.language]
        items = [i for i in without_origin(cut) if i.role is not Role.FILLER]
        is_left = any(i.role is Role.FROM for i in items)
        if is_left or is_open(items, self._kind_words) or is_particle_missed(items, verbs):
            return ()
        if any(i.role is Role.PREPOSITION and after not in _AFTER for i, after in _with_next(items)):
            return ()
        has_wish = any(i.role is Role.WISH for i in items)
        if not has_wish and any(i.role in (Role.COPULA, Role.STATE) for i in items):
            return ()
        items = [i for i in items if i.role not in _SPENT]
        if is_verb_missed(items, verbs, self._phrases.opposites):
            return ()
        items = [*without_theme(without_stutter(items), view, words)]
        items = [*with_named_topic(items, folded, self.lexicon(view, words), view, self._acted_on)]
        for heads in head_choices(items, verbs):
            if len(heads) <= MAX_COMMANDS and (found := best_split(items, heads, reader)):
                return found
            if (led := with_led(heads, items)) and (found := best_split(items, led, reader)):
                return found
        return ()


def _with_next(items: Sequence[Item]) -> Iterator[tuple[Item, Role | None]]:
    """Each piece with the role of the one behind it."""
    return zip(items, [*(i.role for i in items[1:]), None][: len(items)], strict=True)
