"""Spell a follow-up so that it can be understood on its own: words about the conversation come off, "it" goes in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from agentkit.understanding.normalise import Normalised, spell
from agentkit.understanding.talk import Patterns, Talk

_EDGES = " .,!?;~"


def without_asides(text: str, talk: Talk) -> str:
    """The text without words that only join it to the last turn; never nothing."""
    for pattern in talk.asides:
        text = pattern.sub("", text).strip(_EDGES) or text
    return text


def with_pronoun(text: str, talk: Talk) -> str:
    """The text with the one pronoun that the words file knows for all others."""
    for pattern in talk.pronouns if talk.it else ():
        text = pattern.sub(talk.it, text)
    return text


def says_it(text: str, talk: Talk) -> bool:
    """Whether a text holds the pronoun."""
    return bool(talk.it) and _pronoun(talk.it).search(text) is not None


def put_name(text: str, name: str, talk: Talk) -> str:
    """The text with a device's name for the pronoun."""
    return _pronoun(talk.it).sub(lambda _: name, text)


def put_room(text: Normalised, name: str, talk: Talk) -> Normalised:
    """The text with a room's name for words that point at a room."""
    said = text.text
    for pattern, place in talk.there.items():
        said = re.sub(pattern, place.format(room=name), said, flags=re.IGNORECASE)
    return text if said == text.text else replace(text, text=said)


def framed(text: Normalised, frames: Patterns) -> Iterator[str]:
    """What stands inside any of the frames, as spelled and as normalised."""
    spelled = spell(text.original).strip(_EDGES)
    for pattern in frames:
        for said in dict.fromkeys((spelled, text.text)):
            if found := pattern.match(said):
                yield found["rest"].strip(_EDGES)


def is_in(name: str, language: str) -> bool:
    """Whether a name can stand in a sentence of a language."""
    return name.isascii() == (language == "en")


def _pronoun(it: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z]){re.escape(it)}(?![a-z])" if it.isascii() else re.escape(it), re.IGNORECASE)
