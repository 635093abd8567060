"""Cut a sentence into pieces that are all known: names of the home and words of the app, nothing left over."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

from agentkit.understanding.entries import Entry, Item, Role, word_entries
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.names import NameIndex, hint_entries, home_entries
from agentkit.understanding.normalise import fold
from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.terms import HomeTerms, Nearness, terms_of
from agentkit.understanding.words import Words

_MAX_CUTS = 400
_N_TEXTS = 32
"""Texts whose pieces are remembered: a sentence, its parts and what it may have been meant to be."""
_RANK = {role: n for n, role in enumerate(Role)}


class WordIndex:
    """The app's words of one language, folded once for all homes."""

    def __init__(self, words: Words, entries: Callable[[Words], Iterable[Entry]] = word_entries) -> None:
        self.entries = tuple(dict.fromkeys(e for e in entries(words) if e.text))
        self.texts = frozenset(e.text for e in self.entries)
        self.terms = frozenset(w for e in self.entries for w in e.text.split())
        self.before = _halves_before(words)
        """Second half of a verb → the halves that may stand before it."""


class Lexicon:
    """All phrases that a sentence about this home can be made of, looked up by the text itself.

    At one place of a sentence there are only as many texts as phrases have lengths, however large the home is.
    """

    def __init__(self, view: HomeView, words: Words, index: WordIndex | None = None) -> None:
        index = index or WordIndex(words)
        by_text: dict[str, list[Entry]] = {}
        self._before = index.before
        self.terms = HomeTerms({d.id: [terms_of(fold(n, words)) for n in d.names] for d in view.devices})
        self.names = NameIndex.of(view, words)
        names = list(home_entries(view, words))
        names += hint_entries(view, words, index.texts | {e.text for e in names})
        for entry in dict.fromkeys((*names, *index.entries)):
            if entry.text:
                by_text.setdefault(entry.text, []).append(entry)
        self._by_text = {text: tuple(sorted(found, key=lambda e: _RANK[e.role])) for text, found in by_text.items()}
        self._lengths = _lengths(by_text)
        """First character → lengths of the phrases that start with it, longest first."""
        self.entries = tuple(e for found in self._by_text.values() for e in found)
        self.vocabulary = index.terms | {w for e in names for w in e.text.split()}
        """Every word that a known phrase holds."""
        self._known = lru_cache(_N_TEXTS)(lambda text: dict[int, tuple[Item, ...]]())
        """Text → place → pieces that can start there: many readers look at the same few texts of a turn."""
        self._mentions = lru_cache(_N_TEXTS)(self._find_mentions)

    @cached_property
    def near(self) -> Nearness:
        """Every word that a known phrase holds, by what it may be misspelled as."""
        return Nearness(self.vocabulary)

    def at(self, text: str, start: int) -> tuple[Item, ...]:
        """Pieces that can start at a place, longest first."""
        known = self._known(text)
        if (found := known.get(start)) is None:
            found = known[start] = tuple(self._at(text, start))
        return found

    def _at(self, text: str, start: int) -> Iterator[Item]:
        if not _may_start(text, start):
            return
        for length in self._lengths.get(text[start], ()):
            end = start + length
            if end <= len(text) and (known := self._by_text.get(text[start:end])) and _may_end(text, end):
                yield from (Item(e.role, e.value, start, end, is_plural=e.is_plural, text=e.text) for e in known)

    def cuts(self, text: str) -> Iterator[tuple[Item, ...]]:
        """Ways to cut a folded text into pieces without rest, the ones with longer pieces first."""
        numbers = {n.start: n for n in find_numbers(text)}
        budget = [_MAX_CUTS]
        dead: set[tuple[int, str]] = set()

        def pieces(start: int) -> Sequence[Item]:
            found: Sequence[Item] = self.at(text, start)
            if (number := numbers.get(start)) is not None:
                item = Item(Role.NUMBER, text[number.start : number.end], start, number.end, number.value)
                found = sorted((*found, item), key=lambda i: i.start - i.end)
            if start == 0 and self._leads_to_floor(text, found):
                found = sorted(found, key=lambda i: (i.start - i.end, i.role is not Role.PREPOSITION))
            return found

        def walk(start: int, done: tuple[Item, ...], act: str) -> Iterator[tuple[Item, ...]]:
            """`act` is the value of the last verb that is done."""
            while start < len(text) and text[start] == " ":
                start += 1
            if start >= len(text):
                budget[0] -= 1
                yield done
                return
            if (start, act) in dead or budget[0] <= 0:
                return
            before = budget[0]
            for item in pieces(start):
                if item.role is not Role.ACT:
                    yield from walk(item.end, (*done, item), act)
                elif act in self._before.get(item.value, (act,)):
                    yield from walk(item.end, (*done, item), item.value)
            if budget[0] == before:
                dead.add((start, act))

        yield from walk(0, (), "")

    def mentions(self, text: str) -> tuple[Item, ...]:
        """Pieces of a folded text that are known, longest first and without overlap; the rest is skipped."""
        return self._mentions(text)

    def _find_mentions(self, text: str) -> tuple[Item, ...]:
        found: list[Item] = []
        start = 0
        numbers = {n.start: n for n in find_numbers(text)}
        while start < len(text):
            items = [i for i in self.at(text, start) if i.role is not Role.HINT]
            number = numbers.get(start)
            if number and (not items or items[0].end < number.end):
                found.append(Item(Role.NUMBER, text[start : number.end], start, number.end, number.value))
                start = number.end
            elif items:
                longest = items[0].end
                items = [i for i in items if i.end == longest]
                is_named = any(i.role is Role.NAME for i in items)  # "night mode" of a home that calls a scene so
                found.extend(i for i in items if not (is_named and i.role is Role.CHOICE))
                start = longest
            else:
                start = _next_start(text, start)
        return tuple(found)

    def _leads_to_floor(self, text: str, first: Sequence[Item]) -> bool:
        """Whether a preposition before a floor begins a text: read as a verb it would use up all the cuts."""
        end = next((i.end for i in first if i.role is Role.PREPOSITION), 0)
        while 0 < end < len(text):
            items = self.at(text, end) if text[end] != " " else []
            if any(i.role is Role.FLOOR for i in items):
                return True
            end = end + 1 if text[end] == " " else next((i.end for i in items if i.role is Role.FILLER), 0)
        return False


def lexicons_of(languages: Iterable[Words]) -> HomeCache[Lexicon]:
    """The lexicons of the homes at hand; the words of each language are read once for all of them."""
    indexes = {words.language: WordIndex(words) for words in languages}
    return HomeCache(lambda view, words: Lexicon(view, words, indexes[words.language]))


def _lengths(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = {}
    for text in texts:
        found.setdefault(text[0], set()).add(len(text))
    return {first: tuple(sorted(lengths, reverse=True)) for first, lengths in found.items()}


def _halves_before(words: Words) -> dict[str, frozenset[str]]:
    """Second halves of verbs → the halves that may stand before them; first halves are not among the keys."""
    first: set[str] = set()
    before: dict[str, set[str]] = {}
    for phrase in (p for phrases in words.verbs.values() for p in phrases):
        chunks = [text for chunk in phrase.split("…") if (text := fold(chunk, words))]
        first.update(chunks[:1])
        for left, right in itertools.pairwise(chunks):
            before.setdefault(right, set()).add(left)
    return {half: frozenset(lefts) for half, lefts in before.items() if half not in first}


def _next_start(text: str, start: int) -> int:
    """The next place a piece can start: behind the word, or behind one Chinese character."""
    if not _is_letter(text[start]):
        return start + 1
    end = start
    while end < len(text) and _is_letter(text[end]):
        end += 1
    return end


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _may_start(text: str, start: int) -> bool:
    """Whether a piece that starts here cuts no English word and no number in two."""
    if start == 0 or not (_is_letter(text[start - 1]) and _is_letter(text[start])):
        return True
    return text[start - 1].isdigit() != text[start].isdigit()


def _may_end(text: str, end: int) -> bool:
    """Whether a piece that ends before this place cuts no English word and no number in two."""
    return end >= len(text) or not (_is_letter(text[end - 1]) and _is_letter(text[end]))
