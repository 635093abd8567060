"""Words that forbid acting at once: what the templates did not consume must not be overheard."""

from __future__ import annotations

from dataclasses import dataclass

from agentkit.understanding.words import Words


@dataclass(frozen=True)
class GuardHit:
    """Why a sentence must not run now."""

    kind: str
    """time, duration, condition, negation, exception, report … as the words name it."""
    words: str
    """The part of the sentence that says so."""


def guard(text: str, words: Words) -> GuardHit | None:
    """Find the first time, condition, negation, exception or report in a text."""
    for kind, patterns in words.guards.items():
        for pattern in patterns:
            if found := pattern.search(text):
                return GuardHit(kind, found.group(0).strip())
    return None
