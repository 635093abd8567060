"""The app's words of one language, as data: what things are called, what verbs mean, what must not be overheard."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from agentkit.errors import ConfigError

Table = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Words:
    """One language's words. Every list may be empty: an app that says nothing about a thing does not get it."""

    language: str
    kinds: Table = field(default_factory=dict)
    """Device type → words for it."""
    device_classes: Table = field(default_factory=dict)
    """Device class → words for it."""
    verbs: Table = field(default_factory=dict)
    """Tool → phrases that ask for it; "…" in a phrase stands for anything between its halves."""
    opposites: Table = field(default_factory=dict)
    """Tool → tools that do the contrary."""
    guards: Mapping[str, tuple[re.Pattern[str], ...]] = field(default_factory=dict)
    """What must not stand in a sentence that runs at once: time, duration, condition, negation, exception, report …"""
    polite: tuple[re.Pattern[str], ...] = ()
    """Frames around a command that mean nothing ("could you please")."""
    corrections: tuple[re.Pattern[str], ...] = ()
    """Words after which the speaker starts over ("no, I mean"); what stood before them does not count."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Spelling → the spelling that templates know."""
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    cancel: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    """Words for the speaker's room."""
    everything: tuple[str, ...] = ()
    """Words that mean all of a kind."""
    whole_home: tuple[str, ...] = ()
    """Words that mean the whole home, so the speaker's room is no default."""
    conjunctions: tuple[re.Pattern[str], ...] = ()
    """Where a sentence may hold a second command."""
    fillers: tuple[str, ...] = ()
    """Words that need no evidence in a model's answer: articles, particles, prepositions."""
    colors: Table = field(default_factory=dict)
    """Canonical colour → words."""
    modes: Table = field(default_factory=dict)
    """Canonical climate mode → words."""
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Percentage, as text → words for it ("half", 一半)."""
    numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Number, as text → number words that cannot be composed by rule."""


_PATTERNS = ("polite", "conjunctions", "corrections")
_TABLES = ("kinds", "device_classes", "verbs", "opposites", "colors", "modes", "levels", "numbers")


def read_words(raw: Mapping[str, Any], *, language: str, path: Path | str = "words") -> Words:
    """Turn the mapping of a words file into Words. Raises ConfigError naming the key."""
    known = {f.name for f in fields(Words)} - {"language"}
    values: dict[str, Any] = {"language": language}
    for key, value in raw.items():
        if key not in known:
            raise ConfigError(f"unknown key {key!r}; known are {', '.join(sorted(known))}", path=path, key=key)
        values[key] = _read(key, value, path)
    return Words(**values)


def _read(key: str, value: Any, path: Path | str) -> Any:
    if key == "guards":
        return {str(k): _patterns(f"{key}.{k}", v, path) for k, v in _mapping(key, value, path).items()}
    if key in _PATTERNS:
        return _patterns(key, value, path)
    if key in _TABLES:
        return {_text(k): _list(f"{key}.{k}", v, path) for k, v in _mapping(key, value, path).items()}
    if key == "synonyms":
        return {_text(k): _text(v) for k, v in _mapping(key, value, path).items()}
    return _list(key, value, path)


def _text(value: Any) -> str:
    """Text as written: YAML reads on, off, yes and no as booleans."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _mapping(key: str, value: Any, path: Path | str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key} is {type(value).__name__}, wanted a mapping of words", path=path, key=key)
    return value


def _list(key: str, value: Any, path: Path | str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ConfigError(f"{key} is {type(value).__name__}, wanted a list of words", path=path, key=key)
    return tuple(_text(x) for x in value)


def _patterns(key: str, value: Any, path: Path | str) -> tuple[re.Pattern[str], ...]:
    found = []
    for text in _list(key, value, path):
        try:
            found.append(re.compile(text, re.IGNORECASE))
        except re.error as err:
            raise ConfigError(f"{key}: {text!r} is no regular expression: {err}", path=path, key=key) from err
    return tuple(found)
