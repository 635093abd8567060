"""Questions about "here", which is the speaker's room, and questions in the words of a command, which must not run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from agentkit.types import Intent, Kind, Understanding
from agentkit.understanding.groups import GUARDS
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold, spell
from agentkit.understanding.selecting import select
from agentkit.understanding.templates import TemplateTier
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words


def placed_here(
    found: Understanding, text: Normalised, view: HomeView, words: Words, tools: Mapping[str, Tool]
) -> Understanding:
    """The understanding with the speaker's room in its questions, if the sentence says "here"."""
    folded = f" {fold(text.text, words)} "
    is_here = any((f" {w} " if w.isascii() else w) in folded for w in words.here)
    if view.speaker_area is None or not is_here:
        return found
    return replace(found, intents=tuple(_placed(i, view.speaker_area, tools.get(i.tool)) for i in found.intents))


def asked(found: Understanding, text: Normalised, words: Words, tools: Mapping[str, Tool]) -> Understanding:
    """The question that stands behind commands, if the sentence ends like one; kind NONE if it cannot be told."""
    is_asking = text.is_question and not text.is_request
    is_asking = is_asking and any(p.search(spell(text.original).strip(" .?!")) for p in words.talk.questions)
    if not is_asking or all(tools[i.tool].is_query for i in found.intents if i.tool in tools):
        return found
    reader = next(
        (t for t in tools.values() if t.is_query and {"state", "question"} <= {p.name for p in t.params}), None
    )
    states = [words.talk.asked.get(i.tool) for i in found.intents]
    if reader is None or None in states:
        return replace(found, kind=Kind.NONE, intents=(), reply_key="")
    intents = (
        Intent(reader.name, {"question": "all", "state": state}, intent.selector)
        for intent, state in zip(found.intents, states, strict=True)
    )
    return replace(found, intents=tuple(intents), why=f"asked, not told: {found.why}")


def wished(
    found: Understanding, text: Normalised, view: HomeView, words: Words, tools: Mapping[str, Tool]
) -> Understanding:
    """The command, to be confirmed, where a template read "all lights off" as a question that nothing asks."""
    query = found.intents[0] if len(found.intents) == 1 and not text.is_question else Intent("")
    if query.args.get("question") != "all" or query.tool not in tools or not tools[query.tool].is_query:
        return found
    reached = select(query.selector, view)
    folded, types = f" {fold(text.text, words)} ", {d.type for d in reached}
    asking = (*words.copulas, *words.questions.get("yes_no", ()))
    if all(d.state == query.args.get("state") for d in reached):
        return found  # there is nothing to wish for: it is so
    if types & GUARDS or any((f" {w} " if w.isascii() else w) in folded for w in asking):
        return found
    able = (t for t, state in words.talk.asked.items() if state == query.args.get("state") and t in tools)
    name = next((t for t in able if types and types <= set(tools[t].types)), None)
    if name is None:
        return found
    intent = Intent(name, {}, query.selector)
    return replace(found, intents=(intent,), needs_confirmation=True, why=f"wished, not asked: {found.why}")


def without_here(text: Normalised, words: Words) -> Normalised | None:
    """The text without its words for "here", which few templates know. None if there are none."""
    folded = fold(text.text, words)
    for word in sorted((w for w in words.here if w and w in folded), key=len, reverse=True):
        pattern = rf"(?<![a-z]){re.escape(word)}(?![a-z])" if word.isascii() else re.escape(word) + "的?"
        shorter = " ".join(re.sub(pattern, " ", folded).split())
        if shorter != folded and shorter:
            return replace(text, text=shorter)
    return None


def asked_here(
    text: Normalised,
    view: HomeView,
    *,
    words: Mapping[str, Words],
    templates: TemplateTier,
    tools: Mapping[str, Tool],
) -> Understanding:
    """A question with "here" in it, read without that word; the room is put in afterwards."""
    shorter = without_here(text, words[text.language])
    found = Understanding(Kind.NONE) if shorter is None else templates.match(shorter, view)
    is_query = bool(found.intents) and all(tools[i.tool].is_query for i in found.intents)
    return found if found.kind is Kind.CALLS and is_query else Understanding(Kind.NONE)


def _placed(intent: Intent, area: str, tool: Tool | None) -> Intent:
    selector = intent.selector
    has_place = selector.areas or selector.floors or selector.names or selector.device_ids
    if tool is None or not tool.is_query or has_place:
        return intent
    return replace(intent, selector=replace(selector, areas=(area,), is_all=False))
