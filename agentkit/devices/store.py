"""Keeps registered devices and last states across restarts, in one JSON file."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.devices.report import check_report
from agentkit.devices.rows import device_from_dict, device_to_dict, difference, overlay
from agentkit.devices.validate import MAX_DEVICES, check_device, short
from agentkit.errors import DeviceError

log = logging.getLogger(__name__)

FORMAT = 1
SAVE_DELAY_S = 1.0
"""States are written at most this often: a chatty sensor must not wear out the board's flash."""
MAX_WARNINGS = 5
"""Lines about single entries of the file."""


class Store:
    """One file: devices that differ from the home file, ids removed, and the last states as differences."""

    def __init__(self, path: Path):
        self.path = path
        self.warnings: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def restore(self, base: Mapping[str, Device], area_ids: tuple[str, ...]) -> dict[str, Device]:
        """Return the home file's devices with everything that was saved laid over them.

        A file that cannot be read is renamed aside, never deleted; one bad entry in it is left out; both warn.
        """
        document = self._load()
        removed = set(_list(document, "removed"))
        devices = {key: device for key, device in base.items() if key not in removed}
        bad: list[str] = []
        for key, row in _table(document, "devices").items():
            try:
                if len(devices) >= MAX_DEVICES and key not in devices:
                    raise DeviceError(f"{MAX_DEVICES} devices are kept at most")
                devices[key] = check_device(device_from_dict({**row, "id": key}), area_ids)
            except (DeviceError, TypeError) as err:
                bad.append(f"saved device {short(key)} is left out ({err})")
        for key, row in _table(document, "states").items():
            try:
                if key in devices:
                    devices[key] = check_report(overlay(devices[key], row))
            except DeviceError as err:
                bad.append(f"saved state of {short(key)} is left out ({err})")
        if bad:
            self._tell(bad)
        return devices

    def save(self, base: Mapping[str, Device], devices: Mapping[str, Device]) -> None:
        """Write the file so that a crash at any moment leaves the old or the new one, whole; one caller at a time.

        Raises DeviceError, and the file is as before.
        """
        document = {
            "format": FORMAT,
            "removed": sorted(key for key in base if key not in devices),
            "devices": {k: device_to_dict(d) for k, d in devices.items() if _is_registered(base.get(k), d)},
            "states": {k: difference(base[k], d) for k, d in devices.items() if _has_only_moved(base.get(k), d)},
        }
        try:
            write_atomically(self.path, json.dumps(document, ensure_ascii=False, indent=1))
        except OSError as err:
            raise DeviceError(f"{self.path} cannot be written ({err.strerror or err})") from err
        except Exception as err:  # whatever a device brought in: the home goes on, and the file stays whole
            reason = " ".join(f"{type(err).__name__}: {err}".split())
            raise DeviceError(f"{self.path} cannot be written ({reason})") from err

    def save_soon(self, save: Callable[[], None]) -> None:
        """Have `save` called once within SAVE_DELAY_S."""
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(SAVE_DELAY_S, self._save_late, (save,))
                self._timer.daemon = True
                self._timer.start()

    def cancel(self) -> None:
        """Call off what `save_soon` asked for."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _save_late(self, save: Callable[[], None]) -> None:
        try:
            save()
        except DeviceError as err:  # nobody waits for this; the next report or the end tries again
            log.error("%s; the next change tries again", err)

    def _load(self) -> dict[str, Any]:
        try:
            document = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as err:
            self._set_aside(f"{type(err).__name__}: {err}")
            return {}
        if not _is_store(document):
            self._set_aside(f"it is not a device store of format {FORMAT}")
            return {}
        return dict(document)

    def _tell(self, bad: list[str]) -> None:
        """Warn about single entries; the next save drops them, so the file is kept as it is now."""
        target = self._aside()
        try:
            shutil.copyfile(self.path, target)
        except OSError as err:
            bad.insert(0, f"no copy of it could be made ({err.strerror or err})")
        else:
            bad.insert(0, f"some of it cannot be used; all of it is kept as {target.name}")
        for line in bad[:MAX_WARNINGS]:
            self._warn(f"{self.path}: {line}")
        if len(bad) > MAX_WARNINGS:
            self._warn(f"{self.path}: {len(bad) - MAX_WARNINGS} more saved devices or states are left out")

    def _aside(self) -> Path:
        names = (self.path.with_name(f"{self.path.name}.corrupt-{n}") for n in range(1, 10_000))
        return next(p for p in names if not os.path.lexists(p))

    def _set_aside(self, reason: str) -> None:
        target = self._aside()
        kept = f"kept as {target.name}"
        try:
            os.replace(self.path, target)
        except OSError as err:
            kept = f"cannot be renamed either ({err.strerror or err})"
        self._warn(f"{self.path}: cannot be read ({reason}); {kept}, starting from the home file")

    def _warn(self, line: str) -> None:
        self.warnings += (line,)
        log.warning("%s", line)


def write_atomically(path: Path, text: str) -> None:
    """Replace a file by text; a crash leaves either the old or the new content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)  # on a full disk it would take what is left
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the rename itself must survive a power cut
    finally:
        os.close(folder)


def _is_registered(base: Device | None, device: Device) -> bool:
    return base is None or _bare(base) != _bare(device)


def _has_only_moved(base: Device | None, device: Device) -> bool:
    return base is not None and base != device and _bare(base) == _bare(device)


def _bare(device: Device) -> Device:
    return replace(device, state=None, attributes={}, is_available=True)


def _is_store(document: Any) -> bool:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return False
    return all(isinstance(document.get(key, {}), dict) for key in ("devices", "states"))


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _list(document: Mapping[str, Any], key: str) -> Iterable[str]:
    value = document.get(key)
    return [x for x in value if isinstance(x, str)] if isinstance(value, list) else []
