"""Keep a word to the devices it can mean: an air conditioner is a climate device, a radiator is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.choosing import reached_by
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.selecting import has_word, select
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

PLURAL = frozenset({"any", "all", "which", "how_many"})
"""Questions about many devices; without a place they are about the whole home."""


def suited(found: Understanding, text: Normalised, view: HomeView, words: Words) -> Understanding:
    """The reading without devices of another class than the one that a word for their type means."""
    if found.kind is not Kind.CALLS:
        return found
    said = fold(text.text, words)
    for key, listed in words.guises.items():
        device_type, _, device_class = key.partition(".")
        others = tuple(_rivals(key, words))
        if any(has_word(said, w) for w in listed) and not any(has_word(said, w) for w in others):
            is_here = any(has_word(said, w) for w in words.here)
            meant = _Meant(device_type, device_class, listed, others, view.speaker_area if is_here else None)
            found = replace(found, intents=tuple(meant.of(i, view) for i in found.intents))
    return found


def rather(
    found: Understanding,
    text: Normalised,
    view: HomeView,
    words: Words,
    phrases: PhraseMap,
    tools: Mapping[str, Tool],
) -> Understanding:
    """The reading of a word for what is wanted: music comes from a speaker, if one is there, and is on if it plays."""
    said = fold(text.text, words)
    keys = [key for key, listed in words.rather.items() if any(has_word(said, w) for w in listed)]
    if found.kind is not Kind.CALLS or not keys:
        return found
    intents = found.intents
    for key in keys:
        states = phrases.rather_states.get(key, {})
        intents = tuple(_asked(i, key, states, view) if tools[i.tool].is_query else i for i in intents)
        intents = tuple(_rather(i, key, view, tools) if phrases.rather.get(i.tool) == key else i for i in intents)
    return found if intents == found.intents else replace(found, intents=intents)


def _asked(intent: Intent, key: str, states: Mapping[str, str], view: HomeView) -> Intent:
    """The question with the state that is meant, if it is one about devices of that type alone."""
    state = states.get(str(intent.args.get("state")))
    types = {d.type for d in select(intent.selector, view)} if state is not None else set()
    return replace(intent, args={**intent.args, "state": state}) if types == {key.partition(".")[0]} else intent


def _rather(intent: Intent, key: str, view: HomeView, tools: Mapping[str, Tool]) -> Intent:
    """The call on the best of the devices of that class, asked about if several are; as it is if one was named."""
    selector = intent.selector
    if selector.names or selector.floors or selector.device_class or selector.is_all:
        return intent
    liked = [d for d in reached_by(selector, view) if f"{d.type}.{d.device_class}" == key]
    best = tuple(d.id for d in tools[intent.tool].likely(liked))
    one = Selector(device_ids=best, types=selector.types, is_one=len(best) > 1)
    return replace(intent, selector=one) if best else intent


@dataclass(frozen=True)
class _Meant:
    """The devices that a word for a type can mean."""

    type: str
    device_class: str
    words: tuple[str, ...]
    others: tuple[str, ...]
    """Words for the other classes of the type."""
    here: str | None
    """The speaker's room, if it was spoken of."""

    def of(self, intent: Intent, view: HomeView) -> Intent:
        """The intent for those of its devices that fit; else for others of the home, else for a class it lacks."""
        selector = intent.selector
        if selector.names or not (set(selector.types) <= {self.type} if selector.types else selector.device_ids):
            return intent
        meant = select(selector, view) if intent.args.get("question") in PLURAL else reached_by(selector, view)
        reached = [d for d in meant if selector.device_ids or d.type == self.type]
        fitting = [d for d in reached if self._fits(d)]
        if len(fitting) == len(reached):
            return intent
        is_placed = bool(selector.areas or selector.floors or selector.device_ids or self.here)
        everywhere = () if fitting or is_placed else select(Selector(types=(self.type,)), view)
        found = fitting or [d for d in everywhere if self._fits(d)]
        if not found:
            areas = (self.here,) if self.here else selector.areas
            lacked = replace(selector, device_ids=(), areas=areas, device_class=self.device_class)
            return replace(intent, selector=lacked)
        ids = tuple(d.id for d in found)
        return replace(intent, selector=Selector(device_ids=ids, types=selector.types, is_one=not fitting))

    def _fits(self, device: Device) -> bool:
        """Whether neither what a device can do nor its name says that it is something else."""
        if device.type != self.type:
            return True
        if any(has_word(n, w) for n in device.names for w in self.words):
            return True
        is_other = any(has_word(n, w) for n in device.names for w in self.others)
        return device.device_class in (None, self.device_class) and not is_other


def _rivals(key: str, words: Words) -> Iterator[str]:
    """Words for the other classes of the same type."""
    kind = key.partition(".")[0]
    for other, listed in words.device_classes.items():
        if other.partition(".")[0] == kind and other != key:
            yield from listed
