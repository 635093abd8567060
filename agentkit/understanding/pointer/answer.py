"""Reads an answer of the home model back into intents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentkit.devices.adapter import Device
from agentkit.types import Args, Intent, Selector, Value
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.pointer.format import TOOLS, TYPES
from agentkit.understanding.pointer.grammar import Verb, can_do
from agentkit.understanding.pointer.offered import Offered, model_type
from agentkit.understanding.tools import Tool

_TOKEN = re.compile(r"\[(\w+)\]|([^\[\]]+)")


@dataclass(frozen=True)
class Answer:
    """What the model said, before anything is judged."""

    intents: tuple[Intent, ...] = ()
    is_wish: bool = False
    """It was hinted at, not asked for."""
    is_here: bool = False
    """A room was left out: the speaker's is meant."""
    left_out: tuple[Device, ...] = ()
    """Devices that the sentence excepts."""
    refusal: str = ""
    """Why nothing is called: not_home, negation, which …"""


@dataclass
class _Call:
    tool: str
    pointers: list[int] = field(default_factory=list)
    kind: str = ""
    place: str = ""
    left_out: list[str] = field(default_factory=list)
    value: str = ""


def read_answer(
    text: str,
    offered: Offered,
    verbs: Mapping[str, Verb],
    tools: Mapping[str, Tool],
    view: HomeView,
    phrases: PhraseMap,
) -> Answer:
    """Read a whole answer of the grammar; one that was cut off is a refusal."""
    tokens = [mark or f"={plain}" for mark, plain in _TOKEN.findall(text)]
    if not tokens or tokens[0] in ("refuse", "ask", "say"):
        return Answer(refusal=tokens[1] if len(tokens) > 1 else "unsure")
    is_wish = tokens[0] == "wish"
    calls = _calls(tokens[is_wish:])
    intents: list[Intent] = []
    left_out: list[Device] = []
    for call in calls:
        devices, gone = _devices(call, offered, view, tools)
        left_out += gone
        found = _intents(call, devices, verbs[call.tool], tools, phrases)
        if not found:
            return Answer(refusal="unknown_device")
        intents += [i for i in found if i not in intents]
    return Answer(tuple(intents), is_wish, any(c.place == "here" for c in calls), tuple(left_out))


def _calls(tokens: Sequence[str]) -> list[_Call]:
    calls: list[_Call] = []
    is_left_out = False
    for token in tokens:
        if token in TOOLS and (not calls or token not in TYPES or calls[-1].pointers or calls[-1].place):
            calls.append(_Call(token))
            is_left_out = False
        elif token == "except":
            is_left_out = True
        elif is_left_out and token[0] in "da" and token[1:].isdigit():
            calls[-1].left_out.append(token)
        else:
            _extend(calls[-1], token)
    return calls


def _extend(call: _Call, token: str) -> None:
    if token.startswith("=") or token in ("more", "less"):
        call.value = token.removeprefix("=")
    elif token[0] == "d" and token[1:].isdigit():
        call.pointers.append(int(token[1:]))
    elif token in TYPES:
        call.kind = token
    else:
        call.place = token


def _devices(
    call: _Call, offered: Offered, view: HomeView, tools: Mapping[str, Tool]
) -> tuple[list[Device], list[Device]]:
    """Devices that a call means, and those that it leaves out."""
    if call.pointers:
        return [offered.devices[i] for i in dict.fromkeys(call.pointers)], []
    fitting = [d for d in view.devices if model_type(d) == call.kind and can_do(call.tool, d.type, tools)]
    if call.place == "here":
        near = [d for d in fitting if d.area is not None and d.area == view.speaker_area]
        return near or (fitting if len(fitting) == 1 else []), []
    if call.place.startswith("a") and call.place[1:].isdigit():
        area = offered.areas[int(call.place[1:])].id
        return [d for d in fitting if d.area == area], []
    gone = [d for d in fitting if _is_left_out(d, call.left_out, offered)]
    return [d for d in fitting if d not in gone], gone


def _is_left_out(device: Device, pointers: Sequence[str], offered: Offered) -> bool:
    devices = {offered.devices[int(p[1:])].id for p in pointers if p[0] == "d"}
    areas = {offered.areas[int(p[1:])].id for p in pointers if p[0] == "a"}
    return device.id in devices or device.area in areas


def _intents(
    call: _Call, devices: Sequence[Device], verb: Verb, tools: Mapping[str, Tool], phrases: PhraseMap
) -> list[Intent]:
    by_tool: dict[str, list[Device]] = {}
    for device in devices:
        if real := can_do(call.tool, device.type, tools):
            by_tool.setdefault(real, []).append(device)
    args = _args(call, verb, phrases)
    if args is None:
        return []
    likely = {t: _likely(call, tools[t], found) for t, found in by_tool.items()}
    return [Intent(t, args, Selector(device_ids=tuple(d.id for d in found))) for t, found in likely.items()]


def _likely(call: _Call, tool: Tool, devices: Sequence[Device]) -> Sequence[Device]:
    """Of the devices of a room those that sound, for what a room has but one of; all of them else."""
    is_of_room = not call.pointers and (call.place == "here" or call.place.removeprefix("a").isdigit())
    return tool.likely(devices) if is_of_room and tool.is_one_per_room else devices


def _args(call: _Call, verb: Verb, phrases: PhraseMap) -> Args | None:
    if not verb.argument:
        return {}
    if call.value in ("more", "less"):
        step = _step(call, verb, phrases)
        return None if step is None else {verb.argument: step}
    param = next(p for p in verb.tool.params if p.name == verb.argument)
    value: Value = call.value
    if param.type in (int, float):
        number = float(call.value)
        value = int(number) if number.is_integer() else number
    return {verb.argument: value}


def _step(call: _Call, verb: Verb, phrases: PhraseMap) -> int | float | None:
    """The usual difference of a verb in the direction that the model saw."""
    sign = 1 if call.value == "more" else -1
    usual = [
        v
        for rules in phrases.acts.values()
        for r in rules
        if r.tool == verb.tool.name and isinstance(v := r.constants.get(verb.argument), (int, float)) and v * sign > 0
    ]
    return usual[0] if usual else None
