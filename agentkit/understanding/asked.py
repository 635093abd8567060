"""Which devices a question is about: they must know the value, or be able to be in the state, that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentkit.devices.adapter import Device
from agentkit.understanding.asking import MOTION, PERSON
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.groups import Group
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.names import NameIndex
from agentkit.understanding.selecting import has_word
from agentkit.understanding.words import Words

Pool = tuple[Device, ...]
_NO_STATE = frozenset({"sensor", "scene", "script", "todo", "weather", "button", "calendar"})
_NOT_SWITCHED = frozenset({"cover", "lock", "valve", "binary_sensor", "person", "device_tracker", "timer", "update"})
"""Types that are on or off only in words of their own, so "is anything on" is not about them."""
_PEOPLE, _SENSING = (PERSON, "device_tracker"), ("occupancy", "presence")
_NAMING = (Role.NAME, Role.PART, Role.HINT)
_SENSORS = ("sensor", "binary_sensor")


@dataclass(frozen=True)
class AskedFinder:
    """Finds what is asked about in one home."""

    words: Words
    view: HomeView
    names: NameIndex
    attributes: Mapping[str, tuple[str, ...]]
    """Attribute → device types that may know it, besides sensors of that class."""
    everywhere: tuple[str, ...] = ()
    """Device types, states and attributes that are asked of the whole home, wherever the speaker is."""

    def find(
        self, group: Group, states: Sequence[str], attribute: str | None, *, is_listing: bool, is_any: bool = False
    ) -> Pool:
        """The devices, or none if the words name nothing that can answer; `is_any`: "anything" was asked about."""
        if len(group.of(Role.NAME)) > 1 or len(group.of(Role.PART)) > 1:
            return ()
        pool = self._named(group) if group.has(*_NAMING) else self._of_kind(group, states, attribute, is_any)
        if states:
            pool = self._able(pool, states)
            said = group.has(*_NAMING, Role.KIND, Role.CLASS)
            pool = pool if said else tuple(d for d in pool if d.type not in _NOT_SWITCHED or "." in states[0])
        if attribute:
            known = tuple(d for d in pool if self._knows(d, attribute))
            pool = known or (self._sensors_of(pool, attribute) if group.has(*_NAMING) else ())
        if not (states or attribute or group.has(*_NAMING, Role.KIND, Role.CLASS)):
            return ()
        if not states and any(d.type == "sensor" for d in pool):
            pool = tuple(d for d in pool if d.type != "binary_sensor")  # the level itself, not whether it is low
        is_everywhere = any(s.rpartition(".")[2] in self.everywhere for s in (*states, attribute or ""))
        is_everywhere = is_everywhere or (bool(states) and any(d.type in self.everywhere for d in pool))
        is_plural = bool(states) and any(i.is_plural for i in group.items if i.role in (Role.KIND, Role.CLASS))
        return self._near(pool, group, is_listing=is_listing or is_any or is_everywhere or is_plural)

    def people(self, group: Group) -> Pool:
        """What can tell who is there: people where no place is named, else what senses them in that place."""
        areas = group.has(Role.AREA, Role.FLOOR, Role.HERE)
        found = [d for d in self.placed(group) if areas == (d.type == "binary_sensor")]
        known = tuple(d for d in found if d.type in _PEOPLE or d.device_class in _SENSING)
        return known or tuple(d for d in found if d.device_class == MOTION)

    def of_kind(self, place: Group, kind: Item, state: str) -> Pool:
        """Devices of one kind in a place that can be in a state."""
        return self._able(tuple(d for d in self.placed(place) if self._fits(d, kind)), (state,))

    def placed(self, group: Group) -> Pool:
        """Devices in the places that are named."""
        areas, floors = set(group.of(Role.AREA)), group.of(Role.FLOOR)
        if group.has(Role.HERE) and self.view.speaker_area and not areas:
            areas = {self.view.speaker_area}
        if floors:
            on_floor = set(self.view.areas_of(floors))
            areas = areas & on_floor if areas else on_floor
        elif not areas:
            return self.view.devices
        return tuple(d for d in self.view.devices if d.area in areas)

    def _named(self, group: Group) -> Pool:
        names, parts, hints = set(group.of(Role.NAME)), set(group.of(Role.PART)), group.of(Role.HINT)
        if parts and not group.has(Role.KIND, Role.CLASS):
            return ()

        def fits(device: Device) -> bool:
            if not self.names.holds(device, hints):
                return False
            if names:
                return bool(names & set(device.names))
            if not parts:
                return self._is_kind(device, group)
            return bool(parts & self.names.parts[device.id]) and self._is_kind(device, group)

        placed = tuple(d for d in self.placed(group) if fits(d))
        found = placed or tuple(d for d in self.view.devices if fits(d) and d.area is None)
        kinds = [i for i in group.items if i.role in (Role.KIND, Role.CLASS)]
        return tuple(d for d in found if self._is_kind(d, Group(tuple(kinds)))) or (found if _is_behind(group) else ())

    def _of_kind(self, group: Group, states: Sequence[str], attribute: str | None, is_any: bool) -> Pool:
        placed = self.placed(group)
        classed = {s.partition(".")[0] for s in states if "." in s}
        said = {i.value.rpartition(".")[2] for i in group.items if i.role in (Role.KIND, Role.CLASS)}
        if (not said or classed & said) and (sensors := tuple(d for d in placed if _is_sensor(d, classed))):
            return sensors
        if not group.has(Role.KIND, Role.CLASS):
            is_open = attribute is not None or is_any or group.has(Role.ALL, Role.AREA, Role.FLOOR, Role.HERE)
            return placed if is_open else ()
        return tuple(d for d in placed if self._is_kind(d, group))

    def _is_kind(self, device: Device, group: Group) -> bool:
        """Whether every word for a kind fits: by type, by class or by the name of what has no class."""
        return all(self._fits(device, item) for item in group.items if item.role in (Role.KIND, Role.CLASS))

    def _fits(self, device: Device, item: Item) -> bool:
        if item.role is Role.KIND:
            return device.type == item.value
        kind, _, device_class = item.value.partition(".")
        if device.device_class == device_class:
            return device.type == kind or device.type in _SENSORS
        listed = (*self.words.device_classes.get(item.value, ()), *self.words.asked_classes.get(item.value, ()))
        return (
            device.type == kind
            and device.device_class is None
            and any(has_word(n, w) for n in device.names for w in listed)
        )

    def _able(self, pool: Pool, states: Sequence[str]) -> Pool:
        """Devices for which every state word has a meaning."""

        def fits(device: Device, state: str) -> bool:
            kind, _, _ = state.rpartition(".")
            return device.type not in _NO_STATE if not kind else kind in (device.type, device.device_class)

        return tuple(d for d in pool if all(fits(d, s) for s in states))

    def _knows(self, device: Device, attribute: str) -> bool:
        if device.type in _SENSORS:
            listed = self.words.attributes.get(attribute, ())
            by_name = device.device_class is None and any(has_word(n, w) for n in device.names for w in listed)
            return device.device_class == attribute or by_name
        return device.type in self.attributes.get(attribute, ())

    def _sensors_of(self, pool: Pool, attribute: str) -> Pool:
        """The sensor that belongs to what was named: its name starts alike."""
        starts = tuple(n.casefold() for d in pool for n in d.names)
        return tuple(
            d
            for d in self.view.devices
            if d.type in _SENSORS
            and self._knows(d, attribute)
            and any(n.casefold().startswith(starts) for n in d.names if starts)
        )

    def _near(self, pool: Pool, group: Group, *, is_listing: bool) -> Pool:
        """Without any place or name, the speaker's room is meant, if something is there."""
        is_placed = group.has(*_NAMING, Role.AREA, Role.FLOOR, Role.ALL, Role.HOME)
        here: Callable[[Device], bool] = lambda d: d.area is not None and d.area == self.view.speaker_area  # noqa: E731
        near = tuple(d for d in pool if here(d))
        return pool if is_placed or is_listing else near or pool


def _is_sensor(device: Device, classes: set[str]) -> bool:
    return device.type == "binary_sensor" and device.device_class in classes


def _is_behind(group: Group) -> bool:
    """Whether every word for a kind only follows the name ("the left corner robot vacuum")."""
    ends = [i.end for i in group.items if i.role in (Role.NAME, Role.PART)]
    kinds = [i.start for i in group.items if i.role in (Role.KIND, Role.CLASS)]
    return all(any(0 <= start - end <= 1 for end in ends) for start in kinds)
