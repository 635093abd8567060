"""Devices held in this process: the registry itself is their state."""

from __future__ import annotations

from agentkit.devices.adapter import Command, Device
from agentkit.devices.registry import Registry
from agentkit.errors import DeviceUnavailable


class MemoryAdapter:
    """Applies a command by changing the device in the registry."""

    def __init__(self, registry: Registry):
        self._registry = registry

    def apply(self, command: Command) -> None:
        """Take over the state and attributes of the command's change. Raises DeviceUnknown, DeviceUnavailable."""
        device = self._registry.get(command.device_id)
        if not device.is_available:
            raise DeviceUnavailable(f"device {device.id}: it reports itself as unavailable")
        self._registry.report(device.id, state=command.change.state, attributes=command.change.attributes)

    def read(self, device_id: str) -> Device:
        """Return the device as it is. Raises DeviceUnknown."""
        return self._registry.get(device_id)
