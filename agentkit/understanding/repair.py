"""Mend words that were misspelled or misheard by one letter, if only one known word is that near."""

from __future__ import annotations

from agentkit.understanding.lexicon import Lexicon
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
        near = [slips[word]] if word in slips else [*_near(word, lexicon)]
        if len(near) != 1:
            return None
        mended[word] = near[0]
    return Mended(" ".join(mended.get(w, w) for w in pieces), is_exact=slips.keys() >= set(unknown))


def _near(word: str, lexicon: Lexicon) -> set[str]:
    """Known words that one slip turns into this one: a wrong letter, or two that are swapped."""
    near = {known for known in lexicon.near.of(word) if len(word) >= _SHORTEST and len(known) >= _SHORTEST}
    swapped = (f"{word[:n]}{word[n + 1]}{word[n]}{word[n + 2 :]}" for n in range(len(word) - 1))
    return near | ({*swapped} & lexicon.vocabulary if len(word) >= _SHORTEST_SWAPPED else set())
