"""The home as one turn sees it: a frozen snapshot, so that nothing changes between understanding and acting.

What can be found by names is indexed once per version of the home and travels with the devices of a snapshot; states
are read from the snapshot itself.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from agentkit.devices.adapter import Area, Device, Floor, Home
from agentkit.devices.registry import Registry
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
        place = self._index.places.get(device_id)
        return None if place is None else self.devices[place]

    def named(self, name: str) -> tuple[Device, ...]:
        """Devices that have this name or alias, in the order of the home; spelling as `name_key` folds it."""
        return tuple(self.devices[place] for place in self._index.named.get(name_key(name), ()))

    def n_of_type(self, device_type: str) -> int:
        """How many devices of a type there are."""
        return self._index.n_of_type.get(device_type, 0)

    def in_order(self, devices: Iterable[Device]) -> list[Device]:
        """Sort devices of this home as the home lists them."""
        return sorted(devices, key=lambda d: self._index.places[d.id])

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
    def _index(self) -> Index:
        return self.devices.named_places if isinstance(self.devices, Listing) else Index.of(self.devices)

    @cached_property
    def _naming(self) -> Hashable:
        known = self.devices.home_naming if isinstance(self.devices, Listing) else None
        if known is not None and known.areas is self.areas and known.floors is self.floors:
            return known.naming
        return _Hashed((self._index.naming, self.areas, self.floors))


@dataclass(frozen=True)
class Index:
    """Where devices stand in the list of their home, by what never changes with their states."""

    places: Mapping[str, int]
    """Device id → place; of several with one id, the first."""
    named: Mapping[str, tuple[int, ...]]
    """Name or alias, as `name_key` folds it → places."""
    n_of_type: Mapping[str, int]
    naming: Hashable
    """Everything that a sentence can name of the devices."""

    @classmethod
    def of(cls, devices: Sequence[Device]) -> Index:
        """Read every name once."""
        named: dict[str, list[int]] = {}
        for place, device in enumerate(devices):
            for key in dict.fromkeys(map(name_key, device.names)):
                named.setdefault(key, []).append(place)
        places = {d.id: len(devices) - n for n, d in enumerate(reversed(devices), start=1)}
        naming = _Hashed(tuple((d.id, d.name, d.aliases, d.type, d.area, d.device_class) for d in devices))
        return cls(
            places, {key: tuple(found) for key, found in named.items()}, Counter(d.type for d in devices), naming
        )


@dataclass(frozen=True)
class _HomeNaming:
    """Everything that a sentence can name of one home: hashing its rooms for each view takes longer than a look-up."""

    areas: tuple[Area, ...]
    floors: tuple[Floor, ...]
    naming: Hashable


class Listing(tuple[Device, ...]):
    """Devices with the index of their names; whatever is cut out of it is a plain tuple and finds its own."""

    named_places: Index
    home_naming: _HomeNaming | None = None

    @classmethod
    def of(cls, devices: Iterable[Device], index: Index, home: _HomeNaming | None = None) -> Listing:
        """Put the states of now beside an index that was made of devices of the same names in the same order."""
        listing = cls(devices)
        listing.named_places, listing.home_naming = index, home
        return listing


class LiveHome:
    """Gives the views of a live home; its names are indexed again only when the registry's version has changed.

    May be called from any thread.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        # replaced as a whole, so that no reader meets half of it
        self._kept: tuple[int, Index, _HomeNaming] | None = None

    def view(self, speaker_area: str | None) -> HomeView:
        """Take a snapshot, as heard from a room."""
        registry = self._registry
        version, devices = registry.snapshot()
        kept = self._kept
        if kept is None or kept[0] != version:
            index = Index.of(devices)
            if kept is not None and kept[1].naming == index.naming:  # so that nobody compares all names again
                index = replace(index, naming=kept[1].naming)
            areas, floors = registry.areas, registry.floors
            home = _HomeNaming(areas, floors, _Hashed((index.naming, areas, floors)))
            kept = self._kept = (version, index, home)
        _, index, home = kept
        return HomeView(Listing.of(devices, index, home), home.areas, home.floors, speaker_area)


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
