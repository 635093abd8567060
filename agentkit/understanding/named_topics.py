"""A word for what is set that is what a device is called, too: "heating 20" sets the heating, no air conditioner."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agentkit.understanding.entries import TARGETS, Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.selecting import has_word


def with_named_topic(
    items: Sequence[Item], folded: str, lexicon: Lexicon, view: HomeView, types: Collection[str]
) -> Sequence[Item]:
    """The pieces with the device of some types that their topic names, if they name nothing else."""
    if any(i.role in TARGETS for i in items):
        return items
    topics = ((n, i) for n, i in enumerate(items) if i.role is Role.TOPIC)
    for n, topic in topics:
        for other in lexicon.at(folded, topic.start):
            if other.end == topic.end and _is_called(other, view, types):
                return [*items[:n], other, *items[n:]]
    return items


def _is_called(item: Item, view: HomeView, types: Collection[str]) -> bool:
    """Whether a piece is a device's name, or a word for a class that stands in the name of a device of its type."""
    if item.role is Role.NAME:
        return any(d.type in types for d in view.named(item.value))
    kind = item.value.partition(".")[0]
    return item.role is Role.CLASS and any(
        has_word(name, item.text) for d in view.devices if d.type == kind for name in d.names
    )
