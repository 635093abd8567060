"""Load sentence packs into hassil: the data of home-assistant-intents together with the app's own sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from hassil.intents import Intents

from agentkit.errors import ConfigError
from agentkit.understanding.hanzi import simplify
from agentkit.understanding.references import check_references
from agentkit.understanding.template_map import TemplateMap


def load_packs(templates: TemplateMap, language: str) -> tuple[tuple[str, Intents], ...]:
    """The packs of a language in order of trial; the app's own sentences join the first. Raises ConfigError."""
    names = templates.packs.get(language) or ("own",)
    packs = []
    for i, name in enumerate(names):
        raw = _read(name)
        if i == 0 and language in templates.sentences:
            own = templates.sentences[language]
            raw = _merge(raw, own)
            check_references(own, templates.rules, {*raw["lists"], *templates.lists}, raw["expansion_rules"])
        packs.append((name, _compile(raw, name, templates)))
    return tuple(packs)


def _read(name: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"language": name, "intents": {}, "lists": {}, "expansion_rules": {}}
    if name == "own":
        return empty
    file = resources.files("home_assistant_intents").joinpath("data", f"{name}.json")
    if not file.is_file():
        raise ConfigError(f"pack {name!r} is not in home-assistant-intents", path="templates.yaml", key="packs")
    return {**empty, **json.loads(simplify(file.read_text("utf-8")))}


def _merge(pack: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Add sentences; a list or rule of the app replaces the pack's of the same name."""
    merged = dict(pack)
    for key in ("lists", "expansion_rules"):
        merged[key] = {**pack.get(key, {}), **(own.get(key) or {})}
    intents = {name: {"data": list(value["data"])} for name, value in pack["intents"].items()}
    for name, value in (own.get("intents") or {}).items():
        intents.setdefault(name, {"data": []})["data"].extend(value["data"])
    merged["intents"] = intents
    if own.get("skip_words"):
        merged["skip_words"] = [*pack.get("skip_words", []), *own["skip_words"]]
    return merged


def _compile(raw: Mapping[str, Any], name: str, templates: TemplateMap) -> Intents:
    dropped = set(templates.drop)
    intents = {
        intent: {"data": [kept for data in value["data"] if (kept := _without(data, dropped))]}
        for intent, value in raw["intents"].items()
        if intent in templates.rules
    }
    lists = {k: _own_words(v) for k, v in {**raw.get("lists", {}), **templates.lists}.items()}
    return Intents.from_dict({**raw, "language": name, "intents": intents, "lists": lists})


def _own_words(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Keep number words out of lists that change the sign.

    hassil caches the words of a range by its limits alone, so "down twenty" would be read with the sign of "up twenty".
    """
    limits = raw.get("range")
    return {**raw, "range": {**limits, "words": False}} if limits and "multiplier" in limits else raw


def _without(data: Mapping[str, Any], dropped: set[str]) -> dict[str, Any] | None:
    sentences = [s for s in data["sentences"] if s not in dropped]
    return {**data, "sentences": sentences} if sentences else None
