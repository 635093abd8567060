"""A farewell beside a command: it means nothing, or the scene that is called so, which is asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.choosing import is_question
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words


def parted(
    found: Understanding,
    text: Normalised,
    view: HomeView,
    words: Words,
    tools: Mapping[str, Tool],
    read: Callable[[Normalised], Understanding],
) -> Understanding:
    """The command without the farewell at its end or beginning, where both together made no plain sense."""
    if found.kind is not Kind.REFUSE and not (found.kind is Kind.CALLS and found.needs_confirmation):
        return found
    for bare, farewell in _parts(text, words):
        command = read(replace(text, text=bare))
        if command.kind is not Kind.CALLS:
            continue
        called = _called(farewell, view, words)
        own = read(replace(text, text=called)) if called else Understanding(Kind.NONE)
        is_more = own.kind is Kind.CALLS and command.when is None and not command.then and not own.reply_key
        if not is_more or is_question(command, tools) or command.reply_key:
            return replace(command, why=f"{command.why}; beside a farewell")
        intents = (*command.intents, *(i for i in own.intents if i not in command.intents))
        why = f"{command.why}; {called} may be meant too"
        return replace(command, intents=intents, needs_confirmation=True, why=why)
    return found


def _parts(text: Normalised, words: Words) -> Iterator[tuple[str, str]]:
    for pattern in words.partings:
        if hit := pattern.search(text.text):
            bare = f"{text.text[: hit.start()]} {text.text[hit.end() :]}".strip(" ,.;!")
            if bare:
                yield bare, hit["bye"]


def _called(farewell: str, view: HomeView, words: Words) -> str:
    """The name of a device that is said like the farewell, whatever its spaces: "goodnight"."""
    said = fold(farewell, words).replace(" ", "")
    names = (n for d in view.devices for n in d.names)
    return next((n for n in names if fold(n, words).replace(" ", "") == said), "")
