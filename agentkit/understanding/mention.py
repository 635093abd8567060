"""Read a text that names devices or places and nothing else: "the bedroom", "the lamp and the fan"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agentkit.types import Selector
from agentkit.understanding.entries import TARGETS, Role
from agentkit.understanding.groups import Group, make_groups
from agentkit.understanding.heads import is_verb_missed, is_verb_split, verb_table
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
    return targets_among(types, mere_targets(text, words, lexicon), TargetFinder(words, view, lexicon.names))


def mere_targets(text: str, words: Words, lexicon: Lexicon) -> Iterator[list[Group]]:
    """Each way to read a text as devices or places and nothing else."""
    verbs = words.made("verbs of targets", verb_table)
    for cut in lexicon.cuts(fold(text, words)):
        items = [i for i in cut if i.role not in _IDLE]
        is_verb = is_verb_missed(items, verbs) or is_verb_split(cut, verbs)
        is_mere = any(i.role in TARGETS for i in items) and all(i.role in TARGETS | {Role.ALSO} for i in items)
        if is_mere and not is_verb:
            yield make_groups(items)


def targets_among(
    types: tuple[str, ...], readings: Iterable[Sequence[Group]], finder: TargetFinder
) -> tuple[Selector, ...]:
    """What the first reading means all of whose parts mean something among some device types; empty if none does."""
    for groups in readings:
        found = [finder.find(group, types, None, True) for group in groups]
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
