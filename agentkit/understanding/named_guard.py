"""Guards that pass over the names of the home: a game room is no game."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentkit.understanding.entries import Role
from agentkit.understanding.guard import GuardHit, guard_any
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import fold
from agentkit.understanding.words import Words

_NAMES = frozenset({Role.NAME, Role.AREA, Role.FLOOR})
_LEAST_HANZI = 3
"""Signs of a name that is no everyday word."""
_MASK = "#"


def guard_unless_named(text: str, own: Words, all_words: Iterable[Words], lexicon: Lexicon) -> GuardHit | None:
    """Find what forbids acting outside the names of several words that a text holds."""
    every = tuple(all_words)
    if guard_any(text, own, every) is None:
        return None
    rest = text
    for item in lexicon.mentions(fold(text, own)):
        if item.role in _NAMES and (" " in item.text or (not item.text.isascii() and len(item.text) >= _LEAST_HANZI)):
            spelled = r"[\W_]+".join(map(re.escape, item.text.split()))
            rest = re.sub(rf"(?<![a-z]){spelled}(?![a-z])", _MASK, rest, flags=re.IGNORECASE)
    return guard_any(rest, own, every)
