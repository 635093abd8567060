"""What the model reads: a static part that is computed once, and a short tail for each utterance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    said: str
    answer: str


@dataclass(frozen=True)
class PromptText:
    """The app's words to the model, in the language that its models read best."""

    system: str = ""
    examples: tuple[Example, ...] = field(default_factory=tuple)


def read_prompt(raw: Mapping[str, Any]) -> PromptText:
    """Turn the mapping `prompt` of a templates file into a PromptText."""
    examples = tuple(Example(str(e["devices"]), str(e["said"]), str(e["answer"])) for e in raw.get("examples") or ())
    return PromptText(str(raw.get("system") or ""), examples)


def system_text(text: PromptText, tools: Mapping[str, Tool]) -> str:
    """The static part: what to do and with which tools; the same for every turn of an app.

    A tool without arguments is told by its name; the others get the first clause of their summary, because every
    token of this part is paid for at start-up and in every attention step.
    """
    bare = [t.name for t in tools.values() if not t.params]
    lines = [text.system.strip(), "", "Tools: " + ", ".join(bare)]
    lines += [
        f"{t.name}({', '.join(map(_param, t.told_params))}): {_clause(t.summary)}" for t in tools.values() if t.params
    ]
    return "\n".join(lines)


def _clause(summary: str) -> str:
    """The beginning of a summary up to its first comma, colon or bracket."""
    return re.split(r"[,:;(]|\.\s|\.$", summary, maxsplit=1)[0].strip()


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
