"""One clause of a sentence: what it acts on and which values it wants, and the call that this makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.devices.adapter import Device
from agentkit.types import Args, Intent, Selector, Value
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import VALUES, Item, Role, parts_of
from agentkit.understanding.numbers import plain
from agentkit.understanding.phrase_map import ActRule, PhraseMap, ValueRule
from agentkit.understanding.selecting import has_word, of_class, select
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

SETTING = "set"
"""The act that only a value makes complete."""
_TAKES_VALUES = frozenset({SETTING, "on", "start", "open", "close", "up", "down"})
_VALUE_OF_ROLE = {
    Role.NUMBER: "number",
    Role.LEVEL: "number",
    Role.COLOR: "color",
    Role.MODE: "mode",
    Role.WHITE: "white",
}


@dataclass(frozen=True)
class Group:
    """The pieces between two "and"s."""

    items: tuple[Item, ...] = ()

    def of(self, *roles: Role) -> tuple[str, ...]:
        """Distinct values of these roles, in the order spoken."""
        return tuple(dict.fromkeys(i.value for i in self.items if i.role in roles))

    def has(self, *roles: Role) -> bool:
        """Whether any piece has one of these roles."""
        return any(i.role in roles for i in self.items)

    @property
    def values(self) -> tuple[Item, ...]:
        """The wanted values."""
        return tuple(i for i in self.items if i.role in VALUES)

    def __add__(self, other: Group) -> Group:
        return Group(self.items + other.items)


@dataclass(frozen=True)
class ClauseReader:
    """Reads groups as calls, by the app's phrases and tools."""

    phrases: PhraseMap
    tools: Mapping[str, Tool]
    words: Words
    view: HomeView

    def read(self, acts: Sequence[str], group: Group, before: Selector | None) -> tuple[Intent, ...]:
        """The calls of one group; empty if any piece of it stays without meaning."""
        for act in acts:
            name, _, suffix = act.partition(".")
            if found := self._read_act(name, suffix, group, before):
                return found
        return ()

    def _read_act(self, act: str, suffix: str, group: Group, before: Selector | None) -> tuple[Intent, ...]:
        topics = set(group.of(Role.TOPIC))
        if suffix in self.phrases.topics:
            topics.add(suffix)
        elif suffix:
            group = group + Group((Item(Role.KIND, suffix, 0, 0),))
        takes_values = group.values and act in _TAKES_VALUES and (act not in ("up", "down") or _is_wanted(group))
        found = self._read_values(act, topics, group, before) if takes_values else ()
        return found or self._read_rule(act, topics, group, before)

    def _read_rule(self, act: str, topics: set[str], group: Group, before: Selector | None) -> tuple[Intent, ...]:
        for rule in self.phrases.acts.get(act, ()):
            if topics - {rule.topic} or (group.has(Role.TO) and group.values):
                continue
            args = self._act_args(rule, group)
            is_said = rule.is_implied or rule.topic in topics
            place = replace_place(group) if rule.area_argument else group
            selector = self._target(place, rule.types, before, is_said or rule.area_argument is not None)
            if args is not None and selector is not None and (intent := self._intent(rule.tool, args, selector)):
                return (intent,)
        return ()

    def _act_args(self, rule: ActRule, group: Group) -> dict[str, Value] | None:
        """Arguments of an act, or None if a value of the sentence has no place in it."""
        args = dict(rule.constants)
        if rule.area_argument:
            area = self.view.area(
                next(iter(group.of(Role.AREA)), self.view.speaker_area if group.has(Role.HERE) else None)
            )
            if area is None:
                return None
            args[rule.area_argument] = area.name
        if not group.values:
            if group.has(Role.UNIT, Role.TO, Role.BY):
                return None
            return args if not group.has(Role.SLIGHT) else _slightly(rule, args)
        units = set(group.of(Role.UNIT))
        if rule.amount is None or len(group.values) > 1 or group.values[0].role is not Role.NUMBER:
            return None
        if units and rule.unit not in units and not (rule.unit == "degrees" and units <= {"celsius", "fahrenheit"}):
            return None
        amount = plain(group.values[0].number)
        args[rule.amount] = -amount if rule.is_negative else amount
        return args | _unit_arg(units, self.tools.get(rule.tool))

    def _read_values(self, act: str, topics: set[str], group: Group, before: Selector | None) -> tuple[Intent, ...]:
        """One call for each value, all on the same devices."""
        if group.has(Role.BY, Role.SLIGHT) or _may_be_time(act, group):
            return ()
        calls: list[Intent] = []
        for item in group.values:
            found = next(self._value_calls(act, item, topics, group, before), ())
            if not found:
                return ()
            calls.extend(c for c in found if c not in calls)
        if {r.topic for r in self.phrases.values if r.tool in {c.tool for c in calls}} >= topics:
            return tuple(calls)
        return ()

    def _value_calls(
        self, act: str, item: Item, topics: set[str], group: Group, before: Selector | None
    ) -> Iterator[tuple[Intent, ...]]:
        units = set(group.of(Role.UNIT))
        for rule in self.phrases.values:
            value = _value(rule, item, units)
            is_said = rule.topic in topics or bool((units - {"percent"}) & set(rule.units))
            if value is None or (topics and not is_said and item.role in (Role.NUMBER, Role.LEVEL)):
                continue
            if rule.needs_topic and not is_said:
                continue
            selector = self._target(group, rule.types, before, is_said)
            args = {rule.argument: value} | (_unit_arg(units, self.tools.get(rule.tool)))
            if selector is None or (intent := self._intent(rule.tool, args, selector)) is None:
                continue
            first = self._intent(rule.on_tool, {}, selector) if rule.on_tool and act == "on" else None
            yield (first, intent) if first else (intent,)

    def _intent(self, name: str, args: Args, selector: Selector) -> Intent | None:
        tool = self.tools.get(name)
        if tool is None or set(args) - {p.name for p in tool.params}:
            return None
        types = tuple(t for t in selector.types if not tool.types or t in tool.types)
        return Intent(name, args, replace(selector, types=types)) if types else None

    def _target(self, group: Group, types: tuple[str, ...], before: Selector | None, is_said: bool) -> Selector | None:
        """What the group acts on among some types, or None if it means nothing there is."""
        if group.has(Role.IT):
            kept = tuple(t for t in types if before and t in before.types)
            return replace(before, types=kept) if before and kept else None
        is_placed = group.has(Role.AREA, Role.FLOOR)
        selector = Selector(
            areas=group.of(Role.AREA),
            floors=group.of(Role.FLOOR),
            types=types,
            is_all=group.has(Role.ALL, Role.HOME) and not is_placed and not group.has(Role.HERE),
        )
        if kinds := group.of(Role.KIND):
            selector = replace(selector, types=tuple(t for t in types if t in kinds))
        if group.has(Role.NAME):
            return self._named(group, replace(selector, types=types) if _is_surname(group) else selector)
        if not selector.types or len(kinds) > 1:
            return None
        if group.has(Role.PART):
            return self._partly_named(group, selector) if kinds or group.has(Role.CLASS) or is_said else None
        if classes := group.of(Role.CLASS):
            return self._classed(classes, selector, group)
        if kinds and before is not None and group.has(Role.TOPIC) and not (is_placed or selector.is_all):
            near = {d.area for d in select(before, self.view)}  # "… and turn down the fan speed": in the same room
            selector = replace(selector, areas=tuple(a for a in near if a))
        if not kinds and before is not None and not (is_placed or selector.is_all or group.has(Role.HERE)):
            kept = tuple(t for t in types if t in before.types)  # "… and turn the volume up": of what was just named
            return replace(before, types=kept) if is_said and kept else None
        if not kinds:
            selector = replace(selector, types=types[:1])
            return selector if is_said and select(selector, self.view) else None
        return selector if select(selector, self.view) else None

    def _named(self, group: Group, selector: Selector) -> Selector | None:
        names = group.of(Role.NAME)
        found = select(replace(selector, names=names), self.view)
        if not found:
            roomless = select(replace(selector, names=names, areas=(), floors=()), self.view)
            found = tuple(d for d in roomless if d.area is None)
        if len(names) > 1 or not found:
            return None
        return replace(selector, names=names, types=tuple(dict.fromkeys(d.type for d in found)), is_all=False)

    def _partly_named(self, group: Group, selector: Selector) -> Selector | None:
        """Devices whose names hold everything but the word for their kind."""
        part = group.of(Role.PART)
        found = [d for d in select(selector, self.view) if parts_of(d, self.words) & set(part)]
        if classes := group.of(Role.CLASS):
            listed = [w for c in classes for w in self.words.device_classes[c]]
            found = [
                d for d in found if d.device_class in {c.partition(".")[2] for c in classes} or _has_any(d, listed)
            ]
        if len(part) > 1 or len(found) != 1:
            return None
        return Selector(device_ids=(found[0].id,), types=(found[0].type,))

    def _classed(self, classes: tuple[str, ...], selector: Selector, group: Group) -> Selector | None:
        """Devices of a class; if only their names tell the class, they are listed by id."""
        for key in classes:
            device_type, _, device_class = key.partition(".")
            if len(classes) > 1 or device_type not in selector.types:
                continue
            wanted = replace(selector, types=(device_type,))
            found = of_class(wanted, device_class, self.words.device_classes[key], self.view)
            if not found:
                return None
            if all(d.device_class == device_class for d in found):
                return replace(wanted, device_class=device_class)
            near = [d for d in found if d.area is not None and d.area == self.view.speaker_area]
            if not (selector.areas or selector.floors or selector.is_all):
                found = tuple(near) or found
                if len(found) > 1 and not near:
                    return None
            return Selector(device_ids=tuple(d.id for d in found), types=(device_type,))
        return None


def _has_any(device: Device, class_words: Sequence[str]) -> bool:
    return any(has_word(n, w) for n in device.names for w in class_words)


def replace_place(group: Group) -> Group:
    """The group without its room, which is an argument."""
    return Group(tuple(i for i in group.items if i.role not in (Role.AREA, Role.HERE)))


def _slightly(rule: ActRule, args: Mapping[str, Value]) -> dict[str, Value] | None:
    """Half of the usual difference; an act that knows no difference cannot be done slightly."""
    step = args.get(rule.amount or "")
    if rule.amount is None or not isinstance(step, (int, float)):
        return None
    return {**args, rule.amount: plain(step / 2 if abs(step) > 1 else step)}


def _is_wanted(group: Group) -> bool:
    """Whether "up" or "down" comes with a value to reach, not with a difference."""
    return group.has(Role.TO) or any(v.role is not Role.NUMBER for v in group.values)


def _is_surname(group: Group) -> bool:
    """Whether a word for a kind only follows a name ("kitchen light switch"); elsewhere it limits the types."""
    ends = [i.end for i in group.items if i.role is Role.NAME]
    kinds = [i.start for i in group.items if i.role in (Role.KIND, Role.CLASS)]
    return all(any(0 <= start - end <= 1 for end in ends) for start in kinds)


def _may_be_time(act: str, group: Group) -> bool:
    """ "at nine", "turn it on nine": a number without unit is a value only where a value is asked for."""
    is_bare = any(v.role is Role.NUMBER for v in group.values) and not group.has(Role.UNIT)
    return is_bare and (group.has(Role.AT) or (act != SETTING and not group.has(Role.TO)))


def _unit_arg(units: set[str], tool: Tool | None) -> dict[str, Value]:
    scale = units & {"celsius", "fahrenheit"}
    known = {p.name for p in tool.params} if tool else set()
    return {"unit": next(iter(scale))} if len(scale) == 1 and "unit" in known else {}


def _value(rule: ValueRule, item: Item, units: set[str]) -> Value:
    """What a piece means as this rule's value, or None."""
    if _VALUE_OF_ROLE[item.role] != rule.value:
        return None
    if rule.value != "number":
        return int(item.value) if rule.value == "white" else item.value
    if item.role is Role.LEVEL:
        return int(item.value) if "percent" in rule.units and not units else None
    is_fitting = bool(units & set(rule.units)) if units else rule.low <= item.number <= rule.high
    return plain(item.number) if is_fitting and not (units - set(rule.units)) else None
