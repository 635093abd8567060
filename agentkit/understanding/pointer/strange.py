"""Finds a word that may change which device is meant although nobody here knows it ("the *bottom* light")."""

from __future__ import annotations

from agentkit.understanding.entries import Item, Role
from agentkit.understanding.evidence import Sentence

_TELLING = frozenset(
    {Role.NAME, Role.PART, Role.HINT, Role.KIND, Role.CLASS, Role.AREA, Role.HERE, Role.HOME, Role.ALL}
)
_IDLE = frozenset({Role.PREPOSITION, Role.FILLER, Role.ALSO})
"""What may stand between: "the desk lamp and the *samovar*" must not pass over the second."""


def strange_word(sentence: Sentence) -> str:
    """The first unknown word beside a device, a kind or a room, idle words left out; "" if there is none."""
    idle = {n for m in sentence.mentions if m.role in _IDLE for n in range(m.start, m.end)}
    known = {n for m in sentence.mentions for n in range(m.start, m.end)}
    for mention in sentence.mentions:
        if mention.role in _TELLING:
            for word in (_before(mention, sentence, known, idle), _after(mention, sentence, idle)):
                if word:
                    return word
    return ""


def _before(mention: Item, sentence: Sentence, known: set[int], idle: set[int]) -> str:
    at, text = mention.start, sentence.folded
    if at > 0 and not text[at - 1].isascii():
        return "" if at - 1 in known else text[at - 1]
    while at > 0 and (text[at - 1] == " " or at - 1 in idle):
        at -= 1
    return _unknown(text[:at].split()[-1:], sentence)


def _after(mention: Item, sentence: Sentence, idle: set[int]) -> str:
    """Only English says after a device where it is."""
    at, text = mention.end, sentence.folded
    while at < len(text) and (text[at] == " " or at in idle):
        at += 1
    return _unknown(text[at:].split()[:1], sentence)


def _unknown(words: list[str], sentence: Sentence) -> str:
    """The only word if it is none that the home or the app's words hold."""
    return next((w for w in words if w.isalpha() and w.isascii() and w not in sentence.lexicon.vocabulary), "")
