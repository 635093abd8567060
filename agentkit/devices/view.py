"""What a tool that selects no device sees of the home."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agentkit.devices.adapter import Area, Device, Floor
from agentkit.planned import Entry


@dataclass(frozen=True)
class View:
    """A snapshot of the home at one moment; the clock comes in from outside, so tools stay pure."""

    now: datetime
    """Local time of the home."""
    devices: tuple[Device, ...] = ()
    areas: tuple[Area, ...] = ()
    floors: tuple[Floor, ...] = ()
    language: str = "en"
    """Language of the turn."""
    area: str | None = None
    """Area id of the speaker."""
    user: str | None = None
    entries: tuple[Entry, ...] = ()
    """Timers, alarms and plans that are kept now."""
    session: str = "default"
    source: str = "cli"
    text: str = ""
    """The utterance, for what is kept of it."""

    def area_name(self, area_id: str | None) -> str | None:
        """Name of a room, or None."""
        return next((a.name for a in self.areas if a.id == area_id), None)
