"""Devices as plain data, in the words of the home file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.devices.validate import short
from agentkit.errors import DeviceError


def device_to_dict(device: Device) -> dict[str, Any]:
    """Plain data of a device, in the words of the home file."""
    return {
        "id": device.id,
        "name": device.name,
        "type": device.type,
        "area": device.area,
        "aliases": list(device.aliases),
        "state": device.state,
        "attributes": dict(device.attributes),
        "available": device.is_available,
        "endpoint": device.endpoint,
    }


def device_from_dict(row: Mapping[str, Any]) -> Device:
    """Build a device from plain data. Raises DeviceError naming the field that is missing or of the wrong kind."""
    if not isinstance(row, Mapping):
        raise DeviceError("a device must be a mapping with id, name and type")
    for key, wanted in (("id", str), ("name", str), ("type", str)):
        if not isinstance(row.get(key), wanted):
            raise DeviceError(f"device {short(row.get('id'))}: {key} is missing or not text")
    for key, kinds, wanted_text in _OPTIONAL:
        if row.get(key) is not None and not isinstance(row[key], kinds):
            raise DeviceError(f"device {short(row['id'])}: {key} must be {wanted_text}")
    return Device(
        row["id"],
        row["name"],
        row["type"],
        row.get("area"),
        tuple(row.get("aliases") or ()),
        row.get("state"),
        dict(row.get("attributes") or {}),
        row.get("available") is not False,
        row.get("endpoint"),
    )


_OPTIONAL: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("area", str, "an area id"),
    ("aliases", (list, tuple), "a list of names"),
    ("state", str, "text"),
    ("attributes", Mapping, "a mapping"),
    ("available", bool, "true or false"),
    ("endpoint", str, "a URL"),
)


def difference(base: Device, device: Device) -> dict[str, Any]:
    """What a device says that the home file does not: `overlay` puts it back."""
    old, new = base.attributes, device.attributes
    changed = {k: v for k, v in new.items() if k not in old or old[k] != v}
    gone = {k: None for k in old if k not in new}
    return {"state": device.state, "attributes": {**changed, **gone}, "available": device.is_available}


def overlay(device: Device, row: Any) -> Device:
    """Lay a saved difference over a device, unchecked. Raises DeviceError if it is none."""
    if not isinstance(row, dict) or not isinstance(given := row.get("attributes", {}), dict):
        raise DeviceError(f"device {device.id}: its saved state is no mapping of state, attributes and available")
    if not isinstance(available := row.get("available", True), bool):
        raise DeviceError(f"device {device.id}: available is {short(available)}, wanted true or false")
    merged = {**device.attributes, **given}
    return replace(
        device,
        state=device.state if row.get("state") is None else row["state"],
        attributes={k: v for k, v in merged.items() if v is not None},
        is_available=available,
    )
