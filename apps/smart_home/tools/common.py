"""What several tools need: what a device can do, what it last said, and how to refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agentkit.devices.adapter import Change, Device
from agentkit.understanding.tools import Decision

OFF_STATES = {"off", "standby", "unavailable", "unknown"}


def to(device: Device, state: str | None = None, attributes: dict[str, Any] | None = None, **values: Any) -> Decision:
    """Decide what one device should become, with values for the reply's sentence."""
    return Decision({device.id: Change(state, attributes or {})}, values=values)


def unless_off(device: Device, decision: Decision, reply_key: str) -> Decision:
    """The decision with another sentence for a device that stays off: it is set, and nobody will notice."""
    return replace(decision, reply_key=reply_key) if is_off(device) else decision


def refuse(reason: str, device: Device, **values: Any) -> Decision:
    """Decide to do nothing, and say why."""
    return Decision(reason=reason, values={"name": device.name, "device_id": device.id, **values})


def features(device: Device) -> frozenset[str] | None:
    """What the device says it can do, in lower case; None = it does not say."""
    listed = device.attributes.get("supported_features")
    if not isinstance(listed, list | tuple):
        return None
    return frozenset(str(x).rpartition(".")[2].lower() for x in listed)


def can(device: Device, *any_of: str) -> bool:
    """False only if the device lists what it can do and none of these is there."""
    known = features(device)
    return known is None or bool(known & set(any_of))


def listed(device: Device, key: str) -> tuple[str, ...]:
    """The names that a device lists under an attribute; none if it lists nothing."""
    names = device.attributes.get(key)
    return tuple(map(str, names)) if isinstance(names, list | tuple) else ()


def spelled_like(wanted: str, names: Sequence[str]) -> str | None:
    """The name that is wanted, however it is spelled ("Color Loop" for colorloop), else the only one that holds it."""
    said = _squashed(wanted)
    same = next((n for n in names if _squashed(n) == said), None)
    holding = [n for n in names if f" {wanted.strip().casefold()} " in f" {n.casefold()} "]
    return same if same is not None or len(holding) != 1 else holding[0]


def number(device: Device, *keys: str) -> float | None:
    """Return the first attribute of these that holds a number."""
    for key in keys:
        value = as_number(device.attributes.get(key))
        if value is not None:
            return value
    return None


def as_number(value: Any) -> float | None:
    """Read a number out of a number or a text such as 21.5."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def is_on(device: Device) -> bool:
    """True if a device that can be switched runs now."""
    if device.type in ("climate", "media_player", "water_heater"):
        return device.state is not None and device.state not in OFF_STATES
    return device.state == "on"


def runs(device: Device) -> int:
    """Rank for changes of a value: what is on is meant before what is off."""
    return int(is_on(device))


def is_off(device: Device) -> bool:
    """True if the device says that it is off; one that says nothing may be on."""
    return device.state in ("off", "standby")


def is_simulated(device: Device) -> bool:
    """True if the device lives in this process, so every attribute can be set and read back."""
    return device.endpoint is None


def clamp(value: float, low: float, high: float) -> float:
    """Keep a value within limits."""
    return max(low, min(high, value))


def _squashed(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def tidy(value: float) -> int | float:
    """Write 21.0 as 21 and 21.25 as 21.2."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded
