"""What makes a device the one that somebody spoke of, and what it may not be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.devices.validate import short


def names_of(device: Device) -> tuple[Any, ...]:
    """What a sentence can find a device by."""
    return (device.id, device.name, device.aliases, device.type, device.area, device.classes)


def small_name(device: Device, is_small_word: Callable[[str], bool], known: Device | None = None) -> str | None:
    """Say which name would be overheard in sentences about other things, apart from those that it has already."""
    for name in device.names:
        if is_small_word(name) and (known is None or name not in known.names):
            return f"device {device.id}: {short(name)} means something else in sentences; choose a name of its own"
    return None
