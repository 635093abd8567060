"""A thing that is called by one room and said to be in another: "the hall light in the bedroom" is neither's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.choosing import is_question
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.names import link_words
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.tools import Tool
from agentkit.understanding.when import find_when
from agentkit.understanding.words import Words

_KINDS = frozenset({Role.KIND, Role.CLASS})
_OF = "的"
Span = tuple[int, int]


def misplaced(
    found: Understanding, text: Normalised, view: HomeView, words: Words, tools: Mapping[str, Tool], lexicon: Lexicon
) -> Understanding:
    """Refuse a command for such a thing, unless the other room has a device of that name."""
    if found.kind is not Kind.CALLS or is_question(found, tools):
        return found
    folded = fold(text.text if found.when is None else find_when(text.text, words.time).rest, words)
    mentions = lexicon.mentions(folded)
    rooms = [m for m in mentions if m.role is Role.AREA and m.text not in words.adjectives]
    for thing, home_of in _things(mentions, folded, view, words):
        far = [r for r in rooms if _is_in(thing, r, folded, words)]
        values = {r.value for r in far}
        is_argument = any(str(v) in values for i in found.intents for v in i.args.values())
        if far and not is_argument and not home_of & (values | {None}) and not _is_inside(thing, far[0], folded):
            name = folded[thing[0] : thing[1]]
            told: dict[str, object] = {"name": name, "area": tuple(sorted(values))}
            why = f"{name!r} is in another room than {far[0].text!r}"
            return replace(found, kind=Kind.REFUSE, intents=(), reply_key="unknown_device", reply_values=told, why=why)
    name = next(_before_another(mentions, rooms, folded, view, words), "")
    why = f"{name!r} is said to be in two rooms"
    told = {"name": name}
    refused = replace(found, kind=Kind.REFUSE, intents=(), reply_key="unknown_device", reply_values=told, why=why)
    return refused if name else found


def _before_another(
    mentions: Sequence[Item], rooms: Sequence[Item], folded: str, view: HomeView, words: Words
) -> Iterator[str]:
    """Where a name that was turned around ("light in the bathroom") has another room before it."""
    links = link_words(words)
    turned = [m for m in mentions if m.role is Role.NAME and links & set(m.text.split()[1:])]
    for item in turned:
        homes = {d.area for d in view.devices if item.value in d.names}
        before = [r for r in rooms if r.end <= item.start and not folded[r.end : item.start].strip()]
        if before and homes and not homes & {r.value for r in before}:
            yield folded[before[0].start : item.end]


def _things(mentions: Sequence[Item], folded: str, view: HomeView, words: Words) -> list[tuple[Span, set[str | None]]]:
    """Where something is named or called by its room, and the rooms it may be in."""
    found: list[tuple[Span, set[str | None]]] = []
    for item in mentions:
        if item.role is Role.NAME:
            homes = {d.area for d in view.named(item.value)} if item.text == fold(item.value, words) else set()
            found += [((item.start, item.end), homes)] if homes else []
        elif item.role is Role.AREA:
            homes = {m.value for m in mentions if m.role is Role.AREA and m.start == item.start}
            kinds = [m for m in mentions if m.role in _KINDS and m.start >= item.end]
            ends = [k.end for k in kinds if not folded[item.end : k.start].strip(f" {_OF}")]
            found += [((item.start, end), homes) for end in ends]
    return found


def _is_in(thing: Span, room: Item, folded: str, words: Words) -> bool:
    """Whether a room is said right behind a thing ("… in the bedroom"), or in Chinese right before it."""
    if not folded.isascii():
        return folded[room.end : thing[0]] == _OF
    links = link_words(words)
    between = folded[thing[1] : room.start].split()
    return bool(between) and between[0] in links and all(w in words.fillers or w in links for w in between)


def _is_inside(thing: Span, room: Item, folded: str) -> bool:
    """Whether one is but a shorter way to say the other: "the bedroom light in the master bedroom"."""
    name = folded[thing[0] : thing[1]]
    called = " ".join(name.split()[:-1]) if name.isascii() else name[:-1]
    return room.text in name or f" {room.text}".endswith(f" {called}" if name.isascii() else called)
