"""Values that devices list themselves, such as effects and presets: whose they are, and what they stand beside."""

from __future__ import annotations

from collections.abc import Collection

from agentkit.types import Intent, Selector
from agentkit.understanding.choosing import reached_by
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.phrase_map import PhraseMap


def listing(key: str | None, selector: Selector, view: HomeView) -> Selector:
    """Of devices that were not named those that list any such value; all of them if none does."""
    if key is None or selector.names or selector.device_ids:
        return selector
    able = tuple(d.id for d in reached_by(selector, view) if d.attributes.get(key))
    return Selector(device_ids=able, types=selector.types) if able else selector


def is_listed(key: str | None, types: Collection[str], view: HomeView) -> bool:
    """Whether any device of these types lists such values, so that "turn on the disco" tells what is meant."""
    return key is not None and any(d.attributes.get(key) for d in view.devices if d.type in types)


def is_same_twice(one: Intent, other: Intent, phrases: PhraseMap) -> bool:
    """Whether two tools set the same thing, one of them by a name for it: "to the minimum, 18 degrees"."""
    rules = [[r for r in phrases.values if r.tool == intent.tool] for intent in (one, other)]
    topics = [{r.topic for r in own if r.topic} for own in rules]
    is_named = any(r.value == "choice" for own in rules for r in own)
    return one.tool != other.tool and is_named and bool(topics[0] & topics[1])
