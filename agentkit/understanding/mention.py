"""Read a text that names devices or places and nothing else: "the bedroom", "the lamp and the fan"."""

from __future__ import annotations

from agentkit.types import Selector
from agentkit.understanding.entries import TARGETS, Role
from agentkit.understanding.groups import make_groups
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import fold
from agentkit.understanding.target import TargetFinder
from agentkit.understanding.words import Words

_IDLE = frozenset({Role.FILLER, Role.COPULA, Role.WISH, Role.PREPOSITION})


def find_targets(
    text: str, types: tuple[str, ...], view: HomeView, words: Words, lexicon: Lexicon
) -> tuple[Selector, ...]:
    """What a text names among some device types; empty if it says more than that, or names nothing there is."""
    finder = TargetFinder(words, view, lexicon.names)
    for cut in lexicon.cuts(fold(text, words)):
        items = [i for i in cut if i.role not in _IDLE]
        if not any(i.role in TARGETS for i in items) or any(i.role not in TARGETS | {Role.ALSO} for i in items):
            continue
        found = [finder.find(group, types, None, True) for group in make_groups(items)]
        selectors = tuple(s for s in found if s is not None)
        if len(selectors) == len(found):
            return selectors
    return ()
