"""What everybody calls a thing that has another name here: "the big light" is the ceiling light."""

from __future__ import annotations

import re
from dataclasses import replace

from agentkit.types import Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.selecting import has_word
from agentkit.understanding.words import Words


def without_nicknames(text: Normalised, view: HomeView, words: Words) -> Normalised:
    """The text with the plain word for each nickname in it that no device of the home has as its name."""
    said = plainly(text.text, view, words)
    return text if said == text.text else replace(text, text=said)


def quotes_nickname(found: Understanding, plain: Normalised, text: Normalised, words: Words) -> bool:
    """Whether calls take words as they are that nobody said: "add a big light to the list" is for no ceiling light."""
    if plain is text:
        return False
    values = (v for part in (found, *found.then) for i in part.intents for v in i.args.values() if isinstance(v, str))
    said, changed = fold(text.text, words), fold(plain.text, words)
    return any((v := fold(value, words)) in changed and v not in said for value in values)


def plainly(text: str, view: HomeView, words: Words) -> str:
    """A part of a sentence, treated like that."""
    for pattern, plain in words.nicknames.items():
        found = re.search(pattern, text, re.IGNORECASE)
        if found is not None and not _is_name(fold(found[0], words), view, words):
            text = f"{text[: found.start()]}{plain}{text[found.end() :]}"
    return text


def _is_name(nickname: str, view: HomeView, words: Words) -> bool:
    return any(has_word(fold(name, words), nickname) for device in view.devices for name in device.names)
