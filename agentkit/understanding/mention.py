"""Read a text that names devices or places and nothing else: "the bedroom", "the lamp and the fan"."""

from __future__ import annotations

from dataclasses import replace

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


def alike(selector: Selector, last: Selector, view: HomeView) -> Selector:
    """A place alone keeps the class or name of the last sentence ("close the curtains" … "and the bedroom")."""
    if selector.names or selector.device_ids or selector.device_class or not (selector.areas or selector.floors):
        return selector
    places = set(selector.areas) | set(view.areas_of(selector.floors))
    here = [d for d in view.devices if d.area in places]
    if last.names and any(set(last.names) & set(d.names) for d in here):
        return replace(selector, names=last.names)
    is_there = any(d.device_class == last.device_class for d in here)
    return replace(selector, device_class=last.device_class) if last.device_class and is_there else selector
