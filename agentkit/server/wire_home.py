"""The home as it goes over HTTP: rooms and floors, and where the built-in speaker stands."""

from __future__ import annotations

from pydantic import BaseModel

from agentkit.devices.registry import Registry


class PlaceOut(BaseModel):
    """A floor."""

    id: str
    name: str
    aliases: list[str]


class AreaOut(PlaceOut):
    """A room or outdoor place."""

    floor: str | None


class HomeOut(BaseModel):
    """What does not change while the server runs."""

    id: str
    language: str
    speaker_area: str | None
    """Room that a command without `area` is taken to come from; null = no room is assumed."""
    areas: list[AreaOut]
    floors: list[PlaceOut]

    @classmethod
    def from_registry(cls, registry: Registry) -> HomeOut:
        """Build the answer."""
        home = registry.home
        return cls(
            id=home.id,
            language=home.language,
            speaker_area=home.speaker_area,
            areas=[AreaOut(id=a.id, name=a.name, aliases=list(a.aliases), floor=a.floor) for a in registry.areas],
            floors=[PlaceOut(id=f.id, name=f.name, aliases=list(f.aliases)) for f in registry.floors],
        )
