"""The live devices of one home: what they are called, where they are, what they last said."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentkit.devices.adapter import Area, Device, Floor, Home
from agentkit.devices.claims import as_known, with_claims
from agentkit.devices.identity import names_of, small_name
from agentkit.devices.report import check_report, reported
from agentkit.devices.store import Store
from agentkit.devices.validate import MAX_DEVICES, Resolver, check_device, check_endpoint
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
Build = Callable[[Device | None], Device]
"""Makes a device out of what is registered under its id at that moment; called more than once."""


class Registry:
    """Owns the devices of a home. Every method may be called from any thread."""

    def __init__(
        self,
        home: Home,
        *,
        store: Path | None = None,
        resolve: Resolver | None = None,
        is_small_word: Callable[[str], bool] = lambda _: False,
    ):
        """Take over the devices of a home and, with a store, what was registered and reported before.

        `is_small_word` tells which names ("the", "all") would be overheard in sentences about other things.
        """
        self.home = home
        self._is_small_word = is_small_word
        self._resolve = resolve
        self._areas = {area.id: area for area in home.areas}
        self._floors = {floor.id: floor for floor in home.floors}
        self._all_areas, self._all_floors = tuple(self._areas.values()), tuple(self._floors.values())
        self._lock = threading.RLock()
        self._saving = threading.Lock()  # taken before _lock, so that no older snapshot overwrites a newer one
        self._callbacks: list[Callback] = []
        self._version = 1
        self._n_events = 0
        self._base = {device.id: check_device(device, self._areas) for device in home.devices}
        self._devices = dict(self._base)
        self._snapshot: tuple[Device, ...] | None = None
        self._told = ""  # why the last close could not save, so that the next one does not repeat it
        self._store = Store(store) if store is not None else None
        if self._store is not None:
            restored = self._store.restore(self._base, tuple(self._areas))
            self._devices = {
                key: check_report(as_known(self._base.get(key), device)) for key, device in restored.items()
            }

    @property
    def version(self) -> int:
        """Grows when devices, names or rooms change, not when states do: a grammar of that version is still right."""
        return self._version

    @property
    def areas(self) -> tuple[Area, ...]:
        """All rooms and outdoor places; the same tuple each time, because they come from the home file alone."""
        return self._all_areas

    @property
    def floors(self) -> tuple[Floor, ...]:
        """All storeys; the same tuple each time."""
        return self._all_floors

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong with the store when it was opened, and with names, one line each."""
        small = (small_name(device, self._is_small_word) for device in self.devices())
        return (*(self._store.warnings if self._store is not None else ()), *filter(None, small))

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

    def snapshot(self) -> tuple[int, tuple[Device, ...]]:
        """All devices as last reported, with the version that they have in common: its names, rooms and order."""
        with self._lock:
            return self._version, self.devices()

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
        """Put a device into the home, whatever its name. Raises DeviceError if it is wrong or cannot be saved."""
        return self._register(device.id, lambda _: device, has_any_name=True)

    def register(self, device_id: str, build: Build) -> Device:
        """Register what is built of the device as it is at that moment, so that no report in between is lost.

        Raises DeviceError if it is wrong, newly called by a small word, or cannot be saved, and what `build` raises;
        then nothing has changed.
        """
        return self._register(device_id, build, has_any_name=False)

    def _register(self, device_id: str, build: Build, *, has_any_name: bool) -> Device:
        endpoint = self._built(device_id, build, has_any_name).endpoint
        if endpoint is not None:
            check_endpoint(endpoint, self._resolve)  # outside the locks: it may ask a name server
        with self._saving:
            with self._lock:
                devices = {**self._devices, device_id: self._built(device_id, build, has_any_name)}
            self._save(device_id, devices)  # first: what would not survive a restart does not happen
            with self._lock:
                before = self._devices.get(device_id)
                device = self._built(device_id, build, has_any_name)  # again: it may have reported meanwhile
                event = self._put("registered" if before is None else "changed", device, before)
        self._notify(event)
        return device

    def remove(self, device_id: str) -> Device:
        """Forget a device, also after a restart. Raises DeviceUnknown, or DeviceError if that cannot be saved."""
        with self._saving:
            with self._lock:
                self._get(device_id)
                devices = {key: device for key, device in self._devices.items() if key != device_id}
            self._save(device_id, devices)
            with self._lock:
                device = self._devices.pop(device_id)
                self._changed(is_structure=True)
                event = Event("removed", device, device, self._n_events)
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
            device = check_report(reported(before, state, attributes, is_available))
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
        """Write everything to the store now; devices can be read and report meanwhile. Raises DeviceError."""
        if self._store is not None:
            with self._saving:
                with self._lock:
                    self._store.cancel()  # before the snapshot: what is reported after it asks for a save of its own
                    devices = dict(self._devices)
                self._store.save(self._base, devices)

    def close(self) -> bool:
        """Write the last states; False if that failed, and the log says why."""
        try:
            self.flush()
        except DeviceError as err:
            if str(err) != self._told:
                log.error("%s; it holds the states of the last time that it could", err)
            self._told = str(err)
            return False
        return True

    def _get(self, device_id: str) -> Device:
        try:
            return self._devices[device_id]
        except KeyError:
            raise DeviceUnknown(f"device {device_id[:100]}: no device of that id is registered") from None

    def _built(self, device_id: str, build: Build, has_any_name: bool) -> Device:
        """Build and check a device. Raises DeviceError."""
        with self._lock:
            before, n_devices = self._devices.get(device_id), len(self._devices)
        known, built = before or self._base.get(device_id), build(before)
        if built.id != device_id:
            raise DeviceError(f"device {device_id}: it would be saved as {built.id}; keep its id")
        if known is not None and known.type != built.type:
            raise DeviceError(
                f"device {device_id}: it is known as a {known.type}, not a {built.type}; register it under another id"
            )
        device = check_device(with_claims(known, built), self._areas)
        if before is None and n_devices >= MAX_DEVICES:
            raise DeviceError(f"device {device_id}: {MAX_DEVICES} devices are registered already; remove some first")
        if not has_any_name and (line := small_name(device, self._is_small_word, before)):
            raise DeviceError(line)
        return device

    def _put(self, kind: Literal["registered", "changed"], device: Device, before: Device | None) -> Event:
        self._devices[device.id] = device
        self._changed(is_structure=before is None or names_of(before) != names_of(device))
        return Event(kind, device, before, self._n_events)

    def _changed(self, *, is_structure: bool) -> None:
        self._snapshot = None
        self._n_events += 1
        self._version += int(is_structure)

    def _save(self, device_id: str, devices: Mapping[str, Device]) -> None:
        """Write the store as it is going to be. Raises DeviceError."""
        if self._store is None:
            return
        try:
            self._store.save(self._base, devices)
        except DeviceError as err:
            raise DeviceError(f"device {device_id}: {err}; nothing was changed") from err

    def _notify(self, event: Event) -> None:
        with self._lock:
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            try:
                callback(event)
            except Exception:  # a listener's fault must not undo what the device already did
                log.exception("a listener failed on %s of %s", event.kind, event.device.id)
