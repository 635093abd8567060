"""The app's sentences as data: reads one language's file and checks that nothing is missing or misspelt."""

from __future__ import annotations

import difflib
import string
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentkit.errors import ConfigError
from agentkit.understanding.tools import Tool

Entry = Mapping[str, tuple[str, ...]]
"""Device class, type, slot or "default" → sentences, the most telling first."""

GROUPS = frozenset(
    {"done", "already", "do", "failed", "unknown", "skipped", "ask", "refused", "say", "answers", "planned"}
)
TABLES = frozenset({"grammar", "kinds", "states", "words", "plain", "facts"})

_ABOUT = frozenset({"devices", "n", "kind", "area", "room", "state", "name"})
_LIMITS = frozenset({"low", "high", "unit", "color", "mode", "item"})
_ALLOWED: Mapping[str, frozenset[str]] = {
    "failed": _ABOUT | _LIMITS,
    "unknown": _ABOUT,
    "skipped": _ABOUT | {"action"},
    "ask": _ABOUT | {"action", "options"},
    "refused": _ABOUT | _LIMITS,
    "say": frozenset({"type", "said"}),
    "planned": _ABOUT
    | {"action", "duration", "time", "on_day", "weekdays", "period", "left", "start", "back", "end_day"},
}
PLANNED = ("confirm", "delay", "today", "at", "every", "period", "timer_over", "alarm_over", "missed")
"""Sentences of an app that can do things later."""
HOLDING = ("planned.back_at", "planned.nothing_back", "planned.confirm_back", "planned.pin_back", "refused.unread")
"""Sentences of an app that can do things for a while."""
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "done": ("other",),
    "do": ("other",),
    "failed": (
        *("unavailable", "ignored", "timeout", "hung", "error", "bad_result", "rejected"),
        *("unsupported", "out_of_range", "denied", "other"),
    ),
    "unknown": ("other",),
    "skipped": ("other",),
    "ask": ("confirm", "which", "missing", "pin", "pin_again", "referent"),
    "refused": (
        *("unknown_device", "unknown_area", "unsupported", "not_yet"),
        *("not_understood", "not_home", "denied", "nothing", "cannot_know", "only_seen"),
        *("nothing_to_undo", "nothing_to_repeat", "cannot_undo", "left", "pin_locked"),
    ),
    "say": (
        *("nevermind", "chitchat", "greeting", "thanks", "empty", "cancelled"),
        *("did", "did_nothing", "said", "said_nothing"),
    ),
}


def placeholders(text: str) -> frozenset[str]:
    """Names in braces. Raises ValueError for braces that do not match, and for more than a name in them."""
    fields = [field[1:] for field in string.Formatter().parse(text) if field[1] is not None]
    for name, spec, conversion in fields:
        if spec or conversion:
            raise ValueError(f"only a name may stand in braces, for example {{{name}}}")
    return frozenset(str(name) for name, _, _ in fields)


def read_sentences(data: Mapping[str, Any], path: str) -> dict[str, Entry]:
    """Flatten one language's file to key → entry; answers lose their group's name. Raises ConfigError."""
    for key in data:
        if key not in GROUPS | TABLES:
            raise ConfigError(f"unknown key {key!r}{_nearest(key, GROUPS | TABLES)}", path=path, key=key)
    return dict(pair for group in sorted(GROUPS & set(data)) for pair in _flatten(group, data[group], path))


def check_sentences(
    sentences: Mapping[str, Entry],
    *,
    tools: Mapping[str, Tool],
    verbs: frozenset[str],
    facts: frozenset[str],
    path: str,
) -> None:
    """Raise ConfigError for a sentence that is missing and for a placeholder that nothing fills."""
    wanted = {f"{group}.{name}" for group, names in _REQUIRED.items() for name in names}
    if any(key.startswith("planned.") for key in sentences):
        wanted |= {f"planned.{name}" for name in PLANNED}
    wanted |= set(HOLDING) if "planned.back" in sentences else set()
    wanted |= {f"done.{t.name}" for t in tools.values() if not t.is_query}
    if missing := sorted(wanted - set(sentences)):
        raise ConfigError(f"no sentence for {', '.join(missing)}; add one", path=path, key=missing[0])
    for key, entry in sentences.items():
        allowed = verbs | _allowed(key, tools, facts)
        for text in (t for options in entry.values() for t in options):
            _check_text(key, text, allowed, path)


def check_same_keys(languages: Mapping[str, Mapping[str, Entry]], folder: str) -> None:
    """Raise ConfigError if one language lacks a sentence that another has."""
    every = set().union(*languages.values()) if languages else set()
    for lang, sentences in languages.items():
        if missing := sorted(every - set(sentences)):
            path = f"{folder}/{lang}.yaml"
            raise ConfigError(f"no sentence for {', '.join(missing)}, which another language has", path=path)


def _flatten(key: str, value: Any, path: str) -> Iterator[tuple[str, Entry]]:
    name = key.removeprefix("answers.")
    if isinstance(value, str | list):
        yield name, {"default": _options(key, value, path)}
    elif not isinstance(value, Mapping):
        raise ConfigError(
            f"{key} is {type(value).__name__}, wanted a sentence, a list or a mapping", path=path, key=key
        )
    elif "default" in value:
        yield name, {str(k): _options(f"{key}.{k}", v, path) for k, v in value.items()}
    else:
        for k, v in value.items():
            yield from _flatten(f"{key}.{k}", v, path)


def _options(key: str, value: Any, path: str) -> tuple[str, ...]:
    options = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else ()
    if not options or not all(isinstance(x, str) and x for x in options):
        raise ConfigError(f"{key} is {value!r}, wanted a sentence or a list of sentences", path=path, key=key)
    return options


def _allowed(key: str, tools: Mapping[str, Tool], facts: frozenset[str]) -> frozenset[str]:
    group, _, name = key.partition(".")
    if group == "failed":
        return _ALLOWED[group] | facts
    if group in ("done", "already", "do"):
        tool = tools.get(name)
        return _ABOUT | facts | (frozenset(p.name for p in tool.params) if tool else frozenset())
    return _ALLOWED.get(group, facts)


def _check_text(key: str, text: str, allowed: frozenset[str], path: str) -> None:
    try:
        names = placeholders(text)
    except ValueError as err:
        raise ConfigError(f"{key}: {text!r} has braces that cannot be filled: {err}", path=path, key=key) from err
    for name in sorted(names - allowed):
        hint = _nearest(name, allowed) or f"; known are {', '.join(sorted(allowed)) or 'none'}"
        raise ConfigError(f"{key}: no placeholder {{{name}}} exists{hint}", path=path, key=key)


def _nearest(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; nearest is {near[0]}" if near else ""
