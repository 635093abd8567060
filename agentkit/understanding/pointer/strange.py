"""Finds a word that may change which device is meant although nobody here knows it ("the *bottom* light")."""

from __future__ import annotations

from agentkit.understanding.entries import Item, Role
from agentkit.understanding.evidence import Sentence

_TELLING = frozenset({Role.NAME, Role.PART, Role.HINT, Role.KIND, Role.CLASS, Role.AREA})


def strange_word(sentence: Sentence) -> str:
    """The first unknown word that stands directly before a device, a kind or a room; "" if there is none."""
    known = {n for m in sentence.mentions for n in range(m.start, m.end)}
    for mention in sentence.mentions:
        if mention.role in _TELLING and (word := _before(mention, sentence, known)):
            return word
    return ""


def _before(mention: Item, sentence: Sentence, known: set[int]) -> str:
    before = sentence.folded[: mention.start]
    if before.endswith(" "):
        word = before.split()[-1] if before.strip() else ""
        is_strange = word.isascii() and not word.isdigit() and word not in sentence.lexicon.vocabulary
        return word if is_strange else ""
    return before[-1:] if before and len(before) - 1 not in known else ""
