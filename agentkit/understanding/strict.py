"""Words that mean a thing only where one stands: the door is the garage door in the garage, "it" here is here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.types import Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import has_word, select
from agentkit.understanding.words import Words


def near_of(view: HomeView, *, is_here: bool) -> Selector | None:
    """What was just spoken of; with "here" only what stands in the speaker's room."""
    spoken = view.spoken_of
    if spoken is None or not is_here:
        return spoken
    near = tuple(d for d in select(spoken, view) if d.area == view.speaker_area)
    types = tuple(dict.fromkeys(d.type for d in near))
    return replace(spoken, device_ids=tuple(d.id for d in near), types=types) if near else None


def is_word_of_class(said: Collection[str], place: Selector, view: HomeView, words: Words) -> bool:
    """Whether words for a kind are some for a class too: for a strict class only if a device of it may be meant."""
    keys = [key for key, listed in words.device_classes.items() if set(said) & set(listed)]
    is_strict = all(key in words.strict_classes for key in keys)
    return not is_strict or any(_is_one(d, key, said, place, view, words) for key in keys for d in view.devices)


def may_be(device: Device, key: str, place: Selector, view: HomeView, words: Words) -> bool:
    """Whether "the door" may be a device of another class called so: the garage door, to who stands before it."""
    if key not in words.strict_classes or device.device_class in (None, key.partition(".")[2]):
        return True
    if not (place.areas or place.floors):
        return device.area is not None and device.area == view.speaker_area
    return device in select(Selector(areas=place.areas, floors=place.floors), view)


def _is_one(device: Device, key: str, said: Collection[str], place: Selector, view: HomeView, words: Words) -> bool:
    kind, _, device_class = key.partition(".")
    is_called_so = any(has_word(n, w) for n in device.names for w in said)
    is_meant = is_called_so and may_be(device, key, place, view, words)
    return device.type == kind and (device.device_class == device_class or is_meant)
