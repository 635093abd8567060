"""The home as one turn sees it: a frozen snapshot, so that nothing changes between understanding and acting."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agentkit.devices.adapter import Area, Device, Floor, Home
from agentkit.types import Selector


@dataclass(frozen=True)
class HomeView:
    """Devices with their states, rooms, floors and the speaker's room."""

    devices: tuple[Device, ...] = ()
    areas: tuple[Area, ...] = ()
    floors: tuple[Floor, ...] = ()
    speaker_area: str | None = None
    """Area id of the speaker of this utterance, or of the built-in one; None = unknown."""
    spoken_of: Selector | None = None
    """Devices that "it" means because this conversation just acted on them or asked about them; None = unknown."""

    @classmethod
    def of(cls, home: Home, *, speaker_area: str | None = None) -> HomeView:
        """Take the snapshot of a home file, as heard from a room."""
        return cls(home.devices, home.areas, home.floors, speaker_area or home.speaker_area)

    def device(self, device_id: str) -> Device | None:
        """Find a device by id."""
        return self._by_id.get(device_id)

    def named(self, name: str) -> tuple[Device, ...]:
        """Devices that have this name or alias, in the order of the home; spelling as `name_key` folds it."""
        return self._by_name.get(name_key(name), ())

    def in_order(self, devices: Iterable[Device]) -> list[Device]:
        """Sort devices of this home as the home lists them."""
        return sorted(devices, key=lambda d: self._places[d.id])

    def area(self, area_id: str | None) -> Area | None:
        """Find an area by id."""
        return next((a for a in self.areas if a.id == area_id), None)

    def floor(self, floor_id: str | None) -> Floor | None:
        """Find a floor by id."""
        return next((f for f in self.floors if f.id == floor_id), None)

    def areas_of(self, floor_ids: Iterable[str]) -> tuple[str, ...]:
        """Ids of the areas on these floors."""
        wanted = set(floor_ids)
        return tuple(a.id for a in self.areas if a.floor in wanted)

    def naming(self) -> Hashable:
        """Everything that a sentence can name, without states: equal values need no new templates or grammar."""
        return self._naming

    @cached_property
    def _by_id(self) -> Mapping[str, Device]:
        return {d.id: d for d in reversed(self.devices)}

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {d.id: place for place, d in enumerate(self.devices)}

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Device, ...]]:
        found: dict[str, list[Device]] = {}
        for device in self.devices:
            for key in dict.fromkeys(map(name_key, device.names)):
                found.setdefault(key, []).append(device)
        return {key: tuple(devices) for key, devices in found.items()}

    @cached_property
    def _naming(self) -> Hashable:
        devices = tuple((d.id, d.name, d.aliases, d.type, d.area, d.device_class) for d in self.devices)
        return _Hashed((devices, self.areas, self.floors))


class _Hashed:
    """A large value whose hash is computed once: a home is looked up many times in a turn."""

    def __init__(self, value: Hashable) -> None:
        self._value, self._hash = value, hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Hashed) and self._value == other._value)


@lru_cache(maxsize=8192)  # the names of a home come back with every turn
def name_key(text: str) -> str:
    """Bring a name into the form in which names are compared: NFKC, case folded, spaces collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
