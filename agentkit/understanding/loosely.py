"""Reads a sentence without the adjectives that tell nothing in this home: "the new fan" where no name says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.choosing import is_for_one, reached_by
from agentkit.understanding.entries import THINGS
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.names import kind_words
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.selecting import has_word
from agentkit.understanding.words import Words


def _nothing(_text: Normalised, _view: HomeView) -> Understanding:
    return Understanding(Kind.NONE)


def loosely(
    text: Normalised,
    view: HomeView,
    words: Words,
    phrases: PhraseTier,
    ask: Callable[[Normalised, HomeView], Understanding] = _nothing,
) -> Understanding:
    """Read "the new lamp" as the lamp and "ceiling light" as the light; kind NONE if that makes no command.

    What is read so acts on one device without a question; a kind only on the one that is called by nothing else.
    `ask` reads what only asks.
    """
    folded, lexicon = fold(text.text, words), phrases.lexicon(view, words)
    said, kinds = folded, list[str]()
    for meant, listed in words.loosely.items():
        for phrase in listed:
            if has_word(said, phrase) and (meant or _is_idle(said, phrase, view, lexicon)):
                said, kinds = _replaced(said, phrase, meant), [*kinds, *(listed if meant else ())]
    if said == folded:
        return Understanding(Kind.NONE)
    bare = replace(text, text=said, taken_back="")
    found = phrases.match(bare, view)
    is_asked = found.kind is Kind.NONE
    found = ask(bare, view) if is_asked else found
    if found.kind is not Kind.CALLS:
        return Understanding(Kind.NONE)
    found = replace(found, intents=tuple(_called(i, kinds, view) for i in found.intents))
    reached = [d for i in found.intents for d in reached_by(i.selector, view)]
    is_sure = all(is_for_one(i, view) for i in found.intents)
    is_sure = is_sure and all(_is_plain(d, view, words, lexicon) or _is_called(d, kinds) for d in reached if kinds)
    return replace(found, needs_confirmation=not (is_sure or is_asked), why=f"taken as {said!r}; {found.why}")


def _called(intent: Intent, kinds: Sequence[str], view: HomeView) -> Intent:
    """The call on the one device it reaches whose name holds such a word: "the ceiling light" beside a floor lamp."""
    called = [d for d in reached_by(intent.selector, view) if _is_called(d, kinds)]
    if len(called) != 1 or intent.selector.is_all:
        return intent
    return replace(intent, selector=Selector(device_ids=(called[0].id,), types=(called[0].type,)))


def _is_called(device: Device, kinds: Sequence[str]) -> bool:
    return any(has_word(n, kind) for n in device.names for kind in kinds)


def _is_idle(text: str, adjective: str, view: HomeView, lexicon: Lexicon) -> bool:
    """Whether an adjective is in no name of the home and a thing follows it; elsewhere it may be part of a name."""
    at = f" {text} ".find(f" {adjective} ") + len(adjective) + 1
    if at >= len(text) or not any(i.role in THINGS for i in lexicon.at(text, at)):
        return False
    return not any(has_word(n, adjective) for d in view.devices for n in d.names)


def _replaced(text: str, phrase: str, meant: str) -> str:
    if phrase.isascii():
        return " ".join(f" {text} ".replace(f" {phrase} ", f" {meant} ").split())
    return text.replace(phrase, meant)


def _is_plain(device: Device, view: HomeView, words: Words, lexicon: Lexicon) -> bool:
    """Whether one of a device's names holds nothing but its room and its kind."""
    area = view.area(device.area)
    idle = kind_words(words) | {fold(n, words) for n in (area.names if area else ())}
    for name in lexicon.names.folded[device.id]:
        for word in sorted(idle, key=len, reverse=True):
            name = _replaced(name, word, "")
        if not name.strip():
            return True
    return False
