"""Questions that the agent asks back, with the answers it would take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Param

MAX_SPOKEN = 6
"""More options than this are not read out; the question then only says "which one?"."""


@dataclass(frozen=True)
class Option:
    """One answer to a question."""

    label: str
    """Device id, area id or text: what a reply is given to name it."""
    device_ids: tuple[str, ...]
    words: tuple[str, ...] = ()
    """Names of device and room by which a person may choose it."""
    types: tuple[str, ...] = ()
    """Device types, so that "the lamp" can tell a lamp from a fan."""


@dataclass(frozen=True)
class Question:
    """Several devices fit, or a value is missing; the speaker has to say which."""

    reply_key: str
    options: tuple[Option, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    settled_ids: tuple[str, ...] = ()
    """Devices of the same intent that are beyond doubt; they join whatever is chosen."""
    open_names: tuple[str, ...] = ()
    """Names of the same intent that are unclear too and will be asked about next."""
    param: Param | None = None
    """The argument that is missing, if that is what is asked."""
    or_params: tuple[Param, ...] = ()
    """Arguments that would do instead: how long from now, for at what time."""


def which(devices: tuple[Device, ...], view: HomeView, *, name: str | None = None) -> Question:
    """Ask by what tells the devices apart: rooms if one name stands in several, else the devices, at last their ids."""
    areas = [view.area(d.area) for d in devices]
    ids = [area.id for area in areas if area]
    by_area = name is not None and len(set(ids)) == len(devices)
    labels = ids if by_area else [_label(d, devices) for d in devices]
    options = tuple(
        Option(label, (d.id,), (*d.names, *(area.names if area else ())), (d.type,))
        for label, d, area in zip(labels, devices, areas, strict=True)
    )
    question = Question("ask.which_area" if by_area else "ask.which", values={} if name is None else {"name": name})
    return among(question, options)


def among(question: Question, options: tuple[Option, ...]) -> Question:
    """Ask the same about fewer options."""
    spoken = {"options": tuple(o.label for o in options)} if len(options) <= MAX_SPOKEN else {}
    others = {key: value for key, value in question.values.items() if key != "options"}
    return replace(question, options=options, values={**others, **spoken})


def _label(device: Device, devices: tuple[Device, ...]) -> str:
    """The id, which a reply spells as name and room; with it spelled out where both are shared."""
    twins = [d for d in devices if (d.name, d.area) == (device.name, device.area)]
    return f"{device.name} ({device.id})" if len(twins) > 1 else device.id
