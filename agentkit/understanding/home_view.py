"""The home as one turn sees it: a frozen snapshot, so that nothing changes between understanding and acting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
        return next((d for d in self.devices if d.id == device_id), None)

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

    def naming(self) -> tuple[object, ...]:
        """Everything that a sentence can name, without states: equal tuples need no new templates or grammar."""
        devices = tuple((d.id, d.name, d.aliases, d.type, d.area, d.device_class) for d in self.devices)
        return (devices, self.areas, self.floors)
