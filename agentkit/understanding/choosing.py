"""Weigh two readings of one sentence, and give the chosen one its finish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding, Value
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.reading import NO_DEVICE
from agentkit.understanding.selecting import has_word, select
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words


def is_weak(found: Understanding, tools: Mapping[str, Tool]) -> bool:
    """Whether a template met no device, took free text or reads a question, so that the pieces may know better."""
    called = [tools[i.tool] for i in found.intents if i.tool in tools]
    has_free_text = any(p.type is str and not p.choices for t in called for p in t.params if not t.is_query)
    return found.reply_key == NO_DEVICE or has_free_text or any(t.is_query for t in called)


def is_as_good(first: Understanding, second: Understanding, view: HomeView, tools: Mapping[str, Tool]) -> bool:
    """Whether a template's reading of a question is no wider than that of the pieces."""
    both = (*first.intents, *second.intents)
    if first.kind is not Kind.CALLS or first.reply_key or not all(tools[i.tool].is_query for i in both):
        return False
    reached = [{d.id for i in found.intents for d in select(i.selector, view)} for found in (first, second)]
    return bool(reached[0]) and not reached[1] < reached[0]


def is_question(found: Understanding, tools: Mapping[str, Tool]) -> bool:
    """Whether a reading only asks."""
    called = [tools[i.tool] for i in found.intents if i.tool in tools]
    return bool(called) and all(t.is_query for t in called)


def is_plain_query(intent: Intent, tools: Mapping[str, Tool]) -> bool:
    """Whether a template reads a state; a value may belong to another device than the one that was named."""
    tool = tools.get(intent.tool)
    return tool is not None and tool.is_query and "attribute" not in intent.args


def is_complete(found: Understanding, tools: Mapping[str, Tool]) -> bool:
    """Whether a reading calls tools and leaves out none of their arguments."""
    called = [(tools[i.tool], i) for i in found.intents if i.tool in tools]
    lacks = any(p.is_required and p.name not in i.args for t, i in called for p in t.params)
    return found.kind is Kind.CALLS and bool(called) and not lacks


def takes_number(found: Understanding, tools: Mapping[str, Tool]) -> bool:
    """Whether "at nine" might as well be a value of what is called."""
    called = [tools[i.tool] for i in found.intents if i.tool in tools]
    return any(p.type in (int, float) for t in called for p in t.params)


def singled(found: Understanding, text: Normalised, view: HomeView, words: Words) -> Understanding:
    """The reading with "the lamp" as what is called a lamp; where more than one is left, it is asked which."""
    said = f" {fold(text.text, words)} "
    word = next((w for w in words.singles if f" {w} " in said), "")
    if found.kind is not Kind.CALLS:
        return found
    if not word:
        return replace(found, intents=tuple(_as_called(i, said, view, words) for i in found.intents))
    intents = []
    for intent in found.intents:
        selector = intent.selector
        is_kind = any(word in words.kinds.get(t, ()) for t in selector.types)
        if not is_kind or selector.names or selector.device_ids or selector.device_class or selector.is_all:
            intents.append(intent)
            continue
        reached = reached_by(selector, view)
        called = tuple(d for d in reached if any(has_word(n, word) for n in d.names)) or reached
        one = Selector(device_ids=tuple(d.id for d in called), types=selector.types, is_one=True)
        intents.append(replace(intent, selector=one))
    return replace(found, intents=tuple(intents))


def _as_called(intent: Intent, said: str, view: HomeView, words: Words) -> Intent:
    """The call on the one device of a room that is called by its kind: "the hall light" is no lamp beside it."""
    selector = intent.selector
    word = next((w for w in words.definites if f" {w} " in said), "")
    if not word or not selector.areas or selector.names or selector.device_ids:
        return intent
    if not any(word in words.kinds.get(t, ()) for t in selector.types):
        return intent
    reached = reached_by(selector, view)
    called = [d for d in reached if any(has_word(n, word) for n in d.names)]
    others = {w for t in selector.types for w in words.kinds.get(t, ()) if w not in (word, f"{word}s")}
    is_clear = all(d in called or any(n.lower().split()[-1] in others for n in d.names) for d in reached)
    if len(called) != 1 or not is_clear:
        return intent
    return replace(intent, selector=Selector(device_ids=(called[0].id,), types=selector.types))


def is_for_one(intent: Intent, view: HomeView) -> bool:
    """Whether a call reaches at most one device, in the speaker's room if it names no place."""
    return len(reached_by(intent.selector, view)) < 2


def reached_by(selector: Selector, view: HomeView) -> tuple[Device, ...]:
    """The devices that words mean: those of the speaker's room if they name no place and any is there."""
    is_open = not (selector.areas or selector.floors or selector.is_all)
    near = select(replace(selector, areas=(view.speaker_area or "",)), view) if is_open else ()
    return near or select(selector, view)


def as_spoken(found: Understanding, text: Normalised, view: HomeView) -> Understanding:
    """Free text in the characters that were said, not in those that were matched; names stay the home's own."""
    if not any(isinstance(v, str) and not v.isascii() for i in found.intents for v in i.args.values()):
        return found
    own = {n for d in view.devices for n in d.names} | {n for a in view.areas for n in a.names}
    own |= {n for f in view.floors for n in f.names}

    def respelled(value: Value) -> Value:
        is_text = isinstance(value, str) and not value.isascii() and value not in own
        return text.as_spoken(str(value)) if is_text else value

    intents = (replace(i, args={k: respelled(v) for k, v in i.args.items()}) for i in found.intents)
    return replace(found, intents=tuple(intents))
