"""A room alone, after a turn that tells what is meant there: "turn on the hallway too", "and the bedroom"."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from agentkit.understanding.entries import Role
from agentkit.understanding.groups import GUARDS
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.words import Words

_THINGS = frozenset({Role.NAME, Role.KIND, Role.CLASS, Role.IT})
_PLACES = frozenset({Role.AREA, Role.FLOOR})


def with_kind(text: Normalised, types: AbstractSet[str], words: Words, lexicon: Lexicon) -> Iterator[Normalised]:
    """The text with the word for these devices behind its one place, if it holds a verb and no thing; not for locks."""
    kind = next((k for t in types for k in words.kinds.get(t, ())), "")
    if len(types) != 1 or types & GUARDS or not kind:
        return
    folded = fold(text.text, words)
    mentions = lexicon.mentions(folded)
    places = [m for m in mentions if m.role in _PLACES]
    roles = {m.role for m in mentions}
    if len(places) == 1 and Role.ACT in roles and not roles & _THINGS:
        end, gap = places[0].end, " " if kind.isascii() else ""
        yield replace(text, text=f"{folded[:end]}{gap}{kind}{folded[end:]}", is_question=False)
