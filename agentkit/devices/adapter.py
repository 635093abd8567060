"""The port between the agent and what really moves a device."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from agentkit.devices.plain import fixed_report

DECLARED_CLASS = "device_class"
REPORTED_CLASS = "reported_class"
"""Attribute with the classes that a device claimed after it was registered."""
FORMER_NAMES = "former_names"
"""Attribute with what a device was called when it was registered and is not called any more."""
MODES = "hvac_modes"
COOLING = frozenset({"cool", "heat_cool", "dry", "fan_only"})
"""Modes that only what can cool has."""
NO_CLASS = "unknown"
"""Class of a device that reports something that is no class."""


@dataclass(frozen=True)
class Device:
    """One device as last read. The home file and `GET /v1/devices` use the same field names."""

    id: str
    name: str
    type: str
    """light, switch, climate, fan, cover, lock, media_player, vacuum, valve, sensor, scene, todo …"""
    area: str | None = None
    """Area id, or None for a device without a room."""
    aliases: tuple[str, ...] = ()
    state: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    is_available: bool = True
    endpoint: str | None = None
    """URL that takes commands, for a device on the network; None = held in this process."""

    @property
    def names(self) -> tuple[str, ...]:
        """Name first, then the aliases."""
        return (self.name, *self.aliases)

    @property
    def former_names(self) -> tuple[str, ...]:
        """What it was called before; the operator clears it by removing the device."""
        former = self.attributes.get(FORMER_NAMES)
        return tuple(x for x in former if isinstance(x, str)) if isinstance(former, list | tuple) else ()

    @cached_property
    def device_class(self) -> str | None:
        """Finer kind, for example garage for a cover: as registered, else as first reported, else by what it can do."""
        return next((c for c in self.classes if c is not None), _class_by_modes(self))

    @cached_property
    def classes(self) -> tuple[str | None, ...]:
        """Every kind that was ever claimed for it: as registered (None = not said), then what its reports add."""
        claims = self.attributes.get(REPORTED_CLASS)
        reported = claims if isinstance(claims, list | tuple) else ()
        return tuple(dict.fromkeys(map(class_of, (self.attributes.get(DECLARED_CLASS), *reported))))


@dataclass(frozen=True)
class Area:
    """A room or outdoor place."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Name first, then the aliases."""
        return (self.name, *self.aliases)


@dataclass(frozen=True)
class Floor:
    """A storey of the home."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Name first, then the aliases."""
        return (self.name, *self.aliases)


@dataclass(frozen=True)
class HomeTimer:
    """A timer that ran when a recorded home was captured."""

    start_s: float
    left_s: float
    name: str | None = None
    area: str | None = None
    """Area id."""
    is_active: bool = True


@dataclass(frozen=True)
class Home:
    """A home as its file says; the registry owns what changes afterwards."""

    id: str
    language: str = "en"
    floors: tuple[Floor, ...] = ()
    areas: tuple[Area, ...] = ()
    devices: tuple[Device, ...] = ()
    speaker_area: str | None = None
    """Area id of the built-in speaker: the default room of an utterance that names none."""
    timers: tuple[HomeTimer, ...] = ()
    """What a recorded home had running; a live home starts without."""


@dataclass(frozen=True)
class Change:
    """What a device should be after an action; both the command and what read-back is compared with.

    Raises ValueError, in the tool that makes it, for what is not plain JSON data.
    """

    state: str | None = None
    """New state, or None to leave it."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Only the attributes that change; a value None removes the attribute."""

    def __post_init__(self) -> None:
        state, attributes = fixed_report(self.state, self.attributes)
        object.__setattr__(self, "state", state)
        object.__setattr__(self, "attributes", attributes)


@dataclass(frozen=True)
class Command:
    """What is sent to a device."""

    device_id: str
    tool: str
    args: Mapping[str, Any]
    change: Change


def class_of(value: object) -> str | None:
    """Read a class as devices spell it: "Garage", "cover.CoverDeviceClass.GARAGE". None if it says none."""
    if value is None:
        return None
    if not isinstance(value, str):
        return NO_CLASS
    if value.isascii() and value.isidentifier() and value.islower():
        return value
    folded = unicodedata.normalize("NFKC", value).casefold()
    return "_".join(re.split(r"[\s-]+", folded.rpartition(".")[2].strip())) or NO_CLASS


def _class_by_modes(device: Device) -> str | None:
    """A climate device that can heat and not cool is a heater; one that lists no modes may be anything."""
    listed = device.attributes.get(MODES) if device.type == "climate" else None
    modes = {str(m) for m in listed} if isinstance(listed, list | tuple) else set()
    return "heater" if "heat" in modes and not modes & COOLING else None


class Adapter(Protocol):
    """Moves devices and reads them back."""

    def apply(self, command: Command) -> None:
        """Send a command. Raises DeviceError (DeviceUnavailable, DeviceUnknown) if it was not taken."""
        ...

    def read(self, device_id: str) -> Device:
        """Read a device as it is now. Raises DeviceUnknown."""
        ...
