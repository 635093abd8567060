"""Keep a question about "here" in the speaker's room; without such a word it may be about the whole home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentkit.types import Intent, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold
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


def _placed(intent: Intent, area: str, tool: Tool | None) -> Intent:
    selector = intent.selector
    has_place = selector.areas or selector.floors or selector.names or selector.device_ids
    if tool is None or not tool.is_query or has_place:
        return intent
    return replace(intent, selector=replace(selector, areas=(area,), is_all=False))
