"""Check a call's arguments against its tool's signature, wherever the call comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentkit.types import Args
from agentkit.understanding.tools import Param, Tool

MAX_TEXT = 500
"""Longest text argument, in characters."""


@dataclass(frozen=True)
class BadArgument:
    """Why a call cannot be made as it is."""

    reason: str
    """unknown_argument, bad_type, bad_choice or out_of_range."""
    detail: str
    """One line for people: what, got, wanted."""
    values: Mapping[str, Any] = field(default_factory=dict)


def check_arguments(tool: Tool, args: Mapping[str, Any]) -> Args | BadArgument:
    """Return the arguments with whole numbers as int, or the first thing that is wrong. None means "not given"."""
    known = {param.name: param for param in tool.params}
    checked: dict[str, Any] = {}
    for name, value in args.items():
        if name not in known:
            wanted = ", ".join(known) or "none"
            return BadArgument(
                "unknown_argument", f"{tool.name}: argument {name[:80]!r} is unknown; known are {wanted}"
            )
        if value is None:
            continue
        good = _check(tool, known[name], value)
        if isinstance(good, BadArgument):
            return good
        checked[name] = good
    return checked


def missing_argument(tool: Tool, args: Args) -> Param | None:
    """Find the first argument that the tool needs and the call lacks."""
    lacking = next((p for p in tool.params if p.is_required and p.name not in args), None)
    return lacking or next(iter(one_of_missing(tool, args)), None)


def one_of_missing(tool: Tool, args: Args) -> tuple[Param, ...]:
    """The arguments of which one is needed, if the call has none of them."""
    if any(name in args for name in tool.one_of):
        return ()
    return tuple(p for name in tool.one_of for p in tool.params if p.name == name)


def _check(tool: Tool, param: Param, value: Any) -> Any:
    where = f"{tool.name}: {param.name}"
    if param.type is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if param.type is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 2**53 else math.inf
    if type(value) is not param.type:
        text = repr(value)[:80]
        return BadArgument("bad_type", f"{where} is {text}, wanted {param.type.__name__}", {"slot": param.name})
    if isinstance(value, float) and not math.isfinite(value):
        return BadArgument("bad_type", f"{where} is {value}, wanted a finite number", {"slot": param.name})
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return BadArgument("bad_type", f"{where} has {len(value)} characters, at most {MAX_TEXT}", {"slot": param.name})
    if param.choices and value not in param.choices:
        detail = f"{where} is {value!r}, wanted one of {', '.join(param.choices)}"
        return BadArgument("bad_choice", detail[:300], {"slot": param.name, param.name: value})
    limits = param.range
    if limits and isinstance(value, (int, float)) and not limits.low <= value <= limits.high:
        detail = f"{where} is {value}, wanted {limits.low:g} to {limits.high:g} {limits.unit}".rstrip()
        values = {"slot": param.name, "low": limits.low, "high": limits.high, "unit": limits.unit or None}
        return BadArgument("out_of_range", detail, values)
    return value
