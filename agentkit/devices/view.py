"""What a tool that selects no device sees of the home."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agentkit.devices.adapter import Area, Device, Floor


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
