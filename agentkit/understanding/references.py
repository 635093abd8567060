"""Checks that the app's own sentences name only slots and rules that exist, and no rule that contains itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hassil.expression import INLINE_RANGE_PATTERN, Alternative, Group, ListReference, Permutation, RuleReference
from hassil.parse_expression import parse_sentence

from agentkit.errors import ConfigError
from agentkit.yaml_lines import YamlList, YamlMap, did_you_mean

HOME_LISTS = frozenset({"name", "area", "floor"})
"""Slots that the home fills."""


def check_references(
    own: Mapping[str, Any], intents: Collection[str], lists: Collection[str], rules: Mapping[str, str]
) -> None:
    """Raise ConfigError with file and line for what a sentence file names and nobody declares."""
    for holder, key, text, has in _texts(own):
        for kind, name in _references(text):
            known = {**rules, **(has.get("expansion_rules") or {})} if kind == "rule" else _slots(lists, has)
            if name not in known and not INLINE_RANGE_PATTERN.match(name):
                mark = f"<{name}>" if kind == "rule" else f"{{{name}}}"
                raise _error(holder, key, f"{text!r}: no {kind} {mark} exists; {did_you_mean(name, known)}")
    for rule in own.get("expansion_rules") or {}:
        if rule in _reached(rule, rules):
            raise _error(own["expansion_rules"], rule, f"rule {rule!r} contains itself; take <{rule}> out of it")
    for intent in own.get("intents") or {}:
        if intent not in intents:
            message = f"intent {intent!r} has no meaning; give it an entry in `intents` of templates.yaml"
            raise _error(own["intents"], intent, message)


def _texts(own: Mapping[str, Any]) -> Iterator[tuple[Any, Any, str, Mapping[str, Any]]]:
    """Every template of a sentence file: what holds it, its key, its text and the block it stands in."""
    for name, body in (own.get("expansion_rules") or {}).items():
        yield own["expansion_rules"], name, body, {}
    for intent in (own.get("intents") or {}).values():
        for block in intent["data"]:
            for index, text in enumerate(block["sentences"]):
                yield block["sentences"], index, text, block


def _slots(lists: Collection[str], block: Mapping[str, Any]) -> Collection[str]:
    return {*lists, *HOME_LISTS, *(block.get("lists") or {})}


def _references(text: str) -> Iterator[tuple[str, str]]:
    yield from _inside(parse_sentence(text).expression)


def _inside(part: Any) -> Iterator[tuple[str, str]]:
    if isinstance(part, ListReference):
        yield "slot", part.list_name
    elif isinstance(part, RuleReference):
        yield "rule", part.rule_name
    elif isinstance(part, Group | Alternative | Permutation):
        for item in part.items:
            yield from _inside(item)


def _reached(rule: str, rules: Mapping[str, str]) -> set[str]:
    """Every rule that can be reached from a rule."""
    found: set[str] = set()
    waiting = [rule]
    while waiting:
        for kind, name in _references(rules.get(waiting.pop(), "x")):
            if kind == "rule" and name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _error(holder: Any, key: Any, message: str) -> ConfigError:
    if isinstance(holder, YamlList | YamlMap):
        return holder.error(message, key)
    return ConfigError(message, path="sentences", key=str(key))
