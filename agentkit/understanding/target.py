"""What a group of pieces acts on: a name, a part of one, a class, a kind, a place, or what was just spoken of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from agentkit.devices.adapter import Device
from agentkit.types import Selector
from agentkit.understanding.entries import PLACES, THINGS, Item, Role
from agentkit.understanding.groups import GUARDS, Group
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.names import NameIndex
from agentkit.understanding.selecting import has_word, is_called, of_class, select
from agentkit.understanding.strict import may_be, near_of
from agentkit.understanding.surname import is_behind, is_surname
from agentkit.understanding.words import Words

_OWN = (Role.NAME, Role.PART, Role.KIND, Role.CLASS, Role.AREA, Role.FLOOR)
"""What a group beside a pronoun may say of its own device."""


@dataclass(frozen=True)
class TargetFinder:
    """Finds targets in one home."""

    words: Words
    view: HomeView
    names: NameIndex
    is_absent_fine: bool = False
    """A kind that its place lacks is a target nonetheless, so that the refusal can say so."""

    def find(self, group: Group, types: tuple[str, ...], before: Selector | None, is_said: bool) -> Selector | None:
        """What the group acts on among some types, or None if it means nothing there is."""
        is_of_before = before is not None and not group.has(*THINGS)  # "… and dim it in the hall"
        if group.has(Role.IT) and group.has(*_OWN) and not is_of_before:
            group = Group(tuple(i for i in group.items if i.role is not Role.IT))  # "the lamp there, put it out"
        elif group.has(Role.IT):
            before = before or near_of(self.view, is_here=group.has(Role.HERE))
        if group.has(Role.IT) and (before is not None or not is_said):
            kept = tuple(t for t in types if before and t in before.types)
            return replace(before, types=kept) if before and kept else None
        is_placed = group.has(Role.AREA, Role.FLOOR)
        selector = Selector(
            areas=group.of(Role.AREA),
            floors=group.of(Role.FLOOR),
            types=types,
            is_all=group.is_all and not is_placed and not group.has(Role.HERE),
        )
        if kinds := group.of(Role.KIND):
            selector = replace(selector, types=tuple(t for t in types if t in kinds))
        if group.has(Role.NAME):
            named = replace(selector, types=types) if _is_surname(group) else selector
            is_open = before is not None and not (is_placed or group.has(Role.ALL, Role.HOME, Role.HERE))
            near = self._named(group, replace(named, areas=self._near(before))) if is_open and before else None
            is_near = near is not None and not GUARDS & set(near.types)
            return near if is_near else self._named(group, named)
        if group.has(Role.HINT):
            return self._hinted(group, replace(selector, types=types), is_said=is_said)
        if not selector.types or len(kinds) > 1:
            return None
        if group.has(Role.PART) and group.has(Role.HOME):
            return None
        if group.has(Role.PART):
            is_kind_said = bool(kinds) or group.has(Role.CLASS) or is_said
            return self._partly_named(group, selector, types, is_kind_said=is_kind_said)
        if before is not None and not (is_placed or selector.is_all or group.has(Role.HERE)):
            selector = self._nearby(group, selector, before)
        if classes := group.of(Role.CLASS):
            return self._classed(classes, selector, group)
        if not kinds and before is not None and not (is_placed or selector.is_all or group.has(Role.HERE)):
            kept = tuple(t for t in types if t in before.types)  # "… and turn the volume up": of what was just named
            return replace(before, types=kept) if is_said and kept else None
        if not kinds:
            selector = replace(selector, types=types[:1])
            return selector if is_said and self._is_there(selector) else None
        return selector if self._is_there(selector) else None

    def _is_there(self, selector: Selector) -> bool:
        return self._is_absent(selector) or bool(select(selector, self.view))

    def _is_absent(self, selector: Selector) -> bool:
        return self.is_absent_fine and bool(selector.areas or selector.floors)

    def _near(self, before: Selector) -> tuple[str, ...]:
        """The one room that was just spoken of; none if there were several."""
        near = {d.area for d in select(before, self.view)}
        area = next(iter(near)) if len(near) == 1 else None
        return (area,) if area else ()

    def _nearby(self, group: Group, selector: Selector, before: Selector) -> Selector:
        """The selector in the one room that was just spoken of, if such devices are there ("… and the fan")."""
        near = self._near(before)
        if not near or not group.has(Role.KIND, Role.CLASS) or GUARDS & set(selector.types):
            return selector
        placed = replace(selector, areas=near)
        listed = [c.partition(".") for c in group.of(Role.CLASS)]
        classed = any(
            of_class(replace(placed, types=(t,)), c, self.words.device_classes[f"{t}.{c}"], self.view)
            for t, _, c in listed
        )
        return placed if classed or (not listed and select(placed, self.view)) else selector

    def everything(self, group: Group, types: tuple[str, ...]) -> Selector | None:
        """All devices of these types in the whole home or a place, if nothing but "everything" and a place is said."""
        areas = group.of(Role.AREA)
        if group.has(Role.HERE) and self.view.speaker_area and not areas:
            areas = (self.view.speaker_area,)
        floors = group.of(Role.FLOOR)
        if not group.has(Role.ALL) or any(i.role not in PLACES for i in group.items):
            return None
        selector = Selector(areas=areas, floors=floors, types=types, is_all=not (areas or floors))
        return selector if select(selector, self.view) else None

    def called(self, listed: Sequence[str], types: tuple[str, ...]) -> Selector | None:
        """The one device of these types with such a word in its name."""
        found = [d for d in self.view.devices if d.type in types and _has_any(d, listed)]
        return Selector(device_ids=(found[0].id,), types=(found[0].type,)) if len(found) == 1 else None

    def _named(self, group: Group, selector: Selector) -> Selector | None:
        names = group.of(Role.NAME)
        is_plural = any(i.is_plural for i in group.items if i.role is Role.NAME)  # "the wall lights" called wall light
        series = self.names.series.get(names[0], ()) if is_plural else ()
        found = select(replace(selector, names=(*names, *series)), self.view)
        if not found:
            roomless = select(replace(selector, names=names, areas=(), floors=()), self.view)
            found = tuple(d for d in roomless if d.area is None)
        if len(names) > 1 or not found or not self._is_all_of(group, found):
            return None
        types = tuple(dict.fromkeys(d.type for d in found))
        if series:
            return Selector(device_ids=tuple(d.id for d in found), types=types)
        return replace(selector, names=names, types=types, is_all=selector.is_all or is_plural)

    def _is_all_of(self, group: Group, found: Sequence[Device]) -> bool:
        """Whether the other words for things describe the named device too; else a second thing stands beside it."""
        parts = {p for d in found for p in self.names.parts[d.id]}
        kinds = [i for i in group.items if i.role is Role.KIND]
        classes = [i for i in group.items if i.role is Role.CLASS]
        return (
            set(group.of(Role.PART)) <= parts
            and any(self.names.holds(d, group.of(Role.HINT)) for d in found)
            and any(self._is_called(d, group, kinds) and self._is_kind(d, classes) for d in found)
        )

    def _is_called(self, device: Device, group: Group, kinds: Sequence[Item]) -> bool:
        if not _is_surname(group):
            return self._is_kind(device, kinds)
        return all(is_surname(device, k, self.words) for k in kinds)

    def _hinted(self, group: Group, selector: Selector, *, is_said: bool) -> Selector | None:
        """The device whose name holds all hints; without a word for its kind, no other device's name may."""
        kinds = [i for i in group.items if i.role in (Role.KIND, Role.CLASS)]
        hints = group.of(Role.HINT)
        is_bare = not kinds and (not self._is_one_name(hints) or set(hints) <= set(self.words.adjectives))
        if group.has(Role.PART, Role.HOME) or is_bare:
            return None
        placed = select(selector, self.view)
        told = tuple(d for d in placed if self.names.holds(d, hints))
        found = tuple(d for d in told if self._is_kind(d, kinds))
        if not found and kinds:  # "the shed light" for the switch of it
            worked = (d for d in told if any(d.type in self.words.stand_ins.get(k.value, ()) for k in kinds))
            found = tuple(d for d in worked if not self._is_whole(d, hints))
        is_several = group.has(Role.ALL) or any(i.is_plural for i in group.items if i in kinds or i.role is Role.HINT)
        is_unclear = len(found) > 1 and not is_several
        if not found or (is_unclear and not (self.is_absent_fine and kinds)):
            return None
        types = tuple(dict.fromkeys(d.type for d in found))
        return Selector(device_ids=tuple(d.id for d in found), types=types, is_one=is_unclear)

    def _is_one_name(self, hints: Sequence[str]) -> bool:
        """Whether hints are one, or together all the words of a name."""
        said = sorted(w for h in hints for w in h.split())
        return len(hints) == 1 or any(said == sorted(n.split()) for ns in self.names.folded.values() for n in ns)

    def _is_kind(self, device: Device, kinds: Sequence[Item]) -> bool:
        """By type or class, or by the word itself in the device's name ("heater" for a switch called so)."""
        for item in kinds:
            kind, _, device_class = item.value.partition(".")
            listed = (self.words.device_classes if device_class else self.words.kinds)[item.value]
            is_type = device.type == kind and device_class in ("", device.device_class)
            if not is_type and not _has_any(device, listed):
                return False
        return True

    def _is_whole(self, device: Device, hints: Sequence[str]) -> bool:
        """Whether hints end a name and so tell the thing itself: the light of a coffee machine is not the machine."""
        return any(name.endswith(tuple(hints)) for name in self.names.folded[device.id])

    def _partly_named(
        self, group: Group, selector: Selector, types: tuple[str, ...], *, is_kind_said: bool
    ) -> Selector | None:
        """Devices whose names hold everything but the word for their kind; alone it must be no place and no other's.

        `types` are those that can be acted on, where those of the selector are of the kind that was said.
        """
        part = group.of(Role.PART)
        owners = sum(bool(self.names.parts[d.id] & set(part)) for d in self.view.devices)
        unsaying = self.names.places | set(self.words.adjectives)
        if not is_kind_said and (owners != 1 or unsaying & set(part)):
            return None
        found = [d for d in select(selector, self.view) if self.names.parts[d.id] & set(part)]
        if not found and group.has(Role.KIND):  # "the shed light" for the switch of it
            worked = tuple(t for k in group.of(Role.KIND) for t in self.words.stand_ins.get(k, ()))
            able = tuple(t for t in types if t in worked)
            others = select(replace(selector, types=able), self.view) if able else ()
            found = [d for d in others if self.names.parts[d.id] & set(part)]
        if classes := group.of(Role.CLASS):
            found = [d for d in found if any(self._is_of_class(d, c) for c in classes)]
            if self._is_named_elsewhere({i.text for i in group.items if i.role is Role.CLASS}, found):
                return None
        if len(part) > 1 or len(found) != 1 or group.has(Role.HOME):
            return None  # "the house from the garage side": the whole home and a part of it at once
        return Selector(device_ids=(found[0].id,), types=(found[0].type,))

    def _classed(self, classes: tuple[str, ...], selector: Selector, group: Group) -> Selector | None:
        """Devices of a class; if only their names tell the class, they are listed by id."""
        for key in classes:
            device_type, _, device_class = key.partition(".")
            if len(classes) > 1 or device_type not in selector.types:
                continue
            wanted = replace(selector, types=(device_type,))
            said = {i.text for i in group.items if i.role is Role.CLASS}
            placed = select(wanted, self.view)
            strangers = [d for d in placed if not may_be(d, key, selector, self.view, self.words)]
            called = (d for d in placed if d not in strangers and any(is_called(n, w) for n in d.names for w in said))
            exact = [d for d in called if self._is_of_class(d, key)]
            if len(exact) == 1 and not any(i.is_plural for i in group.items):
                return Selector(device_ids=(exact[0].id,), types=(device_type,))  # one "soundbar" among the speakers
            if self._is_named_elsewhere(said, exact):
                return None
            found = of_class(wanted, device_class, self.words.device_classes[key], self.view)
            found = tuple(d for d in found if self._is_of_class(d, key) and d not in strangers)
            if not found:
                is_lacking = self.is_absent_fine and key not in self.words.strict_classes
                return replace(wanted, device_class=device_class) if is_lacking else None
            if all(d.device_class == device_class for d in found):
                return replace(wanted, device_class=device_class)
            near = [d for d in found if d.area is not None and d.area == self.view.speaker_area]
            if not (selector.areas or selector.floors or selector.is_all):
                found = tuple(near) or found
                if len(found) > 1 and not near:
                    return None
            return Selector(device_ids=tuple(d.id for d in found), types=(device_type,))
        return None

    def _is_named_elsewhere(self, said: Collection[str], found: Sequence[Device]) -> bool:
        """Whether a word for a class is the name of a device, and of none found: "the radio in the bedroom"."""
        is_name = any(n in said for names in self.names.folded.values() for n in names)
        return is_name and not any(_has_any(d, tuple(said)) for d in found)

    def _is_of_class(self, device: Device, key: str) -> bool:
        """By what a device reports, or by a name that ends with no longer word for another class (百叶窗 is no 窗)."""
        mine = self.words.device_classes[key]
        others = [w for k, listed in self.words.device_classes.items() if k != key for w in listed if not w.isascii()]
        called = [n for n in device.names if any(is_called(n, w) for w in mine)]
        longest = {n: max((len(w) for w in mine if n.endswith(w)), default=0) for n in called}
        is_called_so = any(not any(n.endswith(w) and len(w) > longest[n] for w in others) for n in called)
        return device.device_class == key.partition(".")[2] or is_called_so


def _has_any(device: Device, class_words: Sequence[str]) -> bool:
    return any(has_word(n, w) for n in device.names for w in class_words)


def _is_surname(group: Group) -> bool:
    """Whether a word for a kind only follows a name ("kitchen light switch"); elsewhere it limits the types."""
    names = [i for i in group.items if i.role is Role.NAME]
    kinds = [i for i in group.items if i.role in (Role.KIND, Role.CLASS)]
    return all(any(is_behind(kind, name) for name in names) for kind in kinds)
