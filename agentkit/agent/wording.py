"""How one language names devices, rooms, states, numbers and durations. All words are the app's data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agentkit.devices.adapter import Area, Device, Floor
from agentkit.understanding.home_view import HomeView

_CJK = re.compile(r"[\u3400-\u9fff]")
_UNSPEAKABLE = re.compile(r"[*_`#<>|{}\[\]\\]+|\s+")
_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
_THINGS = frozenset({"device", "devices", "device_id", "device_ids", "options"})
_PLACES = frozenset({"area", "room"})
_SECONDS = frozenset({"duration", "left", "seconds", "period"})
_STATES = frozenset({"state", "asked"})
_KINDS = frozenset({"kind", "type"})
_IDENTITY = frozenset({"name", "device_id", "area", "type", "device_class"})
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Wording:
    """The words and the small grammar of one language."""

    language: str
    grammar: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Device class or type → its word for one and for several."""
    states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Device class, type or "default" → state → word."""
    words: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name of a value (mode, unit …) → value → word."""
    plain: frozenset[str] = frozenset()
    """Words that are no proper names, so they lose their capital in the middle of a sentence."""

    def value(
        self, name: str, value: Any, home: HomeView, device: Device | None = None, others: Mapping[str, Any] = _NOTHING
    ) -> str:
        """Say one value of a sentence: ids become names, seconds durations, states and modes words."""
        if isinstance(value, (list, tuple)):
            last = "or" if name == "options" else "and"
            return self.join([self.value(name, x, home, device, others) for x in value], last)
        if name in _THINGS:
            return self.thing(str(value), home)
        if name in _PLACES:
            return self.place(str(value), home)
        if name in _SECONDS and isinstance(value, (int, float)):
            return self.duration(value)
        if name in _STATES:
            return self.state(value, _kinds_of(device) or (str(others.get("type")),))
        if name in _KINDS and value in self.kinds:
            return str(self.kinds[value][0 if self.grammar.get("is_cjk") else -1])
        table = self.words.get(str(others.get("attribute", name)) if name == "value" else name, {})
        return clean(str(table.get(_key(value), _key(value))))

    def about(
        self, ids: Sequence[str], home: HomeView, given: Mapping[str, Any], *, is_counted: bool
    ) -> dict[str, str]:
        """Values of the devices that a sentence is about: their names or number, and verbs that agree with them."""
        known = [d for d in map(home.device, ids) if d]
        n = int(given.get("count", given.get("total", len(ids))))
        kind = str(given.get("type")) if not known or "count" in given else ""
        many = n != 1 or bool(self.grammar.get("is_cjk"))
        word = str(self.kinds[kind][-1 if many else 0]) if kind in self.kinds else self.kind(known, many=many)
        found = {"n": str(given.get("n", n)), "counted": str(self.grammar["counted"]).format(n=n, kind=word)}
        if ids:
            is_rest = bool(given.get("is_rest"))
            found["devices"], is_plural = self.devices(ids, home, is_counted=is_counted, is_rest=is_rest)
        else:
            is_plural = n != 1
        return found | {verb: forms if is_plural else verb for verb, forms in self._verbs().items()}

    def thing(self, device_id: str, home: HomeView) -> str:
        """Name a device or area by its id or by any of its names; a word that is neither stays as it is."""
        device = home.device(device_id) or next(iter(home.named(device_id)), None)
        if device is None or any(device_id in area.names for area in home.areas):
            return self.place(device_id, home)
        return self.device(device, home)

    def device(self, device: Device, home: HomeView) -> str:
        """Name a device, with its room if another device is called the same."""
        has_article = device.type not in (self.grammar.get("without_article") or ())
        own = self.name_of(device.names)
        name = self._spoken(own, home, has_article=has_article)
        area = home.area(device.area)
        has_twin = any(d.id != device.id and self.name_of(d.names) == own for d in home.named(own))
        if has_twin and area and self.name_of(area.names).lower() not in name.lower():
            return str(self.grammar.get("in_area", "{name}")).format(name=name, area=self.place(area.id, home))
        return name

    def devices(
        self, ids: Sequence[str], home: HomeView, *, is_counted: bool, is_rest: bool = False
    ) -> tuple[str, bool]:
        """Name devices; many are counted, or only the first are named. Returns the text and whether it is a plural.

        `is_rest`: others of their kind were spoken of before.
        """
        named, listed = int(self.grammar.get("at_most_named", 4)), int(self.grammar.get("at_most_listed", 8))
        if is_counted and len(ids) > named:
            kind = self.kind([d for d in map(home.device, ids) if d], many=True)
            form = self.grammar.get("others" if is_rest else "counted", self.grammar["counted"])
            return str(form).format(n=len(ids), kind=kind), True
        names = [self.thing(i, home) for i in ids]
        if len(names) > listed:
            names = [*names[: listed - 1], str(self.grammar["more"]).format(n=len(names) - listed + 1)]
        return self.join(names), len(ids) > 1 or self._is_plural(names[0])

    def kind(self, devices: Sequence[Device], *, many: bool) -> str:
        """The common word for some devices: their class if they share one, else their type, else "device"."""
        classes, types = {d.device_class for d in devices}, {d.type for d in devices}
        shared = [str(next(iter(x))) for x in (classes, types) if len(x) == 1]
        key = next((k for k in shared if k in self.kinds), "device")
        return self.kinds[key][-1 if many else 0]

    def place(self, area_id: str, home: HomeView) -> str:
        """Name an area or floor by its id or one of its names; a word that is neither stays as it is."""
        area: Area | None = home.area(area_id) or next((a for a in home.areas if area_id in a.names), None)
        floor: Floor | None = home.floor(area_id)
        names = area.names if area else floor.names if floor else None
        return self._spoken(self.name_of(names), home) if names else clean(area_id)

    def state(self, state: Any, kinds: Sequence[str]) -> str:
        """Say a state in the way that fits the device class or type."""
        key = _key(state)
        tables = [self.states.get(k, {}) for k in kinds] + [self.states.get("default", {})]
        return clean(str(next((t[key] for t in tables if key in t), key.replace("_", " "))))

    def name_of(self, names: Sequence[str]) -> str:
        """The first name that is written in this language's script; names never lack altogether."""
        wants_cjk = bool(self.grammar.get("is_cjk"))
        return next((n for n in names if bool(_CJK.search(n)) == wants_cjk), names[0])

    def join(self, items: Sequence[str], last: str = "and", between: str = "between") -> str:
        """Join items as a list in a sentence; `last` and `between` are keys of the grammar."""
        if len(items) < 2:
            return "".join(items)
        return str(self.grammar[between]).join(items[:-1]) + str(self.grammar[last]) + items[-1]

    def join_clauses(self, items: Sequence[str]) -> str:
        """Join half sentences."""
        return self.join(items, "and_clauses", "between_clauses")

    def duration(self, seconds: float) -> str:
        """Say a length of time with its two largest units."""
        rest, parts = max(0, round(seconds)), list[str]()
        for unit, size in _UNITS:
            count, rest = divmod(rest, size)
            one, many = self.words["duration"][unit]
            if count or (unit == "second" and not parts):
                parts.append(str(self.grammar["measured"]).format(n=count, unit=one if count == 1 else many))
        return str(self.grammar["and_units"]).join(parts[:2])

    def verbs(self) -> frozenset[str]:
        """Placeholders that are verbs which agree with {devices}."""
        return frozenset(self._verbs())

    def _verbs(self) -> Mapping[str, str]:
        return self.grammar.get("plural_verbs") or {}

    def _spoken(self, name: str, home: HomeView, *, has_article: bool = True) -> str:
        name = clean(name)
        article = str(self.grammar.get("article", ""))
        if not (article and has_article) or _CJK.search(name):
            return name
        if name.lower().startswith(("the ", "my ", "our ")) or "'s " in name.lower():
            return name[0].lower() + name[1:]
        words = name.split()
        plain = [w if w.isupper() and len(w) > 1 else w.lower() for w in words]
        return article + " ".join(plain if self._are_plain(words, home) else words)

    def _are_plain(self, words: Sequence[str], home: HomeView) -> bool:
        """True if no word but acronyms and numbers could be a proper name."""
        known = self.plain | {w.lower() for pair in self.kinds.values() for word in pair for w in word.split()}
        places = [n for area in home.areas for n in area.names] + [n for floor in home.floors for n in floor.names]
        known |= {w.lower() for place in places for w in place.split()}
        return all(w.lower() in known or w.isdigit() or w.isupper() for w in words)

    def _is_plural(self, name: str) -> bool:
        last = name.rsplit(" ", 1)[-1].lower()
        return any(last == pair[-1].rsplit(" ", 1)[-1].lower() != pair[0].lower() for pair in self.kinds.values())


def clean(text: str) -> str:
    """Text fit for speech: no markup, no line breaks."""
    return _UNSPEAKABLE.sub(" ", text).strip()


def capitalise(text: str) -> str:
    """Start with a capital letter and leave the rest."""
    return text[:1].upper() + text[1:]


def ids_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the devices that a sentence is about."""
    found = next((values[k] for k in ("devices", "device", "device_ids", "device_id") if values.get(k)), ())
    return (found,) if isinstance(found, str) else tuple(found)


def merge_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Join the rows of a table that say the same of different devices."""
    merged: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = str({k: v for k, v in row.items() if k not in _IDENTITY})
        one = merged.setdefault(key, {**row, "devices": ()})
        one["devices"] = (*one["devices"], *ids_of(row))
    return list(merged.values())


def classes_of(devices: Iterable[Device | None]) -> tuple[str, ...]:
    """Classes and types that all these devices share, the finer first."""
    found = [_kinds_of(d) for d in devices]
    return tuple(k for k in found[0] if all(k in other for other in found[1:])) if found else ()


def _kinds_of(device: Device | None) -> tuple[str, ...]:
    return tuple(k for k in (device.device_class, device.type) if k) if device else ()


def _key(value: Any) -> str:
    """Value as a key of the word tables and as plain text."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.1f}"
    return str(value)
