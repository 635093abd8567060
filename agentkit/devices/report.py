"""What a device may say about itself, wherever it comes from: network, handler, home file or store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.devices.claims import keep_class
from agentkit.devices.plain import fixed_report
from agentkit.errors import DeviceError

MAX_ATTRIBUTES_BYTES = 16_384


def reported(
    device: Device, state: str | None, attributes: Mapping[str, Any] | None, is_available: bool | None
) -> Device:
    """The device after a report, unchecked; what is not given stays, None removes an attribute, the class is kept."""
    given = {**device.attributes, **(attributes or {})}
    return replace(
        device,
        state=device.state if state is None else state,
        attributes=keep_class(device.attributes, {k: v for k, v in given.items() if v is not None}),
        is_available=device.is_available if is_available is None else is_available,
    )


def check_report(device: Device) -> Device:
    """Return the device with attributes that nobody can change.

    Raises DeviceError if state or attributes are too large, too deep or not plain data.
    """
    try:
        state, attributes = fixed_report(device.state, device.attributes)
    except ValueError as err:
        raise DeviceError(f"device {device.id}: {err}") from err
    n_bytes = len(json.dumps(attributes, ensure_ascii=False).encode())
    if n_bytes > MAX_ATTRIBUTES_BYTES:
        raise DeviceError(
            f"device {device.id}: attributes take {n_bytes} bytes, at most {MAX_ATTRIBUTES_BYTES} are kept"
        )
    return replace(device, state=state, attributes=attributes)
