"""What of the live home one sentence can be about, and the pointers that stand for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from agentkit.devices.adapter import Area, Device
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.pointer.format import MAX_AREAS, Line, Spell, clean, write_prompt

MAX_SHOWN = 14
"""Devices in a prompt; training knows no larger homes."""
_MAX_NAMES = 2
_KNOWN = {
    **{t: t for t in ("light", "switch", "fan", "climate", "cover", "lock", "media_player", "vacuum", "lawn_mower")},
    "valve": "valve", "scene": "scene", "sensor": "sensor",
    "input_boolean": "switch", "script": "scene", "binary_sensor": "sensor",
}  # fmt: skip
"""Device type → how the model calls it."""
STANDS_FOR = {("activate_scene", "script"): "run_script"}
"""The app's tool where the model's word for a type covers two."""


class Place(NamedTuple):
    """What a grammar knows of a device: it need not be written again for others of the same types and rooms."""

    type: str
    kind: str
    """The model's word for the type."""
    area: int | None
    """Index of its room among those that are offered."""


Shape = tuple[Place, ...]
"""The devices in the order of their pointers."""


@dataclass(frozen=True)
class Offered:
    """Devices and rooms in the order of their pointers."""

    devices: tuple[Device, ...]
    areas: tuple[Area, ...]
    here: int | None
    """Index of the speaker's room."""

    @cached_property
    def shape(self) -> Shape:
        """What a grammar knows of them."""
        index = {a.id: i for i, a in enumerate(self.areas)}
        return tuple(Place(d.type, model_type(d), index.get(d.area or "")) for d in self.devices)

    def prompt(self, text: str, spell: Spell = clean) -> str:
        """The whole prompt for a sentence; of many names it shows those that are said, then those of its language.

        `spell` is `clean`, or what remembers how it spelled a name.
        """
        said = clean(text)
        lines = [
            Line(place.kind, tuple(_spoken(d.names, said, spell)[:_MAX_NAMES]), place.area)
            for d, place in zip(self.devices, self.shape, strict=True)
        ]
        return write_prompt([_spoken(a.names, said, spell)[0] for a in self.areas], lines, self.here, text, spell)


def _spoken(names: Sequence[str], said: str, spell: Spell) -> list[str]:
    """The names as they are spelled: those that are said, the longest first, then the others; the own script leads."""
    spelled = dict.fromkeys(map(spell, names))
    own = said.isascii()
    ordered = [*(n for n in spelled if n.isascii() is own), *(n for n in spelled if n.isascii() is not own)]
    if not (heard := [n for n in ordered if n in said]):
        return ordered
    heard.sort(key=lambda n: (n.isascii() is not own, -len(n)))
    return heard + [n for n in ordered if n not in said]


def model_type(device: Device) -> str:
    """The model's word for a device's type; "" if it knows none."""
    return _KNOWN.get(device.type, "")


def offer(near: Sequence[Device], view: HomeView, *, mentioned: Sequence[str] = (), is_vague: bool = False) -> Offered:
    """Offer the shortlist; if the sentence is vague, followed by what stands around the speaker.

    `mentioned`: ids of rooms that the sentence names.
    """
    devices = [d for d in near if model_type(d)]
    if is_vague:
        around = sorted(view.devices, key=lambda d: view.speaker_area is not None and d.area != view.speaker_area)
        devices += [d for d in around if model_type(d) and d not in devices]
    shown = tuple(devices[:MAX_SHOWN])
    wanted = [*(d.area for d in shown), view.speaker_area, *mentioned]
    areas = [area for i in dict.fromkeys(i for i in wanted if i is not None) if (area := view.area(i)) is not None]
    kept = tuple(areas[:MAX_AREAS])
    here = next((i for i, a in enumerate(kept) if a.id == view.speaker_area), None)
    return Offered(shown, kept, here)
