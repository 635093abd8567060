"""The live devices of one home: what they are called, where they are, what they last said."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from agentkit.devices.adapter import Area, Device, Floor, Home
from agentkit.devices.store import Store
from agentkit.devices.validate import MAX_DEVICES, Resolver, check_device, check_endpoint, check_report
from agentkit.errors import DeviceError, DeviceUnknown

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Event:
    """One thing that happened to a device."""

    kind: Literal["registered", "changed", "removed"]
    device: Device
    """As it is now; for removed, as it was last."""
    before: Device | None
    """As it was; None if it is new."""
    number: int
    """Grows by one per event, so a listener can tell the order."""


Callback = Callable[[Event], None]


class Registry:
    """Owns the devices of a home. Every method may be called from any thread."""

    def __init__(self, home: Home, *, store: Path | None = None, resolve: Resolver | None = None):
        """Take over the devices of a home and, with a store, what was registered and reported before."""
        self.home = home
        self._resolve = resolve
        self._areas = {area.id: area for area in home.areas}
        self._floors = {floor.id: floor for floor in home.floors}
        self._lock = threading.RLock()
        self._saving = threading.Lock()  # taken before _lock, so that no older snapshot overwrites a newer one
        self._callbacks: list[Callback] = []
        self._version = 1
        self._n_events = 0
        self._base = {device.id: device for device in home.devices}
        self._devices = dict(self._base)
        self._snapshot: tuple[Device, ...] | None = None
        for device in home.devices:
            check_device(device, self._areas)
        self._store = Store(store) if store is not None else None
        if self._store is not None:
            self._devices = self._store.restore(self._base, tuple(self._areas))

    @property
    def version(self) -> int:
        """Grows when devices, names or rooms change, not when states do: a grammar of that version is still right."""
        return self._version

    @property
    def areas(self) -> tuple[Area, ...]:
        """All rooms and outdoor places."""
        return tuple(self._areas.values())

    @property
    def floors(self) -> tuple[Floor, ...]:
        """All storeys."""
        return tuple(self._floors.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong with the store when it was opened, one line each."""
        return self._store.warnings if self._store is not None else ()

    def area(self, area_id: str) -> Area | None:
        """Find a room by its id."""
        return self._areas.get(area_id)

    def floor(self, floor_id: str) -> Floor | None:
        """Find a storey by its id."""
        return self._floors.get(floor_id)

    def devices(self) -> tuple[Device, ...]:
        """All devices as last reported."""
        with self._lock:
            if self._snapshot is None:
                self._snapshot = tuple(self._devices.values())
            return self._snapshot

    def get(self, device_id: str) -> Device:
        """Return one device as last reported. Raises DeviceUnknown."""
        with self._lock:
            return self._get(device_id)

    def is_remote(self, device_id: str) -> bool:
        """True if the device is known and lives on the network."""
        with self._lock:
            device = self._devices.get(device_id)
            return device is not None and device.endpoint is not None

    def upsert(self, device: Device) -> Device:
        """Register a device, or replace the one of that id. Raises DeviceError if it is wrong or cannot be saved."""
        check_device(device, self._areas)
        if device.endpoint is not None:
            check_endpoint(device.endpoint, self._resolve)  # outside the lock: it may ask a name server
        with self._saving, self._lock:
            before = self._devices.get(device.id)
            if before is None and len(self._devices) >= MAX_DEVICES:
                raise DeviceError(
                    f"device {device.id}: {MAX_DEVICES} devices are registered already; remove some first"
                )
            event = self._put("registered" if before is None else "changed", device, before)
            self._save_or_undo(device.id, before)
        self._notify(event)
        return device

    def remove(self, device_id: str) -> Device:
        """Forget a device, also after a restart. Raises DeviceUnknown, or DeviceError if that cannot be saved."""
        with self._saving, self._lock:
            device = self._get(device_id)
            del self._devices[device_id]
            self._changed(is_structure=True)
            event = Event("removed", device, device, self._n_events)
            self._save_or_undo(device_id, device)
        self._notify(event)
        return device

    def report(
        self,
        device_id: str,
        *,
        state: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        is_available: bool | None = None,
    ) -> Device:
        """Record what a device says about itself; what is not given stays, an attribute None is removed.

        Raises DeviceUnknown, or DeviceError if the report is too large or not plain data.
        """
        with self._lock:
            before = self._get(device_id)
            merged = {k: v for k, v in {**before.attributes, **(attributes or {})}.items() if v is not None}
            check_report(device_id, state, merged)
            device = replace(
                before,
                state=before.state if state is None else state,
                attributes=merged,
                is_available=before.is_available if is_available is None else is_available,
            )
            if device == before:
                return before
            event = self._put("changed", device, before)
            if self._store is not None:
                self._store.save_soon(self.flush)
        self._notify(event)
        return device

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call back after every event, in the thread that caused it; returns a function that ends it."""
        with self._lock:
            self._callbacks.append(callback)

        def unsubscribe() -> None:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return unsubscribe

    def flush(self) -> None:
        """Write everything to the store now; devices can be read and report meanwhile."""
        if self._store is not None:
            with self._saving:
                with self._lock:
                    self._store.cancel()  # before the snapshot: what is reported after it asks for a save of its own
                    devices = dict(self._devices)
                self._store.save(self._base, devices)

    def close(self) -> None:
        """Write the last states; the store's timer ends with that."""
        self.flush()

    def _get(self, device_id: str) -> Device:
        try:
            return self._devices[device_id]
        except KeyError:
            raise DeviceUnknown(f"device {device_id[:100]}: no device of that id is registered") from None

    def _put(self, kind: Literal["registered", "changed"], device: Device, before: Device | None) -> Event:
        self._devices[device.id] = device
        self._changed(is_structure=before is None or _identity(before) != _identity(device))
        return Event(kind, device, before, self._n_events)

    def _changed(self, *, is_structure: bool) -> None:
        self._snapshot = None
        self._n_events += 1
        self._version += int(is_structure)

    def _save_or_undo(self, device_id: str, before: Device | None) -> None:
        """Write the store; a registration that would not survive a restart is taken back."""
        if self._store is None:
            return
        self._store.cancel()
        try:
            self._store.save(self._base, self._devices)
        except OSError as err:
            self._devices.pop(device_id, None)
            if before is not None:
                self._devices[device_id] = before
            self._changed(is_structure=True)
            path, reason = self._store.path, err.strerror or err
            raise DeviceError(f"device {device_id}: {path} cannot be written ({reason}); nothing was changed") from err

    def _notify(self, event: Event) -> None:
        with self._lock:
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            try:
                callback(event)
            except Exception:  # a listener's fault must not undo what the device already did
                log.exception("a listener failed on %s of %s", event.kind, event.device.id)


def _identity(device: Device) -> tuple[Any, ...]:
    return (device.id, device.name, device.aliases, device.type, device.area, device.device_class)
