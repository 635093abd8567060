"""A small home for the tests of this folder."""

from __future__ import annotations

from agentkit.devices.adapter import Area, Device, Floor, Home

LAMP = Device("light.lamp", "Lamp", "light", "den", ("台灯",), "off", {"brightness": 100})
DOOR = Device("lock.door", "Door", "lock", "hall", (), "locked")


def make_home(*devices: Device) -> Home:
    """Make a home with two rooms."""
    areas = (Area("den", "Den", (), "ground"), Area("hall", "Hall"))
    return Home("test", "en", (Floor("ground", "Ground"),), areas, devices or (LAMP, DOOR), "den")
