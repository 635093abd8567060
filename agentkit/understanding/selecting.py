"""Which devices a selector's words can mean, before the speaker's room and ties are considered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.types import Selector
from agentkit.understanding.home_view import HomeView, name_key


def select(selector: Selector, view: HomeView) -> tuple[Device, ...]:
    """Devices that fit every word of a selector."""
    areas = set(selector.areas)
    if selector.floors:
        on_floor = set(view.areas_of(selector.floors))
        areas = areas & on_floor if areas else on_floor
    is_placed = bool(selector.areas or selector.floors)
    return tuple(
        d
        for d in _pointed_at(selector, view)
        if (not is_placed or d.area in areas)
        and (not selector.types or d.type in selector.types)
        and (selector.device_class is None or d.device_class == selector.device_class)
    )


def _pointed_at(selector: Selector, view: HomeView) -> Iterable[Device]:
    """The devices that ids and names leave, in the order of the home, which may be too large to walk each time."""
    if not selector.device_ids and not selector.names:
        return view.devices
    found = {d.id: d for name in selector.names for d in view.named(name)}
    if selector.device_ids:
        by_id = {i: d for i in selector.device_ids if (d := view.device(i)) is not None}
        found = {i: d for i, d in by_id.items() if i in found} if selector.names else by_id
    return view.in_order(found.values())


def narrow(selector: Selector, types: tuple[str, ...]) -> Selector:
    """The same selector, limited to some device types."""
    return replace(selector, types=types)


def of_class(selector: Selector, device_class: str, class_words: Sequence[str], view: HomeView) -> tuple[Device, ...]:
    """Devices of a class: by what they report, or by a word of the class in their names."""
    found = select(selector, view)
    reported = tuple(d for d in found if d.device_class == device_class)
    if reported:
        return reported
    return tuple(d for d in found if any(is_called(n, w) for n in d.names for w in class_words))


def is_called(name: str, word: str) -> bool:
    """Whether a word tells what a name's thing is: in Chinese the last one does (a 窗帘 is no 窗)."""
    tail = name_key(name).rstrip("0123456789 一二三四五六七八九十号")
    return has_word(name, word) if word.isascii() else tail.endswith(name_key(word))


def has_word(name: str, word: str) -> bool:
    """Whether a name holds a word, an English one as a whole."""
    name, word = name_key(name), name_key(word)
    return word in name and (not word.isascii() or f" {word} " in f" {name} ")
