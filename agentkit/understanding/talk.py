"""The app's words about the conversation itself, as data: what takes back, repeats, corrects or points at something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from agentkit.errors import ConfigError

Patterns = tuple[re.Pattern[str], ...]


@dataclass(frozen=True)
class Talk:
    """One language's file dialogue/LANGUAGE.yaml. Every list may be empty: the app then does without."""

    undo: tuple[str, ...] = ()
    """Whole utterances that put back what was done last."""
    again: tuple[str, ...] = ()
    """Whole utterances that do the last thing once more."""
    more: tuple[str, ...] = ()
    """Whole utterances that want more of the last relative change."""
    also: Patterns = ()
    """Frames around a place or device for which the last thing holds too; group "rest" is what they stand around."""
    corrections: Patterns = ()
    """Frames around what was meant instead of what was just done; group "rest"."""
    asides: Patterns = ()
    """Words at the edge of a follow-up that mean nothing ("again" in "turn it off again")."""
    pronouns: Patterns = ()
    """Words that mean what was just spoken of; they become the first word of `it`."""
    it: str = ""
    """The pronoun that the words file knows."""
    many: Patterns = ()
    """Pronouns that mean several things."""
    frames: tuple[str, ...] = ()
    """Commands about "it" made of what a follow-up leaves of them: "set it to {rest}", "{rest} it"."""
    ordinals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Place in a list of options (from 1; -1 = the last) → words for it."""
    everything: tuple[str, ...] = ()
    """Answers that take all options."""
    something: tuple[str, ...] = ()
    """Words that leave open what a free text is ("something")."""
    sets: tuple[str, ...] = ()
    """Verbs that want a value even if the sentence does not say which ("set the thermostat")."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """Pattern of an indirect wish → the command it may stand for; never done without a yes."""
    starts: Patterns = ()
    """How a command begins whose known pieces may be proposed although the rest is not understood."""
    questions: Patterns = ()
    """Ends of a sentence that ask how things are, also without a question mark, so nothing may be done for it."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Tool → the state that a question in the words of its command asks for ("关了吗")."""
    vague: Patterns = ()
    """Wishes about this home that leave open what to do; they are asked back."""
    digits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Digit → its words, for a code that is spoken."""


_PATTERNS = ("also", "corrections", "asides", "pronouns", "many", "starts", "questions", "vague")
_TABLES = ("ordinals", "digits")


def read_talk(raw: Mapping[str, Any], *, path: Path | str = "dialogue") -> Talk:
    """Turn the mapping of a dialogue file into Talk. Raises ConfigError naming the key."""
    known = {f.name for f in fields(Talk)}
    values: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in known:
            raise ConfigError(f"unknown key {key!r}; known are {', '.join(sorted(known))}", path=path, key=key)
        values[key] = _read(key, value, path)
    return Talk(**values)


def _read(key: str, value: Any, path: Path | str) -> Any:
    if key == "it":
        return _of(str, "text", key, value, path)
    if key in _TABLES:
        table = _of(Mapping, "a mapping", key, value, path)
        return {str(k): _texts(f"{key}.{k}", v, path) for k, v in table.items()}
    if key == "asked":
        return {str(k): _word(v) for k, v in _of(Mapping, "a mapping", key, value, path).items()}
    if key == "hints":
        table = _of(Mapping, "a mapping", key, value, path)
        return {_pattern(key, str(k), path).pattern: str(v) for k, v in table.items()}
    texts = _texts(key, value, path)
    return tuple(_pattern(key, text, path) for text in texts) if key in _PATTERNS else texts


def _word(value: Any) -> str:
    """Text as written: YAML reads on and off as booleans."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _texts(key: str, value: Any, path: Path | str) -> tuple[str, ...]:
    return tuple(str(x) for x in _of(list, "a list", key, value, path))


def _of(kind: Any, name: str, key: str, value: Any, path: Path | str) -> Any:
    if not isinstance(value, kind):
        raise ConfigError(f"{key} is {type(value).__name__}, wanted {name}", path=path, key=key)
    return value


def _pattern(key: str, text: str, path: Path | str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as err:
        raise ConfigError(f"{key}: {text!r} is no regular expression: {err}", path=path, key=key) from err
