"""A sentence of which some clauses are commands and others are not understood: it is asked about, and says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from agentkit.types import Intent, Kind, Understanding
from agentkit.understanding.choosing import is_complete, is_question
from agentkit.understanding.entries import TARGETS, VALUES, Role
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import fold
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_MARKS = re.compile(r"\s*[,;]\s*")
_MAX_CLAUSES = 4
_TELLING = (TARGETS - {Role.IT}) | VALUES | {Role.TOPIC, Role.UNIT, Role.SLIGHT}
"""What might change the command beside it: "…, the kitchen one I guess"."""
_NOTHING = Understanding(Kind.NONE)


def half_heard(
    text: str, lexicon: Lexicon, words: Words, tools: Mapping[str, Tool], read: Callable[[str], Understanding]
) -> Understanding:
    """The clauses between commas that are commands, with the others to be told; kind NONE if it is not so."""
    clauses = [c for c in _MARKS.split(text) if c]
    if not 1 < len(clauses) <= _MAX_CLAUSES:
        return _NOTHING
    intents: list[Intent] = []
    rest: list[str] = []
    for clause in clauses:
        found = read(clause)
        if is_complete(found, tools) and not found.reply_key and not is_question(found, tools):
            intents += (i for i in found.intents if i not in intents)
        elif found.kind is not Kind.NONE or _tells(clause, lexicon, words):
            return _NOTHING
        else:
            rest.append(clause)
    if not intents or not rest:
        return _NOTHING
    left = ", ".join(rest)
    why = f"some clauses are commands, {left!r} is not understood"
    values = {"name": left}
    return Understanding(Kind.CALLS, tuple(intents), "rest", values, "template", why, needs_confirmation=True)


def _tells(clause: str, lexicon: Lexicon, words: Words) -> bool:
    """Whether a clause may be about the home, or is a reason, which need not be understood."""
    is_reason = any(p.fullmatch(clause) for p in words.reasons)
    is_reason = is_reason or any(p.fullmatch(f"{clause},") for p in words.apart_reasons)
    return is_reason or any(m.role in _TELLING for m in lexicon.mentions(fold(clause, words)))
