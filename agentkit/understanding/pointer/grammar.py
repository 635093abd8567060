"""The grammar of the home model's answers: only pointers that exist, only tools that they can do, only said values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentkit.understanding.offers import Offers
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.pointer.format import REFUSALS, TOOLS
from agentkit.understanding.pointer.offered import STANDS_FOR, Shape
from agentkit.understanding.tools import Param, Tool

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
    said: Param | None = None
    """The parameter whose values a sentence must hold; None = it need not hold any."""


@dataclass(frozen=True)
class _Rules:
    by_body: dict[str, str] = field(default_factory=dict)

    def name(self, body: str) -> str:
        """The name of the rule with this body; a new one if there is none."""
        return self.by_body.setdefault(body, f"r{len(self.by_body)}")


def verbs_of(tools: Mapping[str, Tool], phrases: PhraseMap) -> dict[str, Verb]:
    """The model's tools that this app has, whatever is said."""
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
        elif param.name == argument_of.get(name):
            found[name] = Verb(tool, param.name, said=param)
    return found


def with_values(verbs: Mapping[str, Verb], offers: Offers) -> dict[str, Verb]:
    """The tools for which the sentence holds a value, if one is needed."""
    found: dict[str, Verb] = {}
    for name, verb in verbs.items():
        if verb.said is None:
            found[name] = verb
        elif values := _said(offers, verb.tool, verb.said):
            found[name] = replace(verb, values=values)
    return found


def _said(offers: Offers, tool: Tool, param: Param) -> tuple[str, ...]:
    if param.choices:
        return tuple(t for t in offers.texts.get((tool.name, param.name)) or () if t in param.choices)
    return tuple(str(v) for v in offers.of(tool, param) or ())


def can_do(tool_name: str, device_type: str, tools: Mapping[str, Tool]) -> str | None:
    """The app's tool that a tool of the model means on a device of some type; None if it cannot do it."""
    real = STANDS_FOR.get((tool_name, device_type), tool_name)
    return real if real in tools and device_type in tools[real].types else None


def pointer_grammar(shape: Shape, values: Mapping[str, Sequence[str]], tools: Mapping[str, Tool]) -> str:
    """Write the Lark grammar of one turn; without a device that can do anything, of refusals only.

    `values`: the model's tools that can be called, with the values that each may take; none = it takes none.
    """
    rules = _Rules()
    calls = [call for name, said in values.items() if (call := _call(name, said, shape, tools, rules))]
    lines = ["start: answer" if not calls else f'start: answer | "[wish]" call | call~1..{MAX_CALLS}']
    reasons = " | ".join(f'"[{reason}]"' for reason in REFUSALS)
    lines.append(f'answer: "[refuse]" ({reasons}) | "[ask][which]" | "[say][chitchat]"')
    if calls:
        lines.append("call: " + "\n    | ".join(calls))
    lines += [f"{name}: {body}" for body, name in rules.by_body.items()]
    return "\n".join(lines) + "\n"


def _call(name: str, values: Sequence[str], shape: Shape, tools: Mapping[str, Tool], rules: _Rules) -> str:
    types = {t for t in {d.type for d in shape} if can_do(name, t, tools)}
    able = [i for i, d in enumerate(shape) if d.type in types]
    if not able:
        return ""
    pointers = rules.name(" | ".join(f'"[d{i}]"' for i in able))
    kinds = dict.fromkeys(shape[i].kind for i in able)
    groups = [f'"[{kind}]" {_place(kind, able, shape, rules)}' for kind in kinds if kind != "scene"]
    target = rules.name(" | ".join([f"{pointers}~1..{MAX_POINTERS}", *groups]))
    value = f" ({' | '.join(json.dumps(v, ensure_ascii=False) for v in values)})" if values else ""
    return f'"[{name}]" {target}{value}'


def _place(kind: str, able: Sequence[int], shape: Shape, rules: _Rules) -> str:
    own = [i for i in able if shape[i].kind == kind]
    rooms = {room for n in own if (room := shape[n].area) is not None}
    areas = [f'"[a{i}]"' for i in sorted(rooms)]
    left_out = rules.name(" | ".join([*(f'"[d{i}]"' for i in own), *areas]))
    return rules.name(" | ".join(['"[here]"', f'"[all]" ("[except]" {left_out})?', *areas]))
