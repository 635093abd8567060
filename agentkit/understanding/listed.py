"""Free text that lists several things: one call for each of them, on the list that keeps such things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold, spell
from agentkit.understanding.selecting import has_word, select
from agentkit.understanding.words import Words

ITEM = "item"
"""Argument that holds what is put on a list."""
_BREAK = re.compile(r"\s*[,;，、；]\s*")


def listed(found: Understanding, text: Normalised, view: HomeView, words: Words) -> Understanding:
    """The reading with an intent for every item that a sentence lists."""
    if found.kind is not Kind.CALLS or not words.items or not any(ITEM in i.args for i in found.intents):
        return found
    return replace(found, intents=tuple(one for i in found.intents for one in _split(i, text, view, words)))


def _split(intent: Intent, text: Normalised, view: HomeView, words: Words) -> Iterator[Intent]:
    item = intent.args.get(ITEM)
    if not isinstance(item, str):
        yield intent
        return
    devices = select(intent.selector, view)
    is_task = _is_task(item, words)
    if is_task:
        intent = replace(intent, selector=_kept_apart(intent.selector, devices, text, view, words))
    if item.casefold() in {str(x).casefold() for d in devices for x in d.attributes.get("items") or ()}:
        yield intent
        return
    is_for_goods = not is_task and all(_is_called(d, words.items.get("goods", ())) for d in devices)
    said = _as_said(item, text)
    for part in _parts(said, words.items.get("joins", ()) if is_for_goods else (), words.items.get("hesitations", ())):
        yield replace(intent, args={**intent.args, ITEM: _bare(part, words)})


def _as_said(item: str, text: Normalised) -> str:
    """The item with the commas that were said, which templates drop."""
    pieces = item.split() if item.isascii() else [c for c in item if not c.isspace()]
    pattern = re.compile(r"[\s,;，、；]*".join(map(re.escape, pieces)), re.IGNORECASE)
    found = next((m for t in (spell(text.original), text.text) if (m := pattern.search(t))), None)
    return found[0] if found and _BREAK.search(found[0]) else item


def _parts(item: str, joins: tuple[str, ...], hesitations: tuple[str, ...]) -> list[str]:
    """The items between commas and joining words, which may also stand beside a comma; hesitations are none."""
    words = [rf"\s+{re.escape(j)}\s+" if j.isascii() else re.escape(j) for j in joins]
    heads = "|".join(rf"^{re.escape(j)}\s+" if j.isascii() else f"^{re.escape(j)}" for j in joins)
    tails = "|".join(rf"\s+{re.escape(j)}$" if j.isascii() else rf"(?<=.){re.escape(j)}$" for j in joins)
    ums = "|".join(re.escape(h) for h in hesitations if h.isascii())
    parts: list[str] = []
    for piece in _BREAK.split(item):
        bare = re.sub(rf"^(?:{ums})\s+|\s+(?:{ums})$", "", piece.strip(), flags=re.IGNORECASE) if ums else piece.strip()
        bare = re.sub(f"{heads}|{tails}", "", bare, flags=re.IGNORECASE) if heads else bare
        parts += re.split("|".join(words), bare, flags=re.IGNORECASE) if words else [bare]
    nothing = {"", *joins, *hesitations}
    found = [p.strip() for p in parts if p.strip().casefold() not in nothing]
    return found or [item]


def _bare(item: str, words: Words) -> str:
    """The item without a particle of the verb ("加点鸡蛋"), unless both are one word."""
    if any(item.startswith(kept) for kept in words.items.get("kept", ())):
        return item
    for lead in sorted(words.items.get("leads", ()), key=len, reverse=True):
        start = f"{lead} " if lead.isascii() else lead
        if item.casefold().startswith(start) and len(item) > len(start):
            return item[len(start) :].strip()
    return item


def _is_task(item: str, words: Words) -> bool:
    """Whether an item is something to do, not something to buy."""
    return any(
        item.casefold().startswith(f"{verb} " if verb.isascii() else verb) for verb in words.items.get("tasks", ())
    )


def _kept_apart(
    selector: Selector, devices: tuple[Device, ...], text: Normalised, view: HomeView, words: Words
) -> Selector:
    """The list for what is to be done, if a mere "my list" was taken for the one for goods."""
    goods = words.items.get("goods", ())
    said = fold(text.text, words)
    is_for_goods = bool(devices) and all(_is_called(d, goods) for d in devices)
    others = tuple(d for d in view.devices if devices and d.type == devices[0].type and not _is_called(d, goods))
    if not is_for_goods or not others or any(has_word(said, w) for w in goods):
        return selector
    return Selector(device_ids=tuple(d.id for d in others), types=(others[0].type,), is_one=True)


def _is_called(device: Device, listed_words: tuple[str, ...]) -> bool:
    return any(has_word(n, w) for n in device.names for w in listed_words)
