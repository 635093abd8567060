"""Reads a sentence with its misheard or misspelled words mended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.choosing import is_for_one
from agentkit.understanding.guard import guard, is_mixed
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold, normalise
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.repair import repair
from agentkit.understanding.sound import mend_sound
from agentkit.understanding.tools import Tool
from agentkit.understanding.withheld import keeps_no
from agentkit.understanding.words import Words


def heard_as(
    text: Normalised,
    view: HomeView,
    words: Words,
    phrases: PhraseTier,
    match: Callable[[Normalised, HomeView], Understanding],
    tools: Mapping[str, Tool],
) -> Understanding:
    """Read the sentence with its misheard words mended; what comes of it is asked about before it runs.

    Only what is surely meant, a usual slip or the very sound, acts on one device without a question.
    """
    folded, lexicon = fold(text.text, words), phrases.lexicon(view, words)
    mended = repair(folded, lexicon, words)
    sounds = mend_sound(folded, lexicon) if mended is None else ()
    heard = {m.text: m.is_exact for m in sounds if keeps_no(folded, m.text, words)}
    found = {m: phrases.match(replace(text, text=m, taken_back=""), view) for m in heard}
    if mended is not None:
        heard[mended.text] = mended.is_exact
        found[mended.text] = match(replace(text, text=mended.text), view)
    found = {m: f for m, f in found.items() if f.kind is Kind.CALLS and guard(m, words) is None}
    if not found or len({repr(f.intents) for f in found.values()}) > 1:
        return Understanding(Kind.NONE)
    said, first = next(iter(found.items()))
    is_query = all(tools[i.tool].is_query for i in first.intents)
    is_sure = is_query or (any(heard[m] for m in found) and all(is_for_one(i, view) for i in first.intents))
    return replace(first, needs_confirmation=not is_sure, why=f"heard as {said!r}; {first.why}")


def read_mixed(
    text: Normalised, view: HomeView, *, all_words: Mapping[str, Words], phrases: PhraseTier
) -> Understanding:
    """Read a sentence that mixes scripts by the words of the other languages, under the guards of all."""
    if not is_mixed(text.text):
        return Understanding(Kind.NONE)
    bare = text.text
    for language, words in all_words.items():
        bare = normalise(bare, language, words).text
    if any(guard(bare, words) is not None for words in all_words.values()):
        return Understanding(Kind.NONE)
    tries = (phrases.match(replace(text, text=bare, language=language), view) for language in all_words)
    return next((found for found in tries if found.kind is Kind.CALLS), Understanding(Kind.NONE))
