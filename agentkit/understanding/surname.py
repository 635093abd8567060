"""A word for a kind right behind a device's name: it fits that device, or both name a thing that is not there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from agentkit.devices.adapter import Device
from agentkit.understanding.entries import TARGETS, Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.selecting import has_word
from agentkit.understanding.words import Words

_KINDS = frozenset({Role.KIND, Role.CLASS})
_PLACES = frozenset({Role.AREA, Role.FLOOR})


def is_surname(device: Device, kind: Item, words: Words) -> bool:
    """Whether a device may be called by its name and this word: its type and class, its switch, or a word of a name."""
    device_type, _, device_class = kind.value.partition(".")
    if device.type == device_type:
        listed = words.device_classes.get(kind.value, ())
        is_classed = device_class in ("", device.device_class)
        return is_classed or any(has_word(n, w) for n in device.names for w in listed)
    is_switch = kind.value in words.stand_ins.get(device.type, ())
    return is_switch or any(has_word(n, kind.text) for n in device.names)


def is_behind(kind: Item, name: Item) -> bool:
    """Whether a word stands right behind another, at most a space or a particle between."""
    return 0 <= kind.start - name.end <= 1


def other_thing(folded: str, lexicon: Lexicon, view: HomeView, words: Words) -> str | None:
    """The name of something this home lacks, made of a device's name and a kind that it is not: "the oven light".

    None if there is none, or no verb in the text beside those words.
    """
    spans: dict[tuple[int, int], list[Item]] = {}
    for item in lexicon.mentions(folded):
        spans.setdefault((item.start, item.end), []).append(item)
    pieces = [items for items in spans.values() if not all(i.role is Role.FILLER for i in items)]
    for n, (named, kinds) in enumerate(itertools.pairwise(pieces)):
        others = [*pieces[:n], *pieces[n + 2 :]]
        is_command = any(i.role is Role.ACT for items in others for i in items)
        is_next = is_behind(kinds[0], named[0]) and not any(i.role in _PLACES for i in (*named, *kinds))
        is_next = is_next and not _ends_name(kinds[0], named[0], folded, lexicon)
        if is_command and is_next and not _is_verb(kinds, pieces[n + 2 : n + 3]):
            called = [i for i in kinds if i.role in _KINDS]
            devices = _called(named, lexicon, view)
            if devices and called and not any(is_surname(d, i, words) for d in devices for i in called):
                return folded[named[0].start : kinds[0].end]
    return None


def _ends_name(kind: Item, name: Item, folded: str, lexicon: Lexicon) -> bool:
    """Whether the kind ends a name that begins inside the one before it: "the temperature of the *hall heater*"."""
    starts = range(name.start + 1, name.end)
    return any(i.role is Role.NAME and i.end == kind.end for start in starts for i in lexicon.at(folded, start))


def _called(named: Sequence[Item], lexicon: Lexicon, view: HomeView) -> list[Device]:
    """The devices with a name, and if there are any, those with that name before the word for their kind."""
    devices = [d for i in named if i.role is Role.NAME for d in view.named(i.value)]
    parts = {i.value for i in named if i.role is Role.PART}
    return devices and devices + [d for d in view.devices if parts & lexicon.names.parts[d.id]]


def _is_verb(kinds: Sequence[Item], after: Sequence[Sequence[Item]]) -> bool:
    """Whether a word for a kind may be the verb of what follows it."""
    return any(i.role is Role.ACT for i in kinds) and any(i.role in TARGETS for items in after for i in items)
