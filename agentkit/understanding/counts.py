"""A number before a kind of device tells how many: it is no value, and no more devices than that are meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.types import Intent, Kind, Understanding
from agentkit.understanding.choosing import reached_by
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.selecting import select
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_KINDS = (Role.KIND, Role.CLASS, Role.NAME)
_HIDING = frozenset({Role.NAME, Role.AREA, Role.FLOOR, Role.ALL, Role.PART})
_MAX_COUNT = 100


@dataclass(frozen=True)
class Count:
    """How many devices of some types a sentence speaks of."""

    n: int
    types: frozenset[str]
    rest: str
    """The sentence without the number."""


def counted(text: Normalised, words: Words) -> Normalised:
    """The text with "one" for words that leave open which device of a kind is meant ("another light")."""
    said = text.text
    for pattern, count in words.indefinites.items():
        said = re.sub(pattern, count, said, flags=re.IGNORECASE)
    return text if said == text.text else replace(text, text=said)


def find_count(text: Normalised, lexicon: Lexicon, words: Words, view: HomeView) -> Count | None:
    """Find the first number that counts devices: "two lights", "one of the lamps", 两盏灯."""
    lower = text.text.lower()
    if len(lower) != len(text.text) or not (numbers := find_numbers(lower)):
        return None
    hidden = [m for m in lexicon.mentions(lower) if m.role in _HIDING]
    for number in numbers:
        is_hidden = any(m.start <= number.start and number.end <= m.end for m in hidden)
        is_value = any(_ends_with(lower[: number.start], w) for w in (*words.to, *words.by, *words.ordinals))
        if is_hidden or is_value or not 0 < number.value <= _MAX_COUNT or not float(number.value).is_integer():
            continue
        counted, end = _counted(lower, number.end, lexicon, words)
        fitting = [i for i in counted if not lower.isascii() or i.is_plural or number.value == 1 or i.role is Role.NAME]
        if types := frozenset(t for i in fitting for t in _types(i, view)):
            rest = f"{text.text[: number.start]} {text.text[end:]}" if lower.isascii() else ""
            rest = rest or text.text[: number.start] + text.text[end:]
            return Count(int(number.value), types, " ".join(rest.split()))
    return None


def held_to(
    count: Count, whole: Understanding, rest: Understanding, view: HomeView, tools: Mapping[str, Tool]
) -> Understanding:
    """What the sentence without its number means, if it reaches so many devices; else a refusal that says how many."""
    moved, near, everywhere = _reach(rest, count, view, tools)
    if rest.kind is not Kind.CALLS or not everywhere:
        used, reached, _ = _reach(whole, count, view, tools)
        is_idle = len(reached) == count.n and not any(count.n in i.args.values() for i in used)
        refusal = Understanding(Kind.REFUSE, (), "not_understood", {}, "none", "a number of devices")
        return whole if is_idle or not reached else refusal
    if len(near) == count.n:
        return rest
    if count.n == 1:
        one = (
            replace(i, selector=replace(i.selector, is_one=True, is_all=False)) if i in moved else i
            for i in rest.intents
        )
        return replace(rest, intents=tuple(one))
    if len(everywhere) == count.n:
        wide = (replace(i, selector=replace(i.selector, is_all=True)) if i in moved else i for i in rest.intents)
        return replace(rest, intents=tuple(wide))
    total = len(near) if count.n < len(near) else len(everywhere)
    values = {"n": total, "said": count.n}
    return Understanding(Kind.REFUSE, (), "count", values, "none", f"{count.n} of {total} devices")


def _reach(
    found: Understanding, count: Count, view: HomeView, tools: Mapping[str, Tool]
) -> tuple[list[Intent], set[str], set[str]]:
    """The calls that move devices, and what they reach of the counted types: near the speaker, and in all."""
    moved = [i for i in found.intents if i.tool in tools and _is_moving(tools[i.tool])]
    near = {d.id for i in moved for d in reached_by(i.selector, view) if d.type in count.types}
    everywhere = {d.id for i in moved for d in select(i.selector, view) if d.type in count.types}
    return moved, near, everywhere


def _is_moving(tool: Tool) -> bool:
    return tool.scope != "home" and not tool.is_query


def _counted(text: str, start: int, lexicon: Lexicon, words: Words) -> tuple[Sequence[Item], int]:
    """The kind or name behind a number with its counter and room, and where the counter ends."""
    glue = " " if text.isascii() else ""
    said = [c for c in words.counters if text.startswith(f"{glue}{c}{glue}", start)]
    if not said and not glue:
        return (), start
    end = at = start + max((len(glue + c) for c in said), default=0)
    while at < len(text):
        at += text[at] == " "
        pieces = lexicon.at(text, at) if at < len(text) else []
        found = [i for i in pieces if i.role in _KINDS and i.end == pieces[0].end]
        if found or not pieces or pieces[0].role is not Role.AREA:
            return found, end
        at = pieces[0].end + text.startswith("的", pieces[0].end)
    return (), end


def _types(item: Item, view: HomeView) -> Collection[str]:
    if item.role is Role.NAME:
        return {d.type for d in view.named(item.value)}
    return {item.value.partition(".")[0]}


def _ends_with(text: str, word: str) -> bool:
    return f" {text}".endswith(f" {word} ") if word.isascii() else text.endswith(word)


def without_count(text: Normalised, count: Count) -> Normalised:
    """The sentence without the number."""
    return replace(text, text=count.rest)
