"""The grammar of the home model's answers: only pointers that exist, only tools that they can do, only said values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentkit.devices.adapter import Device
from agentkit.understanding.offers import Offers
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.pointer.format import REFUSALS, TOOLS
from agentkit.understanding.pointer.offered import STANDS_FOR, Offered, model_type
from agentkit.understanding.tools import Tool

MAX_CALLS = 4
MAX_POINTERS = 6


@dataclass(frozen=True)
class Verb:
    """One tool of the app as the model can call it in this turn."""

    tool: Tool
    argument: str = ""
    """The argument that takes the value; "" = none."""
    values: tuple[str, ...] = ()
    """How the values are written."""


@dataclass(frozen=True)
class _Rules:
    by_body: dict[str, str] = field(default_factory=dict)

    def name(self, body: str) -> str:
        """The name of the rule with this body; a new one if there is none."""
        return self.by_body.setdefault(body, f"r{len(self.by_body)}")


def verbs_of(tools: Mapping[str, Tool], offers: Offers, phrases: PhraseMap) -> dict[str, Verb]:
    """The model's tools that this app has and for which the sentence holds a value, if one is needed."""
    argument_of = {rule.tool: rule.argument for rule in phrases.values}
    found: dict[str, Verb] = {}
    for name in TOOLS:
        tool = tools.get(name)
        if tool is None or tool.scope == "home":
            continue
        required = [p for p in tool.params if p.is_required]
        if not required:
            found[name] = Verb(tool)
        elif len(required) > 1:
            continue
        elif (param := required[0]).range is not None and param.range.low < 0:
            found[name] = Verb(tool, param.name, ("[more]", "[less]"))
        elif param.name == argument_of.get(name) and (values := _said(offers, tool, param.name)):
            found[name] = Verb(tool, param.name, values)
    return found


def _said(offers: Offers, tool: Tool, argument: str) -> tuple[str, ...]:
    param = next(p for p in tool.params if p.name == argument)
    texts = offers.texts.get((tool.name, argument))
    if param.choices:
        return tuple(t for t in texts or () if t in param.choices)
    return tuple(str(v) for v in offers.of(tool, param) or ())


def can_do(tool_name: str, device: Device, tools: Mapping[str, Tool]) -> str | None:
    """The app's tool that a tool of the model means on a device; None if it cannot do it."""
    real = STANDS_FOR.get((tool_name, device.type), tool_name)
    return real if real in tools and device.type in tools[real].types else None


def pointer_grammar(offered: Offered, verbs: Mapping[str, Verb], tools: Mapping[str, Tool]) -> str:
    """Write the Lark grammar of one turn; without a device that can do anything, of refusals only."""
    rules = _Rules()
    calls = [call for name, verb in verbs.items() if (call := _call(name, verb, offered, tools, rules))]
    lines = ["start: answer" if not calls else f'start: answer | "[wish]" call | call~1..{MAX_CALLS}']
    reasons = " | ".join(f'"[{reason}]"' for reason in REFUSALS)
    lines.append(f'answer: "[refuse]" ({reasons}) | "[ask][which]" | "[say][chitchat]"')
    if calls:
        lines.append("call: " + "\n    | ".join(calls))
    lines += [f"{name}: {body}" for body, name in rules.by_body.items()]
    return "\n".join(lines) + "\n"


def _call(name: str, verb: Verb, offered: Offered, tools: Mapping[str, Tool], rules: _Rules) -> str:
    types = {t for t, d in {d.type: d for d in offered.devices}.items() if can_do(name, d, tools)}
    able = [i for i, d in enumerate(offered.devices) if d.type in types]
    if not able:
        return ""
    pointers = rules.name(" | ".join(f'"[d{i}]"' for i in able))
    kinds = dict.fromkeys(model_type(offered.devices[i]) for i in able)
    groups = [f'"[{kind}]" {_place(kind, able, offered, rules)}' for kind in kinds if kind != "scene"]
    target = rules.name(" | ".join([f"{pointers}~1..{MAX_POINTERS}", *groups]))
    value = f" ({' | '.join(json.dumps(v, ensure_ascii=False) for v in verb.values)})" if verb.values else ""
    return f'"[{name}]" {target}{value}'


def _place(kind: str, able: Sequence[int], offered: Offered, rules: _Rules) -> str:
    own = [i for i in able if model_type(offered.devices[i]) == kind]
    rooms = {offered.devices[i].area for i in own}
    areas = [f'"[a{i}]"' for i, a in enumerate(offered.areas) if a.id in rooms]
    left_out = rules.name(" | ".join([*(f'"[d{i}]"' for i in own), *areas]))
    return rules.name(" | ".join(['"[here]"', f'"[all]" ("[except]" {left_out})?', *areas]))
