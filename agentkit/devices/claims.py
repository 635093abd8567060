"""What a device says of its own kind later on can only add to what it was registered as, never replace it.

The same holds for its names: what it was called before goes on counting where a name tells what a device is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentkit.devices.adapter import DECLARED_CLASS, FORMER_NAMES, REPORTED_CLASS, Device, class_of

MAX_CLAIMS = 8
"""More classes than this are claimed by nothing honest; the first ones count."""


def with_claims(known: Device | None, device: Device) -> Device:
    """The device as it registers again, under the class that it is known by."""
    if known is None:
        own = {k: v for k, v in device.attributes.items() if k not in (REPORTED_CLASS, FORMER_NAMES)}
        return device if own == device.attributes else replace(device, attributes=own)
    former = dict.fromkeys((*known.former_names, *known.names))
    kept = [name for name in former if name not in device.names or name in known.former_names][:MAX_CLAIMS]
    attributes = keep_class(known.attributes, device.attributes) | ({FORMER_NAMES: kept} if kept else {})
    return replace(device, attributes=attributes)


def as_known(base: Device | None, device: Device) -> Device:
    """A saved device under the class of the home file, which may have been written after it was saved."""
    if base is None:
        return device
    saved = {k: v for k in (REPORTED_CLASS, FORMER_NAMES) if (v := device.attributes.get(k))}
    known = replace(base, attributes={**base.attributes, **saved})
    return with_claims(known, device)


def keep_class(known: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes as said, with the class that is known; another class is kept beside it as a claim."""
    kept = {k: v for k, v in said.items() if k not in (DECLARED_CLASS, REPORTED_CLASS, FORMER_NAMES)}
    kept |= {FORMER_NAMES: known[FORMER_NAMES]} if known.get(FORMER_NAMES) else {}
    declared, reported = known.get(DECLARED_CLASS), known.get(REPORTED_CLASS)
    claims = list(reported) if isinstance(reported, list | tuple) else []
    claim = class_of(said.get(DECLARED_CLASS))
    if claim is not None and claim not in (class_of(declared), *claims) and len(claims) < MAX_CLAIMS:
        claims.append(claim)
    kept |= {} if declared is None else {DECLARED_CLASS: declared}
    return kept | ({REPORTED_CLASS: claims} if claims else {})
