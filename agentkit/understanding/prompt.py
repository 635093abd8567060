"""What the model reads: a static part that is computed once, and a short tail for each utterance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentkit.devices.adapter import Device
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.labels import Label
from agentkit.understanding.tools import Param, Tool

MAX_UTTERANCE = 300
"""Characters of an utterance that the model reads; more is refused, never cut."""


@dataclass(frozen=True)
class Example:
    """One question and its answer in a home that does not exist."""

    devices: str
    says: str
    answer: str


@dataclass(frozen=True)
class PromptText:
    """The app's words to the model, in the language that its models read best."""

    system: str = ""
    examples: tuple[Example, ...] = field(default_factory=tuple)


def system_text(text: PromptText, tools: Mapping[str, Tool]) -> str:
    """The static part: what to do and with which tools; the same for every turn of an app."""
    lines = [text.system.strip(), "", "Tools:"]
    lines += [f"{t.name}({', '.join(map(_param, t.params))}): {t.summary}" for t in tools.values()]
    return "\n".join(lines)


def user_text(labels: Sequence[Label], view: HomeView, utterance: str) -> str:
    """The part of one turn: the devices that can be meant, and what was said."""
    by_id = {d.id: d for d in view.devices}
    listed = []
    for label in labels:
        device = by_id.get(label.selector.device_ids[0]) if label.selector.device_ids else None
        listed.append(f"{label.text} ({_place(device, view)})" if device else label.text)
    return example_text("; ".join(listed) or "none", utterance)


def example_text(devices: str, utterance: str) -> str:
    """How devices and utterance are written, in examples as in turns."""
    return f"Devices: {devices}\nSaid: {utterance}"


def _param(param: Param) -> str:
    if param.choices:
        return f"{param.name}={'|'.join(param.choices)}"
    if param.range:
        return f"{param.name}={param.range.low:g}..{param.range.high:g}{param.range.unit}"
    return param.name


def _place(device: Device, view: HomeView) -> str:
    area = view.area(device.area)
    return f"{device.type}, {area.name}" if area and area.name not in device.name else device.type
