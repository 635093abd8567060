"""Words as they are heard: which known words a sentence says, or nearly says, one slip of the ear apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

_SHORTEST = 4
"""Letters of a word that may be misheard; shorter ones have too many neighbours."""
_N_TEXTS = 32


class Nearness:
    """Words of four letters or more, found by a word that differs in one letter."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_edge: dict[str, list[str]] = {}
        """First and last two letters → words: one slip leaves one of the two as it was."""
        for word in dict.fromkeys(words):
            for edge in _edges(word) if len(word) >= _SHORTEST else ():
                self._by_edge.setdefault(edge, []).append(word)

    def of(self, said: str) -> set[str]:
        """The words from which a slip of one letter makes what was said; never that itself."""
        near = (w for edge in _edges(said) for w in self._by_edge.get(edge, ()))
        return {w for w in near if abs(len(w) - len(said)) <= 1 and w != said and is_one_edit(w, said)}


class HomeTerms:
    """The words of the names of a home's devices."""

    def __init__(self, of_names: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self.of_names = of_names
        """Device id → the words of each of its names."""
        self.of_device = {i: frozenset(term for name in names for term in name) for i, names in of_names.items()}
        """Device id → the words of all its names."""
        self._said = lru_cache(_N_TEXTS)(self._find_said)

    def holding(self, terms: Iterable[str]) -> set[str]:
        """Ids of the devices with one of these words in a name."""
        return {i for term in terms for i in self._having.get(term, ())}

    def said_in(self, folded: str) -> frozenset[str]:
        """The words that a folded sentence says, and those of the home that it nearly says."""
        return self._said(folded)

    def _find_said(self, folded: str) -> frozenset[str]:
        said = terms_of(folded)
        return frozenset(said).union(*(self._near.of(word) for word in said if word[:1].isalpha()))

    @cached_property
    def _having(self) -> dict[str, list[str]]:
        having: dict[str, list[str]] = {}
        for device_id, term in ((i, term) for i, terms in self.of_device.items() for term in terms):
            having.setdefault(term, []).append(device_id)
        return having

    @cached_property
    def _near(self) -> Nearness:
        """Numbers are never misheard, and Chinese words have a way of their own."""
        return Nearness(t for terms in self.of_device.values() for t in terms if t.isascii() and t.isalpha())


def terms_of(folded: str) -> list[str]:
    """English words, and pairs of Chinese characters."""
    terms: list[str] = []
    for word in folded.split():
        if word.isascii():
            terms.append(word)
        else:
            terms.extend(word[i : i + 2] for i in range(max(len(word) - 1, 1)))
    return terms


def is_one_edit(left: str, right: str) -> bool:
    """Whether two words are the same but for at most one letter put in, left out or exchanged."""
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    left, right = left[at:], right[at:]
    return left[1:] == right[1:] or left == right[1:] or left[1:] == right


def _edges(word: str) -> tuple[str, str]:
    return f"^{word[:2]}", f"{word[-2:]}$"
