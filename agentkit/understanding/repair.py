"""Mend words that were misheard by one letter, if only one known word is that near."""

from __future__ import annotations

from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.shortlist import distance

_MAX_REPAIRS = 2
_SHORTEST = 5
"""Letters of a word that may be mended; shorter ones have too many neighbours."""


def repair(folded: str, lexicon: Lexicon) -> str | None:
    """The sentence with its unknown words mended; None if there is nothing to mend or no single way to."""
    words = folded.split()
    unknown = [w for w in words if w.isascii() and w.isalpha() and w not in lexicon.vocabulary]
    if not 0 < len(unknown) <= _MAX_REPAIRS:
        return None
    mended: dict[str, str] = {}
    for word in unknown:
        near = [v for v in lexicon.vocabulary if _is_near(word, v)]
        if len(near) != 1:
            return None
        mended[word] = near[0]
    return " ".join(mended.get(w, w) for w in words)


def _is_near(word: str, known: str) -> bool:
    is_long = len(word) >= _SHORTEST and len(known) >= _SHORTEST
    return is_long and abs(len(word) - len(known)) <= 1 and distance(word, known, limit=1) == 1
