"""The grammar of the model's answers: tools of the app on devices of this home, or a key of a prepared sentence.

    {"calls":[{"tool":"set_brightness","device":"Desk Lamp","brightness":40}]}
    {"refuse":"not_home"}

No white space is free, every list and text is bounded, and no text of the model is ever spoken.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agentkit.understanding.labels import Label, labels_of_types
from agentkit.understanding.offers import Offers
from agentkit.understanding.tools import Param, Tool

MAX_CALLS = 4
MAX_TEXT = 40
ASK_KEYS = ("which", "which_area", "repeat")
REFUSE_KEYS = ("not_understood", "not_yet", "unknown_device")
SAY_KEYS = ("chitchat", "greeting", "thanks", "help")


def home_grammar(labels: Sequence[Label], tools: Mapping[str, Tool], offers: Offers | None = None) -> str:
    """Write the Lark grammar of all answers about these devices; without any device, of those without calls.

    With the offers of a sentence, arguments are limited to what it says.
    """
    rules: dict[str, str] = {}
    calls = [call for tool in tools.values() if labels and (call := _call(tool, labels, rules, offers))]
    start = "answer" if not calls else f'"{_quoted("calls")}[" call ("," call){{0,{MAX_CALLS - 1}}} "]}}" | answer'
    lines = [f"start: {start}", _answer(is_about_home=bool(calls))]
    if calls:
        lines.append("call: " + "\n    | ".join(calls))
    lines += [f"{name}: {body}" for name, body in rules.items()]
    return "\n".join(lines) + "\n"


def _answer(*, is_about_home: bool) -> str:
    """Answers without calls; a sentence that names something of the home cannot be waved away as small talk."""
    keys: list[tuple[str, tuple[str, ...]]] = [("ask", ASK_KEYS), ("refuse", REFUSE_KEYS)]
    if not is_about_home:
        keys = [("ask", ASK_KEYS), ("refuse", (*REFUSE_KEYS, "not_home")), ("say", SAY_KEYS)]
    options = [f'"{_quoted(name)}" ({_enum(values)}) "}}"' for name, values in keys]
    return "answer: " + " | ".join(options)


def _quoted(key: str) -> str:
    """Start of an object with one key, escaped for a Lark literal."""
    return f'{{\\"{key}\\":'


def _literal(text: str) -> str:
    """A Lark literal that matches the text."""
    return json.dumps(text, ensure_ascii=False)


def _enum(values: Sequence[str]) -> str:
    """Alternatives of JSON strings."""
    return " | ".join(_literal(json.dumps(v, ensure_ascii=False)) for v in values)


def _call(tool: Tool, labels: Sequence[Label], rules: dict[str, str], offers: Offers | None) -> str | None:
    """One alternative of a call, or None if no device of the home or no value of the sentence fits the tool."""
    head = f'{{"tool":{json.dumps(tool.name)}'
    params = _params(tool, rules, offers)
    if params is None:
        return None
    if tool.scope == "home":
        return " ".join([_literal(head), *params, '"}"'])
    fitting = labels_of_types(labels, tool.types)
    if not fitting:
        return None
    name = "device_" + "_".join(sorted({x.device_type for x in fitting})) if tool.types else "device_any"
    rules.setdefault(_rule_name(name), _enum([x.text for x in fitting]))
    return " ".join([_literal(head + ',"device":'), _rule_name(name), *params, '"}"'])


def _rule_name(name: str) -> str:
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name.lower())


def _params(tool: Tool, rules: dict[str, str], offers: Offers | None) -> list[str] | None:
    """The arguments of a call, or None if a required one has no value."""
    parts = []
    for param in tool.told_params:
        value = _value(tool, param, rules, offers)
        if value is None and param.is_required:
            return None
        if value is not None:
            piece = f"{_literal(f',{json.dumps(param.name)}:')} {value}"
            parts.append(piece if param.is_required else f"({piece})?")
    return parts


def _value(tool: Tool, param: Param, rules: dict[str, str], offers: Offers | None) -> str | None:
    if param.choices:
        return f"({_enum(param.choices)})"
    if param.type is bool:
        return '("true" | "false")'
    offered = offers.of(tool, param) if offers else None
    if offered is not None:
        listed = " | ".join(_literal(json.dumps(v, ensure_ascii=False)) for v in offered)
        return f"({listed})" if listed else None
    if param.type is str:
        rules.setdefault("TEXT", rf'/"[^"\\\x00-\x1f\x7f]{{1,{MAX_TEXT}}}"/')
        return "TEXT"
    low, high = (param.range.low, param.range.high) if param.range else (-9999.0, 9999.0)
    name = _rule_name(f"n_{'f' if param.type is float else 'i'}_{int(low)}_{int(high)}".replace("-", "m")).upper()
    rules.setdefault(name, f"/{number_pattern(int(low), int(high), has_fraction=param.type is float)}/")
    return name


def number_pattern(low: int, high: int, *, has_fraction: bool = False) -> str:
    """A regular expression of the numbers from low to high without leading zeros; fractions have one digit."""
    parts = []
    if low < 0:
        negative = "|".join(_spans(max(1, -high), -low)) if high < 0 else "|".join(_spans(1, -low))
        parts.append(f"-({negative})")
    if high >= 0:
        parts.extend(_spans(max(low, 0), high))
    whole = "|".join(parts)
    return rf"({whole})(\.[0-9])?" if has_fraction else f"({whole})"


def _spans(low: int, high: int) -> list[str]:
    """Digit patterns that together match exactly low..high, both ≥ 0."""
    if low > high:
        return []
    length = len(str(low))
    if length < len(str(high)):
        edge = 10**length - 1
        return _spans(low, edge) + _spans(edge + 1, high)
    return _same_length(str(low), str(high))


def _same_length(low: str, high: str) -> list[str]:
    if low == high:
        return [low]
    if len(low) == 1:
        return [f"[{low}-{high}]"]
    rest = len(low) - 1
    any_digits = "[0-9]" + (f"{{{rest}}}" if rest > 1 else "")
    if low[1:] == "0" * rest and high[1:] == "9" * rest:
        return [f"{_digit(low[0], high[0])}{any_digits}"]
    if low[0] == high[0]:
        return [low[0] + tail for tail in _same_length(low[1:], high[1:])]
    first = [low[0] + tail for tail in _same_length(low[1:], "9" * rest)]
    last = [high[0] + tail for tail in _same_length("0" * rest, high[1:])]
    middle = [f"{_digit(chr(ord(low[0]) + 1), chr(ord(high[0]) - 1))}{any_digits}"]
    return first + (middle if ord(high[0]) - ord(low[0]) > 1 else []) + last


def _digit(low: str, high: str) -> str:
    return low if low == high else f"[{low}-{high}]"
