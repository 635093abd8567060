"""Read questions by their pieces: what is asked of which devices, in any word order, with nothing left over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Selector, Value
from agentkit.understanding.ask_map import AskMap
from agentkit.understanding.entries import PLACES, Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import fold_listed
from agentkit.understanding.selecting import of_class, select
from agentkit.understanding.words import Words

PERSON, MOTION = "person", "motion"
_SEVERAL = ("any", "how_many")
_SENSING = ("occupancy", "presence")
_SENSORS = ("sensor", "binary_sensor")
IDLE = frozenset({Role.FILLER, Role.PREPOSITION, Role.COPULA, Role.ALSO, Role.HERE})
_TARGETS = frozenset({Role.NAME, Role.AREA, Role.FLOOR, Role.KIND, Role.CLASS, Role.ALL, Role.HOME})
_MEANT = _TARGETS | {Role.ASK, Role.REPORT, Role.TOPIC}


_PLACED = PLACES | {Role.NAME}


@dataclass(frozen=True)
class AskReader:
    """Reads the cut of a question in one home."""

    asks: AskMap
    words: Words
    view: HomeView

    def read(self, cut: Sequence[Item], *, is_question: bool) -> tuple[Intent, ...]:
        """The question as a call, or nothing. `is_question`: the sentence is marked as one."""
        items = [i for i in cut if i.role not in IDLE]
        if any(i.role not in _MEANT for i in items) or not any(i.role is not Role.ASK for i in items):
            return ()
        kinds = {i.value for i in items if i.role is Role.ASK}
        reports = list(dict.fromkeys(i.value for i in items if i.role is Role.REPORT))
        topics = list(dict.fromkeys(i.value for i in items if i.role is Role.TOPIC))
        is_here = any(i.role is Role.HERE for i in cut)
        if len(reports) + len(topics) > 1:
            return ()
        if topics:
            return self._value(topics[0], items, is_here) if kinds <= {"value", "yes_no"} else ()
        if not kinds and not is_question:
            return ()
        if reports:
            return self._state(reports[0], items, kinds, is_here)
        return self._plain(items, kinds or {"value"})

    def _value(self, topic: str, items: Sequence[Item], is_here: bool) -> tuple[Intent, ...]:
        types = self.asks.attributes.get(topic, ())
        found = [d for d in self._candidates(items, is_here) if _has_value(d, topic, types)]
        if not found and not is_here and not any(i.role in _TARGETS for i in items):
            found = [d for d in self.view.devices if _has_value(d, topic, types)]  # a meter stands in no room
        if not any(i.role in _PLACED for i in items):
            found = [d for d in found if d.area is not None and d.area == self.view.speaker_area] or found
        if not found:
            return ()
        if topic in self.asks.tools:
            return (_intent(self.asks.tools[topic], found, {}),)
        return (_intent(self.asks.tool, found, {"attribute": topic, "question": "one"}),)

    def _state(self, report: str, items: Sequence[Item], kinds: set[str], is_here: bool) -> tuple[Intent, ...]:
        sense, _, state = report.rpartition(".")
        items, state = self._as_class(items, state, kinds)
        candidates = self._candidates(items, is_here, state=state, is_listing=bool(kinds & {"how_many", "which"}))
        found = [d for d in candidates if self.asks.can_be(d, state) and _is_of_sense(d, sense)]
        if not found and sense in _SENSING and not any(i.role in (Role.NAME, Role.KIND, Role.CLASS) for i in items):
            return (self._who(items, is_here, is_empty=state == "clear"),)
        if not found or (kinds & {"value"} and len(kinds) == 1):
            return ()
        question = next((k for k in ("how_many", "which") if k in kinds), "")
        if not question:
            is_all = any(i.role is Role.ALL for i in items) and len(found) > 1
            question = "all" if is_all else "yes_no"
        return (_intent(self.asks.tool, found, {"state": state, "question": question}),)

    def _as_class(self, items: Sequence[Item], state: str, kinds: set[str]) -> tuple[Sequence[Item], str]:
        """A room whose name is also a word for what opens it, asked whether it is open: "the garage" is its door."""
        rooms = [i for i in items if i.role is Role.AREA and self.asks.wide_key(i.text, self.words)]
        is_of_things = any(i.role in (Role.NAME, Role.KIND, Role.CLASS, Role.ALL) for i in items)
        if not rooms or is_of_things or kinds & {"how_many", "which"}:
            return items, state
        key = self.asks.wide_key(rooms[0].text, self.words)
        report = next(i.text for i in items if i.role is Role.REPORT)
        fitting = (s for s in self._states_of(key) if report in self._said(s))
        meant = next(fitting, None)
        if meant is None or not any(self.asks.is_wide(d, key) for d in self.view.devices):
            return items, state
        return [replace(i, role=Role.CLASS, value=key) if i is rooms[0] else i for i in items], meant

    def _states_of(self, key: str) -> list[str]:
        """States that devices of a class can be in."""
        return [s for s, groups in self.asks.states.items() if key.partition(".")[0] in groups]

    def _said(self, state: str) -> set[str]:
        return {fold_listed(w, self.words) for w in self.words.reports.get(state, ())}

    def _who(self, items: Sequence[Item], is_here: bool, *, is_empty: bool) -> Intent:
        """The question for people where nothing senses them: what senses motion is asked, else it cannot be known."""
        areas = tuple(dict.fromkeys(i.value for i in items if i.role is Role.AREA))
        floors = tuple(dict.fromkeys(i.value for i in items if i.role is Role.FLOOR))
        here = (self.view.speaker_area,) if is_here and self.view.speaker_area and not areas and not floors else ()
        placed = select(Selector(areas=(*areas, *here), floors=floors), self.view) if areas or floors or here else ()
        if moved := [d for d in placed if d.type == "binary_sensor" and d.device_class == MOTION]:
            return _intent(self.asks.tool, moved, {"question": "one"})
        args: dict[str, Value] = (
            {"question": "all", "state": "away"} if is_empty else {"question": "any", "state": "home"}
        )
        return Intent(self.asks.tool, args, Selector(areas=(*areas, *here), floors=floors, types=(PERSON,)))

    def _plain(self, items: Sequence[Item], kinds: set[str]) -> tuple[Intent, ...]:
        """ "how is the lamp", "how many lamps are there"."""
        if not any(i.role in (Role.NAME, Role.KIND, Role.CLASS) for i in items):
            return ()
        is_counted = "how_many" in kinds and any(i.role in (Role.KIND, Role.CLASS) for i in items)
        question = "how_many" if is_counted else "one"
        if not kinds & {"how_many", "which", "value"}:
            return ()
        found = self._candidates(items, False)
        return (_intent(self.asks.tool, found, {"question": question}),) if found else ()

    def _candidates(
        self, items: Sequence[Item], is_here: bool, *, state: str = "", is_listing: bool = False
    ) -> list[Device]:
        """Devices that every selecting word fits; those of the speaker's room if no word selects."""

        def of(role: Role) -> tuple[str, ...]:
            return tuple(dict.fromkeys(i.value for i in items if i.role is role))

        names, classes = of(Role.NAME), of(Role.CLASS)
        place = Selector(areas=of(Role.AREA), floors=of(Role.FLOOR))
        selector = Selector(names=names, areas=place.areas, floors=place.floors)
        found = list(select(selector, self.view))
        if names and not found:
            found = [d for d in select(Selector(names=names), self.view) if d.area is None]
        if not names:
            found = self._of_kinds(found, [i for i in items if i.role in (Role.KIND, Role.CLASS)], selector, state)
        is_near = not names and not of(Role.ALL) and not of(Role.HOME) and not place.areas and not place.floors
        if is_here or (is_near and not is_listing and not of(Role.KIND) and not classes):
            here = [d for d in found if d.area is not None and d.area == self.view.speaker_area]
            here = found if not is_here and self.asks.is_everywhere(state) else here
            found = here or ([] if is_here and self.view.speaker_area else found)
        return found

    def _of_kinds(self, found: list[Device], kinds: Sequence[Item], selector: Selector, state: str) -> list[Device]:
        """Devices that every word for a kind fits; words that mean more in this question are joined instead."""
        keys = {i: key for i in kinds if (key := self.asks.wide_key(i.text, self.words)) and self._is_of(state, key)}
        types = {i.value for i in kinds if i.role is Role.KIND}
        classed = {d.id for i in kinds if i.role is Role.CLASS for d in self._of_class(i.value, selector)}
        if keys:
            wide = (d for d in found if any(self.asks.is_wide(d, key) for key in keys.values()))
            return list({d.id: d for d in (*wide, *(d for d in found if d.id in classed or d.type in types))}.values())
        found = [d for d in found if d.type in types] if types else found
        return [d for d in found if d.id in classed] if len(types) < len(kinds) else found

    def _is_of(self, state: str, key: str) -> bool:
        return key.partition(".")[0] in self.asks.states.get(state, ())

    def _of_class(self, key: str, selector: Selector) -> list[Device]:
        device_type, _, device_class = key.partition(".")
        listed = self.words.device_classes[key]
        by_type = of_class(
            Selector(areas=selector.areas, floors=selector.floors, types=(device_type,)),
            device_class,
            listed,
            self.view,
        )
        sensors = select(Selector(areas=selector.areas, floors=selector.floors, types=_SENSORS), self.view)
        told = [d for d in sensors if d.device_class == device_class]
        # where something tells of a window, a blind that is only called like one is not asked
        return [*(d for d in by_type if not told or d.device_class in (None, device_class)), *told]


def first_wide(
    readings: Iterable[tuple[Sequence[Item], tuple[Intent, ...]]], asks: AskMap, words: Words
) -> tuple[Intent, ...]:
    """The first reading of the cuts of a question; one of all of a single device yields to one of a whole kind."""
    narrow: tuple[Intent, ...] = ()
    for cut, found in readings:
        names = [i for i in cut if i.role is Role.NAME]
        is_several = any(i.role is Role.ALL or (i.role is Role.ASK and i.value in _SEVERAL) for i in cut)
        states = [i.value.rpartition(".")[2] for i in cut if i.role in (Role.REPORT, Role.ASKED)]
        is_wide = is_several or any(i.is_plural or asks.is_general(i.text, words, states) for i in names)
        is_plural = len(names) == 1 and is_wide
        if found and not narrow and not is_plural:
            return found
        if narrow and found and not names:
            return found if _ids(narrow) <= _ids(found) else narrow
        narrow = narrow or found
    return narrow


def _ids(found: Sequence[Intent]) -> set[str]:
    return {i for intent in found for i in intent.selector.device_ids}


def _intent(tool: str, devices: Sequence[Device], args: Mapping[str, Value]) -> Intent:
    return Intent(tool, dict(args), Selector(device_ids=tuple(d.id for d in devices)))


def _has_value(device: Device, topic: str, types: Sequence[str]) -> bool:
    return device.type in types or (device.type in _SENSORS and device.device_class == topic)


def _is_of_sense(device: Device, sense: str) -> bool:
    """Whether a device is the sensor that a question wants ("smoke"), if it wants one."""
    return not sense or sense in (device.device_class, device.type)
