"""What acts and values mean for each kind of device, as the app's data say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agentkit.types import Value
from agentkit.understanding.ask_map import AskMap, read_asks


@dataclass(frozen=True)
class ActRule:
    """The tool that an act stands for with some kinds of devices."""

    types: tuple[str, ...]
    tool: str
    topic: str | None = None
    """Only with this topic (brightness, volume …); a sentence about one of these types may leave it out."""
    constants: Mapping[str, Value] = field(default_factory=dict)
    amount: str | None = None
    """Argument that takes a difference, if the sentence tells one."""
    unit: str = "percent"
    """Unit of the difference."""
    is_negative: bool = False
    is_implied: bool = False
    """The act alone tells the type: a room is enough ("lock the office")."""
    area_argument: str | None = None
    """Argument that takes the room, which then is no place of the device."""
    called: tuple[str, ...] = ()
    """Words in the name of the one device that the topic means ("make coffee")."""
    is_named: bool = False
    """A device or a kind must be said; the topic alone usually means something else."""
    is_sweeping: bool = False
    """"Everything" without a word for a kind means all of these types."""
    is_loose: bool = False
    """No device may be named: who names one has a value in mind, which is then asked for."""

    is_last: bool = False
    """Not if the word for the kind is one for a class of other devices that are here: a gate that opens is no lock."""
    instead: str | None = None
    """Reply that says what cannot be done, for which this is only offered: a lock cannot close a door."""
    unless: str | None = None
    """State of the devices in which there is nothing to offer."""
    listed_in: str | None = None
    """Attribute that lists the values which a device can be set to; the constants must be among them."""


@dataclass(frozen=True)
class ValueRule:
    """The tool that a wanted value stands for with some kinds of devices."""

    types: tuple[str, ...]
    tool: str
    argument: str
    value: str
    """number, color, mode, white, grade or choice; a level word counts as a number."""
    choice: str = ""
    """Kind of choice that the value is."""
    listed_in: str | None = None
    """Attribute that lists such values: of devices that were not named, those that list any are meant."""
    units: tuple[str, ...] = ()
    """Units that the number may have."""
    topic: str | None = None
    needs_topic: bool = False
    """The topic must be said, because another value of the same devices is more usual."""
    translations: Mapping[str, Value] = field(default_factory=dict)
    """Canonical word → value of the argument, where they differ."""
    is_named: bool = False
    """A device or a kind must be said; the value alone usually means something else."""
    low: float = 0
    high: float = 100
    on_tool: str | None = None
    """Tool to call first if the act was to switch on; None = the value switches on by itself."""
    ended: str | None = None
    """Value of the argument once such a value is switched off or stopped; None = it cannot be."""


@dataclass(frozen=True)
class SpanRule:
    """The tool that keeps a value between two, instead of the tool that sets one."""

    tool: str
    argument: str
    """Argument of the tool that sets one value."""
    low: str
    high: str


@dataclass(frozen=True)
class PhraseMap:
    """Everything the phrase parser reads from the app."""

    acts: Mapping[str, tuple[ActRule, ...]] = field(default_factory=dict)
    values: tuple[ValueRule, ...] = ()
    topics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Topic → device types it belongs to."""
    opposites: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Act → acts that do the contrary."""
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Attribute → device types that know it, besides sensors of that class."""
    readers: tuple[str, ...] = ()
    """Tools that answer questions, the more special ones first; the last one answers all."""
    naming: tuple[str, ...] = ()
    """Acts whose object must be a device: if this home does not know it, the refusal names it."""
    asks: AskMap = field(default_factory=AskMap)
    """What can be asked."""
    further: Mapping[str, tuple[ActRule, ...]] = field(default_factory=dict)
    """Tool that a complaint asks for → what it asks for where all of that is so already: brighter for lights that are
    on."""
    moving: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Device type → states in which it moves or plays, so that "stop" by itself means it."""
    spans: Mapping[str, SpanRule] = field(default_factory=dict)
    """Tool that sets one value → the one that sets a range of it."""
    idle: Mapping[str, tuple[ActRule, ...]] = field(default_factory=dict)
    """Tool that a complaint asks for → what is offered where all that it would change is off: heat for "warmer"."""
    rather: Mapping[str, str] = field(default_factory=dict)
    """Tool → type.class of the devices that it means first where a word of `rather` for them is said."""
    rather_states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """type.class → state that is asked for → the one that it means where such a word is said: music that plays."""

    @cached_property
    def acts_of(self) -> Mapping[str, tuple[tuple[str, frozenset[str]], ...]]:
        """Tool → acts that stand for it, with the device types for which they do."""
        found: dict[str, tuple[tuple[str, frozenset[str]], ...]] = {}
        for act, rule in ((act, rule) for act, rules in self.acts.items() for rule in rules):
            found[rule.tool] = (*found.get(rule.tool, ()), (act, frozenset(rule.types)))
        return found

    @cached_property
    def area_arguments(self) -> tuple[tuple[str, str], ...]:
        """(tool, argument) of the arguments that take a room."""
        rules = (rule for rules in self.acts.values() for rule in rules)
        return tuple((r.tool, r.area_argument) for r in rules if r.area_argument)

    @cached_property
    def valued(self) -> frozenset[str]:
        """Tools that take a value."""
        return frozenset(rule.tool for rule in self.values)

    @cached_property
    def defaults(self) -> Mapping[tuple[str, str], tuple[int | float, ...]]:
        """(tool, argument) → numbers that acts stand for without their being said."""
        found: dict[tuple[str, str], tuple[int | float, ...]] = {}
        for rule in (rule for rules in self.acts.values() for rule in rules):
            for name, value in rule.constants.items():
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    found[rule.tool, name] = (*found.get((rule.tool, name), ()), value)
        return found


def read_phrases(raw: Mapping[str, Any]) -> PhraseMap:
    """Turn the mapping `phrases` of a templates file, which has its shape, into a PhraseMap."""
    acts = {str(act): tuple(_act(r) for r in rules or ()) for act, rules in (raw.get("acts") or {}).items()}
    values = tuple(_value(r) for r in raw.get("values") or ())
    topics: dict[str, dict[str, None]] = {}
    pairs = [(r.topic, r.types) for rules in acts.values() for r in rules] + [(r.topic, r.types) for r in values]
    for topic, types in pairs:
        if topic:
            topics.setdefault(topic, {}).update(dict.fromkeys(types))
    naming = tuple(map(str, raw.get("naming") or ()))
    opposites: dict[str, tuple[str, ...]] = {}
    for pair in raw.get("opposites") or ():
        for act in map(str, pair):
            opposites[act] = (*opposites.get(act, ()), *(str(other) for other in pair if str(other) != act))
    return PhraseMap(
        acts,
        values,
        topics={topic: tuple(types) for topic, types in topics.items()},
        opposites=opposites,
        attributes={str(k): tuple(map(str, v)) for k, v in (raw.get("attributes") or {}).items()},
        readers=tuple(map(str, raw.get("readers") or ())),
        naming=naming,
        asks=read_asks(raw.get("asks") or {}),
        moving={str(k): tuple(map(str, states)) for k, states in (raw.get("moving") or {}).items()},
        further={str(k): tuple(_act(r) for r in rules) for k, rules in (raw.get("further") or {}).items()},
        spans={str(k): _span(rule) for k, rule in (raw.get("spans") or {}).items()},
        idle={str(k): tuple(_act(r) for r in rules) for k, rules in (raw.get("idle") or {}).items()},
        rather={str(k): str(v) for k, v in (raw.get("rather") or {}).items()},
        rather_states={
            str(k): {str(a): str(b) for a, b in v.items()} for k, v in (raw.get("rather_states") or {}).items()
        },
    )


def _act(raw: Mapping[str, Any]) -> ActRule:
    return ActRule(
        types=_types(raw),
        tool=str(raw["tool"]),
        topic=raw.get("topic"),
        constants=dict(raw.get("set") or {}),
        amount=raw.get("amount"),
        unit=str(raw.get("unit", "percent")),
        is_negative=bool(raw.get("negative")),
        is_implied=bool(raw.get("implied")),
        area_argument=raw.get("area_argument"),
        called=tuple(map(str, raw.get("called") or ())),
        is_named=bool(raw.get("named")),
        is_loose=bool(raw.get("loose")),
        is_sweeping=bool(raw.get("sweeping")),
        is_last=bool(raw.get("last")),
        instead=raw.get("instead"),
        unless=raw.get("unless"),
        listed_in=raw.get("listed_in"),
    )


def _span(raw: Mapping[str, Any]) -> SpanRule:
    return SpanRule(*(str(raw[key]) for key in ("tool", "argument", "low", "high")))


def _value(raw: Mapping[str, Any]) -> ValueRule:
    return ValueRule(
        types=_types(raw),
        tool=str(raw["tool"]),
        argument=str(raw["argument"]),
        value=str(raw["value"]),
        choice=str(raw.get("choice", "")),
        listed_in=raw.get("listed_in"),
        units=tuple(map(str, raw.get("units") or ())),
        topic=raw.get("topic"),
        needs_topic=bool(raw.get("needs_topic")),
        translations={str(k): v for k, v in (raw.get("translate") or {}).items()},
        is_named=bool(raw.get("named")),
        low=float(raw.get("low", 0)),
        high=float(raw.get("high", 100)),
        on_tool=raw.get("on_tool"),
        ended=raw.get("ended"),
    )


def _types(raw: Mapping[str, Any]) -> tuple[str, ...]:
    types: Sequence[Any] = raw["types"]
    return tuple(map(str, types))
