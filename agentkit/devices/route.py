"""Sends every command to where its device lives."""

from __future__ import annotations

from agentkit.devices.adapter import Adapter, Command, Device
from agentkit.devices.memory import MemoryAdapter
from agentkit.devices.registry import Registry


class RoutingAdapter:
    """Devices with an endpoint go to the network adapter, the others to the one in this process."""

    def __init__(self, registry: Registry, *, network: Adapter | None = None, local: Adapter | None = None) -> None:
        """Use RestAdapter and MemoryAdapter unless others are given."""
        self._registry = registry
        self._local = local or MemoryAdapter(registry)
        self._network = network or _rest(registry)

    def apply(self, command: Command) -> None:
        """Send a command. Raises DeviceUnknown, DeviceUnavailable, DeviceError."""
        self._adapter(command.device_id).apply(command)

    def read(self, device_id: str) -> Device:
        """Read a device as it is now. Raises DeviceUnknown, DeviceUnavailable, DeviceError."""
        return self._adapter(device_id).read(device_id)

    def close(self) -> None:
        """Close what the adapters hold open."""
        for adapter in (self._local, self._network):
            if close := getattr(adapter, "close", None):
                close()

    def _adapter(self, device_id: str) -> Adapter:
        return self._local if self._registry.get(device_id).endpoint is None else self._network


def _rest(registry: Registry) -> Adapter:
    from agentkit.devices.rest import RestAdapter  # httpx is loaded only where devices are really driven

    return RestAdapter(registry)
