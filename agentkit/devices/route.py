"""Sends every command to where its device lives."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from agentkit.devices.adapter import Adapter, Command, Device
from agentkit.devices.memory import MemoryAdapter
from agentkit.devices.registry import Registry

if TYPE_CHECKING:
    from agentkit.devices.rest import RestAdapter


class RoutingAdapter:
    """Devices with an endpoint go to the network adapter, the others to the one in this process."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._local = MemoryAdapter(registry)
        self._network: RestAdapter | None = None
        self._lock = threading.Lock()

    def apply(self, command: Command) -> None:
        """Send a command. Raises DeviceUnknown, DeviceUnavailable, DeviceError."""
        self._adapter(command.device_id).apply(command)

    def read(self, device_id: str) -> Device:
        """Read a device as it is now. Raises DeviceUnknown, DeviceUnavailable, DeviceError."""
        return self._adapter(device_id).read(device_id)

    def _adapter(self, device_id: str) -> Adapter:
        if self._registry.get(device_id).endpoint is None:
            return self._local
        with self._lock:  # actions run side by side
            if self._network is None:
                from agentkit.devices.rest import RestAdapter  # httpx takes 0.1 s to import; few homes need it at start

                self._network = RestAdapter(self._registry)
            return self._network
