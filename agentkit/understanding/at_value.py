"""Tell a number behind "at" that is a value from an hour: "keep the hall at 21" makes no sense without it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.choosing import is_complete
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words


@dataclass(frozen=True)
class AtValueReader:
    """Reads a text in one home by a reader for whole sentences."""

    match: Callable[[Normalised, HomeView], Understanding]
    words: Words
    view: HomeView
    tools: Mapping[str, Tool]

    def read(self, text: Normalised) -> Understanding:
        """The command to ask about; kind NONE if there is no such number or it may as well be an hour."""
        bare, valued = _split(text, self.words)
        if valued is None or is_complete(self.match(bare, self.view), self.tools):
            return Understanding(Kind.NONE)
        found = self.match(valued, self.view)
        return replace(found, needs_confirmation=True) if is_complete(found, self.tools) else Understanding(Kind.NONE)


def _split(text: Normalised, words: Words) -> tuple[Normalised, Normalised | None]:
    """The text without "at 21", and with "to 21" for it; None if it does not end so."""
    if not words.at or not words.to:
        return text, None
    joined = "|".join(re.escape(w) for w in words.at)
    said = re.search(rf"\b(?:{joined})(?=\s+(?:1?\d|2[0-4])$)", text.text)
    if said is None:
        return text, None
    bare = text.text[: said.start()].strip()
    return replace(text, text=bare), replace(text, text=f"{bare} {words.to[0]}{text.text[said.end() :]}")
