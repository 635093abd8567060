"""Mend words that were misspelled or misheard by one letter, if only one known word is that near."""

from __future__ import annotations

from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.shortlist import distance
from agentkit.understanding.sound import Mended
from agentkit.understanding.words import Words

_MAX_REPAIRS = 2
_SHORTEST = 5
"""Letters of a word that may be mended; shorter ones have too many neighbours."""

_SHORTEST_SWAPPED = 4
"""Letters of a word two of which are swapped."""


def repair(folded: str, lexicon: Lexicon, words: Words) -> Mended | None:
    """The sentence with its unknown words mended; None if there is nothing to mend or no single way to.

    It is exact if every mended word is one of the app's usual slips.
    """
    pieces = folded.split()
    unknown = [w for w in pieces if w.isascii() and w.isalpha() and w not in lexicon.vocabulary]
    if not 0 < len(unknown) <= _MAX_REPAIRS:
        return None
    slips = {slip: meant for meant, listed in words.slips.items() for slip in listed}
    mended: dict[str, str] = {}
    for word in unknown:
        near = [slips[word]] if word in slips else [v for v in lexicon.vocabulary if _is_near(word, v)]
        if len(near) != 1:
            return None
        mended[word] = near[0]
    return Mended(" ".join(mended.get(w, w) for w in pieces), is_exact=slips.keys() >= set(unknown))


def _is_near(word: str, known: str) -> bool:
    if len(word) == len(known) >= _SHORTEST_SWAPPED and sorted(word) == sorted(known):
        differing = [n for n, (a, b) in enumerate(zip(word, known, strict=True)) if a != b]
        return len(differing) == 2 and differing[1] - differing[0] == 1
    is_long = len(word) >= _SHORTEST and len(known) >= _SHORTEST
    return is_long and abs(len(word) - len(known)) <= 1 and distance(word, known, limit=1) == 1
