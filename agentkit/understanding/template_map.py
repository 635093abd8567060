"""What a matched sentence means: intent and slots → tool and arguments, as the app's data say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentkit.types import Value
from agentkit.understanding.phrase_map import PhraseMap, read_phrases
from agentkit.understanding.prompt import PromptText, read_prompt
from agentkit.understanding.template_shape import SENTENCES, TEMPLATES, check, check_tools
from agentkit.yaml_lines import load_mapping

Slots = Mapping[str, Any]


@dataclass(frozen=True)
class Term:
    """One summand of an argument: a slot, times a factor if it is a number."""

    slot: str
    factor: float | None = None


@dataclass(frozen=True)
class Rule:
    """One call that an intent stands for."""

    tools: Mapping[str, str] = field(default_factory=dict)
    """Device type → tool; "*" is any other type; "" a call without devices."""
    types: tuple[str, ...] = ()
    """Device types that can be meant when the sentence does not say; empty = any that a tool takes."""
    when: str | None = None
    """Slot that must be filled for this call to be made."""
    args: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    """Argument → the slots it is made of."""
    constants: Mapping[str, Value] = field(default_factory=dict)
    translations: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    """Slot → value of the sentence → value of the argument, where they differ."""
    area_argument: str | None = None
    """Argument that takes the room, which then is no place of the device."""
    is_area_optional: bool = False
    """The room is taken only if it is said ("area?")."""
    prefer: tuple[str, ...] = ()
    """Words in the name of the device that is meant if none is named."""
    kind: str = "calls"
    """calls, refuse, say, or skip: no meaning here."""
    reply_key: str = ""


@dataclass(frozen=True)
class TemplateMap:
    """Everything the template tier reads from the app."""

    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    """Intent → calls it may stand for."""
    packs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Language → names of the sentence packs of home-assistant-intents, in order of trial."""
    sentences: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Language → the app's own sentences in hassil's format."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """Response name of a sentence → kind of question: one, yes_no, any, all, which, how_many."""
    lists: Mapping[str, Any] = field(default_factory=dict)
    """Slot lists that replace those of the packs, in hassil's format."""
    drop: tuple[str, ...] = ()
    """Sentences of the packs that are not taken, letter by letter."""
    phrases: PhraseMap = field(default_factory=PhraseMap)
    """What acts and values mean, for sentences in words that no template foresees."""
    prompt: PromptText = field(default_factory=PromptText)
    """What the model is told."""


def load_templates(path: Path, *, tools: Collection[str] | None = None) -> TemplateMap:
    """Read templates.yaml and the sentence files it names. Raises ConfigError naming file, line and key.

    With `tools`, every tool that is named must be one of them.
    """
    raw = load_mapping(path)
    check(raw, TEMPLATES, str(path))
    if tools is not None:
        check_tools(raw, tools)
    files: Mapping[str, Any] = raw.get("sentences") or {}
    sentences = {language: load_mapping(path.parent / str(name)) for language, name in files.items()}
    for language, own in sentences.items():
        check(own, SENTENCES, files[language])
    return read_templates(raw, sentences=sentences, path=path)


def read_templates(
    raw: Mapping[str, Any], *, sentences: Mapping[str, Mapping[str, Any]] | None = None, path: Path | str = "templates"
) -> TemplateMap:
    """Turn the mapping of a templates file into a TemplateMap. Raises ConfigError naming the key."""
    check(raw, TEMPLATES, str(path))
    intents = raw.get("intents") or {}
    return TemplateMap(
        rules={str(name): _rules(value) for name, value in intents.items()},
        packs={str(k): tuple(map(str, v)) for k, v in (raw.get("packs") or {}).items()},
        sentences=sentences or {},
        questions={str(k): str(v) for k, v in (raw.get("questions") or {}).items()},
        lists=raw.get("lists") or {},
        drop=tuple(map(str, raw.get("drop") or ())),
        phrases=read_phrases(raw.get("phrases") or {}),
        prompt=read_prompt(raw.get("prompt") or {}),
    )


def argument_values(rule: Rule, slots: Slots) -> dict[str, Value]:
    """The arguments of a call, from the slots that are filled."""
    values: dict[str, Value] = dict(rule.constants)
    for name, terms in rule.args.items():
        filled = [(t, _translate(rule, t.slot, slots[t.slot])) for t in terms if slots.get(t.slot) is not None]
        if filled:
            values[name] = _sum(filled)
    return values


def _translate(rule: Rule, slot: str, value: Any) -> Any:
    return rule.translations.get(slot, {}).get(str(value), value)


def _sum(filled: Sequence[tuple[Term, Any]]) -> Value:
    if len(filled) == 1 and filled[0][0].factor is None:
        value = filled[0][1]
        return int(value) if isinstance(value, float) and value.is_integer() else value
    total = float(sum(float(value) * (1.0 if term.factor is None else term.factor) for term, value in filled))
    return int(total) if total.is_integer() else total


def _rules(value: Any) -> tuple[Rule, ...]:
    return tuple(map(_rule, value if isinstance(value, list) else [value]))


def _rule(raw: Mapping[str, Any]) -> Rule:
    area = raw.get("area_argument")
    kind = "skip" if "skip" in raw else "refuse" if "refuse" in raw else "say" if "say" in raw else "calls"
    tools = {str(k): str(v) for k, v in (raw.get("tools") or {}).items()}
    if "tool" in raw:
        tools["*"] = str(raw["tool"])
    return Rule(
        tools=tools,
        types=tuple(map(str, raw.get("types") or ())),
        when=raw.get("when"),
        args={str(k): _terms(v) for k, v in (raw.get("args") or {}).items()},
        constants=dict(raw.get("set") or {}),
        translations={str(k): {str(a): b for a, b in v.items()} for k, v in (raw.get("translate") or {}).items()},
        area_argument=None if area is None else str(area).removesuffix("?"),
        is_area_optional=str(area).endswith("?"),
        prefer=tuple(map(str, raw.get("prefer") or ())),
        kind=kind,
        reply_key=str(raw.get("refuse") or raw.get("say") or ""),
    )


def _terms(raw: Any) -> tuple[Term, ...]:
    if isinstance(raw, str):
        return (Term(raw),)
    return tuple(Term(str(k), float(v)) for k, v in raw.items())
