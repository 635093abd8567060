"""Checks the grammar, kinds and word tables of one language when the app starts, so that no sentence fails later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit.agent.sentences import placeholders
from agentkit.errors import ConfigError

_JOINTS = ("between", "and", "or", "between_clauses", "and_clauses", "and_units")
_FORMS: Mapping[str, frozenset[str]] = {
    "counted": frozenset({"n", "kind"}),
    "others": frozenset({"n", "kind"}),
    "measured": frozenset({"n", "unit"}),
    "more": frozenset({"n"}),
    "in_area": frozenset({"name", "area"}),
}
"""Grammar key → the placeholders that it may hold."""
_OPTIONAL = ("in_area", "others")
_MAYBE = ("article", "and_sentences")
_LIMITS = ("at_most_named", "at_most_listed")
_UNITS = ("day", "hour", "minute", "second")


def check_wording(data: Mapping[str, Any], path: str) -> None:
    """Raise ConfigError with file and key for the first thing that is missing or of the wrong kind."""
    tables = {key: _table(data, key, path) for key in ("grammar", "kinds", "states", "words")}
    _check_grammar(tables["grammar"], path)
    for kind, forms in tables["kinds"].items():
        _check_pair(f"kinds.{kind}", forms, path)
    for group in ("states", "words"):
        for key in tables[group]:
            _table(tables[group], key, path, within=group)
    _check_pair("kinds.device", tables["kinds"].get("device"), path)
    durations = tables["words"].get("duration") or {}
    for unit in _UNITS:
        _check_pair(f"words.duration.{unit}", durations.get(unit), path)


def _check_grammar(grammar: Mapping[str, Any], path: str) -> None:
    for key in (*_JOINTS, *_FORMS):
        if key not in grammar and key in _OPTIONAL:
            continue
        text = grammar.get(key)
        if not isinstance(text, str):
            raise _missing(f"grammar.{key}", text, "a text", path)
        try:
            unknown = placeholders(text) - _FORMS.get(key, frozenset())
        except ValueError as err:
            raise ConfigError(f"grammar.{key}: {text!r} has braces that cannot be filled: {err}", path=path) from err
        if unknown:
            known = ", ".join(sorted(_FORMS.get(key, ()))) or "none"
            raise ConfigError(
                f"grammar.{key}: no placeholder {{{min(unknown)}}} exists; known are {known}", path=path, key=key
            )
    for key in _MAYBE:
        if not isinstance(grammar.get(key, ""), str):
            raise _missing(f"grammar.{key}", grammar[key], "a text", path)
    for key in _LIMITS:
        value = grammar.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise _missing(f"grammar.{key}", value, "a number above 0", path)
    without = grammar.get("without_article", [])
    if not isinstance(without, list | tuple) or not all(isinstance(x, str) for x in without):
        raise _missing("grammar.without_article", without, "a list of device types", path)
    _table(grammar, "plural_verbs", path, within="grammar")


def _check_pair(key: str, value: Any, path: str) -> None:
    if not isinstance(value, list | tuple) or not value or not all(isinstance(x, str) and x for x in value):
        raise _missing(key, value, "the word for one and the word for several, for example [lamp, lamps]", path)


def _table(data: Mapping[str, Any], key: str, path: str, *, within: str = "") -> Mapping[str, Any]:
    value = data.get(key) or {}
    if not isinstance(value, Mapping):
        raise _missing(f"{within}.{key}".lstrip("."), value, "a mapping", path)
    return value


def _missing(key: str, got: Any, wanted: str, path: str) -> ConfigError:
    said = "is missing" if got is None else f"is {got!r}"
    return ConfigError(f"{key} {said}, wanted {wanted}; add it", path=path, key=key)
