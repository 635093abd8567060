"""One clause of a sentence: what it acts on and which values it wants, and the call that this makes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentkit.types import Args, Intent, Selector, Value
from agentkit.understanding.choices import is_listed, is_same_twice, listing
from agentkit.understanding.entries import THINGS, USUAL, Item, Role
from agentkit.understanding.groups import Group
from agentkit.understanding.heads import SETTING
from agentkit.understanding.numbers import plain
from agentkit.understanding.phrase_map import ActRule, PhraseMap
from agentkit.understanding.strict import is_word_of_class
from agentkit.understanding.target import TargetFinder
from agentkit.understanding.tools import Tool
from agentkit.understanding.wanted import ended, wanted

OF_PRESENT = "of_present"
"""Argument that makes a difference a share of the present value."""
_TAKES_VALUES = frozenset({SETTING, "on", "start", "open", "close", "up", "down", "off", "stop", "end"})
_MOVES = frozenset({"open", "close"})
"""Acts with which only what they are done to takes values: 关 a curtain to half, but not a light to red."""
_ENDS = frozenset({"off", "stop", "end"})
"""Acts that do away with a value: "turn the disco off"."""
_FEELS = frozenset({"warmer", "cooler"})
_CHANGES = _FEELS | {"up", "down"}
_DEGREES = frozenset({"degrees", "celsius", "fahrenheit"})
_LEAST_DEGREES, _LEAST_PERCENT = 16, 40
"""Numbers from here on are no small difference but what is to be reached."""
_LEAST, _MOST = "1", "100"
"""Levels at the ends."""
_STARTS = frozenset({"on", "start"})
_DOWN_TO_NOTHING = frozenset({"close", "off", "sink"})
_NAMED = (Role.NAME, Role.PART, Role.HINT)
_LAST_HOUR = 24
"""A number behind "at" may be a time up to here."""


@dataclass(frozen=True)
class ClauseReader:
    """Reads groups as calls, by the app's phrases and tools."""

    phrases: PhraseMap
    tools: Mapping[str, Tool]
    targets: TargetFinder
    _known: dict[tuple[object, ...], tuple[Intent, ...]] = field(default_factory=dict)
    """Groups read so far: the ways to cut one sentence share most of them."""
    clauses: dict[tuple[object, ...], tuple[Intent, ...]] = field(default_factory=dict)
    """Whole clauses read so far, by their pieces, acts and what was spoken of before."""

    def read(self, acts: Sequence[str], group: Group, before: Selector | None) -> tuple[Intent, ...]:
        """The calls of one group; empty if any piece of it stays without meaning."""
        key = (tuple(acts), group, before)
        if key not in self._known:
            readings = (self._read_act(*_act_parts(act), group, before) for act in acts)
            self._known[key] = next((found for found in readings if found), ())
        return self._known[key]

    def _read_act(self, act: str, suffix: str, group: Group, before: Selector | None) -> tuple[Intent, ...]:
        topics = set(group.of(Role.TOPIC))
        if suffix in self.phrases.topics:
            topics.add(suffix)
        elif suffix:
            group = group + Group((Item(Role.KIND, suffix, 0, 0),))
        if act in _DOWN_TO_NOTHING and all(v.value == _MOST for v in group.values if v.role is Role.LEVEL):
            group = Group(tuple(i for i in group.items if i.role is not Role.LEVEL))  # "close it fully"
        if act == "down":  # "turn it all the way down", "dim it fully"
            group = Group(tuple(replace(i, value=_LEAST) if _is_most(i) else i for i in group.items))
        if _is_goal(act, group):
            group = Group(tuple(i for i in group.items if i.role is not Role.SLIGHT))
            topics |= {"temperature"} & set(self.phrases.topics) if act in _FEELS else set()
            return self._read_values(SETTING, topics, group, before)
        takes_values = group.values and act in _TAKES_VALUES and (act not in ("up", "down") or _is_wanted(group))
        found = self._read_values(act, topics, group, before) if takes_values else ()
        return found or self._read_rule(act, topics, group, before)

    def _read_rule(self, act: str, topics: set[str], group: Group, before: Selector | None) -> tuple[Intent, ...]:
        for rule in self.phrases.acts.get(act, ()):
            if topics - {rule.topic} or (group.has(Role.TO) and group.values):
                continue
            if rule.is_last and not group.has(*_NAMED) and self._is_of_class(group):
                continue
            if len(group.of(Role.AREA)) > 1 and self._takes_one_room(rule):
                continue
            if (rule.is_named and not group.has(*THINGS)) or (rule.is_loose and group.has(*_NAMED)):
                continue
            args = self._act_args(rule, group)
            is_said = rule.is_implied or rule.topic in topics
            place = replace_place(group) if rule.area_argument else group
            if rule.called:
                selector = self.targets.called(rule.called, rule.types) if is_said and not group.has(*THINGS) else None
            elif rule.is_sweeping:
                selector = self.targets.everything(group, rule.types)
            else:
                selector = self.targets.find(place, rule.types, before, is_said or rule.area_argument is not None)
            if args is not None and selector is not None and (intent := self._intent(rule.tool, args, selector)):
                return (intent,)
        return ()

    def _is_of_class(self, group: Group) -> bool:
        """Whether the word for a kind is one for a class of other devices."""
        said = {i.text for i in group.items if i.role is Role.KIND}
        place = Selector(areas=group.of(Role.AREA), floors=group.of(Role.FLOOR))
        return is_word_of_class(said, place, self.targets.view, self.targets.words)

    def _takes_one_room(self, rule: ActRule) -> bool:
        """Whether an act is done to a room, so that a second one would be passed over."""
        sent = (r for rules in self.phrases.acts.values() for r in rules if r.area_argument)
        return rule.area_argument is not None or (rule.is_implied and any(r.types == rule.types for r in sent))

    def _act_args(self, rule: ActRule, group: Group) -> dict[str, Value] | None:
        """Arguments of an act, or None if a value of the sentence has no place in it."""
        args = dict(rule.constants)
        if rule.area_argument:
            area = self.targets.view.area(
                next(iter(group.of(Role.AREA)), self.targets.view.speaker_area if group.has(Role.HERE) else None)
            )
            if area is None:
                return None
            args[rule.area_argument] = area.name
        if not group.values:
            if group.has(Role.UNIT, Role.TO, Role.BY):
                return None
            return (
                args
                if not group.has(Role.SLIGHT)
                else _slightly(rule, args, is_usual=group.of(Role.SLIGHT) == (USUAL,))
            )
        units = set(group.of(Role.UNIT))
        if group.has(Role.SLIGHT, Role.AT):
            return None  # "a little cooler, 21 degrees", "open it at 6": the number is no difference
        if rule.amount is None or len(group.values) > 1:
            return None
        if _is_share(group):
            share = int(group.values[0].value)
            flag = {OF_PRESENT: True} if OF_PRESENT in self._params(rule.tool) else {}
            return (
                {**args, rule.amount: -share if rule.is_negative else share, **flag} if rule.unit == "percent" else None
            )
        if group.values[0].role is not Role.NUMBER:
            return None
        if units and rule.unit not in units and not (rule.unit == "degrees" and units <= {"celsius", "fahrenheit"}):
            return None
        amount = plain(group.values[0].number)
        args[rule.amount] = -amount if rule.is_negative else amount
        return args | _unit_arg(units, self.tools.get(rule.tool))

    def _params(self, name: str) -> set[str]:
        tool = self.tools.get(name)
        return {p.name for p in tool.params} if tool else set()

    def _read_values(self, act: str, topics: set[str], group: Group, before: Selector | None) -> tuple[Intent, ...]:
        """One call for each value, all on the same devices."""
        if group.has(Role.BY, Role.SLIGHT) or _is_unclear(group):
            return ()
        calls: list[Intent] = []
        for item in group.values:
            found = next(self._value_calls(act, item, topics, group, before), ())
            if not found:
                return ()
            if {c.tool for c in calls} & {c.tool for c in found if c not in calls and c.args}:
                return ()  # "lamp 1 to 13 %": two values for one thing
            if any(is_same_twice(a, b, self.phrases) for a in calls for b in found):
                return ()
            calls.extend(c for c in found if c not in calls)
        if {r.topic for r in self.phrases.values if r.tool in {c.tool for c in calls}} >= topics:
            return tuple(calls)
        return ()

    def _value_calls(
        self, act: str, item: Item, topics: set[str], group: Group, before: Selector | None
    ) -> Iterator[tuple[Intent, ...]]:
        units = set(group.of(Role.UNIT))
        moved = {t for rule in self.phrases.acts.get(act, ()) for t in rule.types} if act in _MOVES else None
        for rule in self.phrases.values:
            value = ended(rule, item) if act in _ENDS else wanted(rule, item, units)
            if moved is not None and moved.isdisjoint(rule.types):
                continue
            is_said = rule.topic in topics or bool((units - {"percent"}) & set(rule.units))
            is_light = item.role is Role.COLOR or (item.role is Role.WHITE and len(item.text.split()) > 1)
            is_said = is_said or (is_light and group.has(Role.AREA, Role.HERE))  # "turn the room green"
            is_said = is_said or (act in _STARTS | _ENDS and is_listed(rule.listed_in, rule.types, self.targets.view))
            if value is None or (topics and not is_said and item.role in (Role.NUMBER, Role.LEVEL)):
                continue
            if (rule.needs_topic and not is_said) or (rule.is_named and not group.has(*THINGS)):
                continue
            selector = self.targets.find(group, rule.types, before, is_said)
            selector = listing(rule.listed_in, selector, self.targets.view) if selector is not None else None
            args = {rule.argument: value} | (_unit_arg(units, self.tools.get(rule.tool)))
            if selector is None or (intent := self._intent(rule.tool, args, selector)) is None:
                continue
            first = (
                self._intent(rule.on_tool, {}, selector)
                if rule.on_tool and act == "on" and group.has(*THINGS, Role.IT)
                else None
            )
            yield (first, intent) if first else (intent,)

    def _intent(self, name: str, args: Args, selector: Selector) -> Intent | None:
        tool = self.tools.get(name)
        if tool is None or set(args) - {p.name for p in tool.params}:
            return None
        types = tuple(t for t in selector.types if not tool.types or t in tool.types)
        return Intent(name, args, replace(selector, types=types)) if types else None


def _act_parts(act: str) -> tuple[str, str]:
    name, _, suffix = act.partition(".")
    return name, suffix


def replace_place(group: Group) -> Group:
    """The group without its room, which is an argument."""
    return Group(tuple(i for i in group.items if i.role not in (Role.AREA, Role.HERE)))


def _is_most(item: Item) -> bool:
    return item.role is Role.LEVEL and item.value == _MOST


def _slightly(rule: ActRule, args: Mapping[str, Value], *, is_usual: bool) -> dict[str, Value] | None:
    """Half of the usual difference; an act that knows no difference cannot be done slightly."""
    step = args.get(rule.amount or "")
    if rule.amount is None or not isinstance(step, (int, float)):
        return None
    if is_usual:
        return dict(args)
    return {**args, rule.amount: plain(step / 2 if abs(step) > 1 else step)}


def _is_wanted(group: Group) -> bool:
    """Whether "up" or "down" comes with a value to reach, not with a difference."""
    if _is_share(group):
        return False
    return group.has(Role.TO) or any(v.role is not Role.NUMBER for v in group.values)


def _is_share(group: Group) -> bool:
    """Whether the value is a part of what is there now: "by half", 一半 without "to"."""
    levels = [v for v in group.values if v.role is Role.LEVEL and 1 < int(v.value) < 100]
    is_told = group.has(Role.BY) or any(not v.text.isascii() for v in levels)
    return bool(levels) and is_told and not group.has(Role.TO)


def _is_goal(act: str, group: Group) -> bool:
    """Whether a number beside "a little" or "cooler" is too large for a difference: "a bit cooler, 21 degrees"."""
    numbers = [v.number for v in group.values if v.role is Role.NUMBER]
    is_slight = group.has(Role.SLIGHT)
    if len(numbers) != 1 or len(group.values) != 1 or group.has(Role.BY) or not (is_slight or act in _FEELS):
        return False
    if group.has(Role.TO):
        return act in _CHANGES
    units = set(group.of(Role.UNIT))
    is_degrees = units <= _DEGREES and (bool(units) or group.has(Role.TOPIC) or act in _FEELS)
    low = _LEAST_PERCENT if is_slight and units == {"percent"} else _LEAST_DEGREES if is_degrees else math.inf
    return act in _CHANGES and numbers[0] >= low


def _is_unclear(group: Group) -> bool:
    """ "turn on lamp 2", "at nine": a bare number may be a name or a time; only unit, topic or "to" make it a value.

    A number before those belongs to what is set ("lamp 2 to green", "3 lights").
    """
    numbers = [v.start for v in group.values if v.role is Role.NUMBER]
    if not numbers or group.has(Role.UNIT):
        return False
    before = [i.start for i in group.items if i.role is Role.TO]
    before = before or [i.start for i in group.items if i.role is Role.TOPIC]
    if group.has(Role.AT):
        return any(v.number <= _LAST_HOUR for v in group.values if v.role is Role.NUMBER)
    return not before or max(numbers) < min(before)


def _unit_arg(units: set[str], tool: Tool | None) -> dict[str, Value]:
    scale = units & {"celsius", "fahrenheit"}
    known = {p.name for p in tool.params} if tool else set()
    return {"unit": next(iter(scale))} if len(scale) == 1 and "unit" in known else {}
