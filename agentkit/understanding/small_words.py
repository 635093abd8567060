"""Words that sentences use for other things than devices, so that none can be called by one of them alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agentkit.understanding.normalise import fold
from agentkit.understanding.words import Words


def small_words(languages: Iterable[Words]) -> Callable[[str], bool]:
    """Return what tells whether a name is an article, a pronoun, "all" or the like in one of the languages."""
    lists = tuple((words, frozenset(fold(text, words) for text in _small(words))) for words in languages)
    return lambda name: any(fold(name, words) in small for words, small in lists)


def _small(words: Words) -> tuple[str, ...]:
    joining = (*words.also, *words.to, *words.at, *words.origin, *words.by, *words.prepositions)
    pointing = (*words.it, *words.pointers, *words.everything, *words.others)
    return (*words.fillers, *joining, *pointing)
