"""Numbers below zero: read without their sign, which is put back, so that the tool can tell its range."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from agentkit.types import Intent, Kind, Understanding
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words


def unsigned(text: Normalised, words: Words) -> tuple[Normalised, float] | None:
    """The sentence without the sign of its first number below zero, and that number's size; None if there is none."""
    lower = text.text.lower()
    for number in find_numbers(lower) if len(lower) == len(text.text) else ():
        start, end = number.start, number.end
        sign = next((w for w in (*words.minus, "-") if _is_before(lower, start, w)), None)
        behind = next((w for w in words.below if re.match(rf"\W*(?:\w+\s+)?{re.escape(w)}\b", lower[end:])), None)
        if number.value < 0:
            size = re.sub(rf"^(?:{'|'.join(map(re.escape, ('-', *words.minus)))})", "", text.text[start:end])
            return replace(text, text=text.text[:start] + size + text.text[end:]), -number.value
        if sign is not None:
            kept = lower[:start].rstrip()[: -len(sign)]
            return replace(text, text=f"{text.text[: len(kept)]}{text.text[start:]}"), number.value
        if behind is not None:
            cut = lower.index(behind, end)
            return replace(text, text=f"{text.text[:cut]}{text.text[cut + len(behind) :]}".strip()), number.value
    return None


def signed(found: Understanding, size: float, tools: Mapping[str, Tool]) -> Understanding | None:
    """What a sentence without the sign means, with the sign; a command that has no place for it is refused.

    None if it is a question or free text, to which the sign belongs as it stands.
    """
    intents = tuple(_negated(i, size) for i in found.intents)
    is_free = all(i.tool in tools and (tools[i.tool].is_query or _is_text(i)) for i in found.intents)
    if is_free:
        return None
    if intents != found.intents:
        return replace(found, intents=intents)
    return Understanding(Kind.REFUSE, (), "not_understood", {}, "none", f"nothing can be {-size:g}")


def _negated(intent: Intent, size: float) -> Intent:
    args = {k: -v if isinstance(v, (int, float)) and v == size else v for k, v in intent.args.items()}
    return replace(intent, args=args)


def _is_text(intent: Intent) -> bool:
    return any(isinstance(v, str) for v in intent.args.values())


def _is_before(text: str, start: int, sign: str) -> bool:
    before = text[:start].rstrip()
    if sign == "-":
        return text[:start].endswith("-") and not re.search(r"[a-z0-9]\W*-$", before)
    return before.endswith(sign) and (not sign.isalpha() or not sign.isascii() or f" {before}".endswith(f" {sign}"))
