"""The tools of the app: what can be done, as typed functions.

A tool looks at a device and returns what should become true. It sends nothing itself: agentkit applies the decision,
reads the device back and tells what really happened.
"""

from __future__ import annotations

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import Decision, becomes, tool

SWITCHED = ("fan", "light", "pump")


@tool(types=SWITCHED)
def turn_on(device: Device) -> Decision:
    """Switch something on."""
    return becomes(device, "on")


@tool(types=SWITCHED)
def turn_off(device: Device) -> Decision:
    """Switch something off."""
    return becomes(device, "off")
