"""Compare a device as read back with what it should have become."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from agentkit.devices.adapter import Change, Device

REL_TOL = 0.01
"""Devices round: 50 % of 255 may come back as 127."""
ABS_TOL = 0.005
"""Half a step of a volume between 0 and 1."""


def is_reached(device: Device, change: Change) -> bool:
    """True if everything that the change names is so; what it does not name may be anything."""
    if change.state is not None and not same(device.state, change.state):
        return False
    return all(same(device.attributes.get(key), value) for key, value in change.attributes.items())


def has_moved(before: Device, after: Device, change: Change) -> bool:
    """True if anything that the change names is no longer as before."""
    if change.state is not None and not same(before.state, after.state):
        return True
    return any(not same(before.attributes.get(key), after.attributes.get(key)) for key in change.attributes)


def contradicts(device: Device, change: Change) -> bool:
    """True if the device says something else than the change names; what it does not report contradicts nothing."""
    if change.state is not None and device.state is not None and not same(device.state, change.state):
        return True
    reported = [(device.attributes[k], v) for k, v in change.attributes.items() if k in device.attributes]
    return any(not same(got, wanted) for got, wanted in reported)


def told(change: Change) -> str:
    """Say a change in one line for people: the state, then the attributes as JSON."""
    parts = [] if change.state is None else [change.state]
    parts += [f"{key} {json.dumps(value, ensure_ascii=False, default=str)}" for key, value in change.attributes.items()]
    return ", ".join(parts) or "nothing that can be read"


def same(got: Any, wanted: Any) -> bool:
    """Compare two values as devices report them: rounded numbers, lists for tuples, any case."""
    if isinstance(got, bool) or isinstance(wanted, bool) or got is None or wanted is None:
        return got is wanted
    if isinstance(got, Mapping) and isinstance(wanted, Mapping):
        return got.keys() == wanted.keys() and all(same(got[k], wanted[k]) for k in wanted)
    if _is_list(got) and _is_list(wanted):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    numbers = _number(got), _number(wanted)
    if numbers[0] is not None and numbers[1] is not None:
        return math.isclose(numbers[0], numbers[1], rel_tol=REL_TOL, abs_tol=ABS_TOL)
    if isinstance(got, str) and isinstance(wanted, str):
        return got.casefold() == wanted.casefold()
    return bool(got == wanted)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _number(value: Any) -> float | None:
    if not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
