"""Words that sentences use for other things than devices, so that none can be called by one of them alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from agentkit.understanding.normalise import fold
from agentkit.understanding.words import Words


def small_words(languages: Iterable[Words]) -> Callable[[str], bool]:
    """Return what tells whether a name is an article, a pronoun, an answer, a verb or the like in one of the languages.

    An answer with a small word beside it ("yes please") is one too. A verb that is a kind of device, too, is none.
    """
    lists = []
    for words in languages:
        small, answers = _folded(words, _small(words)), _folded(words, (*words.yes, *words.no, *words.cancel))
        lists.append((words, small | answers | _folded(words, _verbs(words)), answers, small | answers))

    def is_small(name: str) -> bool:
        folded = ((fold(name, words), alone, answers, beside) for words, alone, answers, beside in lists)
        return any(f in alone or _is_made_of(f, answers, beside) for f, alone, answers, beside in folded)

    return is_small


def _folded(words: Words, texts: Iterable[str]) -> frozenset[str]:
    return frozenset(fold(text, words) for text in texts) - {""}


def _small(words: Words) -> tuple[str, ...]:
    joining = (*words.also, *words.to, *words.at, *words.origin, *words.by, *words.prepositions)
    pointing = (*words.it, *words.pointers, *words.everything, *words.others)
    return (*words.fillers, *joining, *pointing)


def _verbs(words: Words) -> Iterator[str]:
    """What repeats or takes back what was done, and whole verbs."""
    talk = words.talk
    yield from (*talk.undo, *talk.again, *talk.more, *talk.cancel_alone)
    kinds = {fold(kind, words) for spellings in words.kinds.values() for kind in spellings}
    for phrases in words.verbs.values():
        yield from (p for p in phrases if "…" not in p and fold(p, words) not in kinds)


def _is_made_of(folded: str, answers: Collection[str], beside: Collection[str]) -> bool:
    """Whether a name is an answer with something small before or behind it."""
    for answer in answers:
        before, found, behind = folded.partition(answer)
        is_apart = not answer.isascii() or (before[-1:] in ("", " ") and behind[:1] in ("", " "))
        if found and is_apart and all(not part or part.strip() in beside for part in (before, behind)):
            return True
    return False
