"""What every edge checks before an utterance goes to the agent."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from agentkit.devices.adapter import Area
from agentkit.devices.registry import Registry
from agentkit.errors import TextTooLong, UtteranceError
from agentkit.types import Utterance


def check_utterance(utterance: Utterance, registry: Registry, *, max_chars: int) -> None:
    """Raise TextTooLong with both sizes, or UtteranceError naming what is wrong."""
    if len(utterance.text) > max_chars:
        raise TextTooLong(n_chars=len(utterance.text), max_chars=max_chars)
    check_text(utterance.text)
    check_area(utterance.area, registry.areas)


def check_text(text: str) -> None:
    """Raise UtteranceError if the text is empty or holds control characters."""
    for position, char in enumerate(text):
        if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r":
            raise UtteranceError(f"text holds the control character U+{ord(char):04X} at {position}; send plain text")
    if not text.strip():
        raise UtteranceError("text is empty; send what was said")


def check_area(area: str | None, areas: Sequence[Area]) -> None:
    """Raise UtteranceError if the home has no room of that id or name."""
    if area is None:
        return
    if area.casefold() not in {word.casefold() for known in areas for word in (known.id, *known.names)}:
        known = ", ".join(known.id for known in areas) or "none"
        raise UtteranceError(f"area: {area[:60]!r} is not an area of this home; areas are {known}")
