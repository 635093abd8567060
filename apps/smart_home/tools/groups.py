"""Answers about the states of several devices: who is as asked, who is not, and who cannot tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.devices.view import View
from agentkit.understanding.tools import Answer

from .doors import is_door, open_behind, tells_only_lock, with_contacts
from .reading import has_state, is_lost, is_silent, spoken_state, state_word

CALLED_BY_CLASS = ("window", "door", "garage", "gate", "curtain", "blind", "shade", "shutter", "awning")
OF_MANY = ("any", "all", "which", "how_many")
SETTLED = frozenset(
    {
        *("locked", "closed", "shut", "off", "dry", "clear", "ok", "normal", "safe", "secure", "up_to_date"),
        *("docked", "connected", "armed"),
    }
)
"""States in which nothing needs a look: whether the home is locked is asked of all of its doors, whether it is open of
any."""
STATELESS = ("scene", "script")
"""What need not have a state: without one, there is nothing to say of it."""
NAMED = 4
"""More devices than this that are all in one state are counted."""
REACH = ("unavailable", "reachable")
"""What is asked of the way to a device, not of the device."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Survey:
    """What the devices tell of a state."""

    state: str
    hits: tuple[Device, ...]
    """Those in it."""
    rest: tuple[Device, ...]
    """Those that are not."""
    locks: tuple[Device, ...]
    """Those that only tell whether they are locked, where it is asked whether a door is open."""
    silent: tuple[Device, ...]
    """Those that tell nothing: offline, or in a state that nobody knows."""
    area: str | None = None
    """The speaker's room, if all of them are there and others of their kind are not."""

    @property
    def devices(self) -> tuple[Device, ...]:
        """All of them."""
        return (*self.hits, *self.rest, *self.locks, *self.silent)

    @property
    def values(self) -> dict[str, Any]:
        """What every answer may say."""
        total = len(self.hits) + len(self.rest)
        return {"state": self.state, "total": total, "type": kind_of(self.devices), "area": self.area}


def survey(devices: tuple[Device, ...], state: str, home: View | None) -> Survey:
    """Ask every device for a state; a lock is asked through the contact of its door."""
    known = tuple(d for d in devices if d.state is not None or d.type not in STATELESS)
    told = with_contacts(known or devices, state, home)
    silent = tuple(d for d in told if is_silent(d))
    telling = tuple(d for d in told if not is_silent(d))
    state = spoken_state(state, telling)
    locks = tuple(d for d in telling if tells_only_lock(d, state))
    asked = tuple(d for d in telling if d not in locks)
    hits = tuple(d for d in asked if has_state(d, state) or (len(asked) > 1 and _is_unsafe(d, state)))
    rest = tuple(d for d in asked if d not in hits)
    if state == "locked" and (ajar := open_behind(hits, home)):
        hits, rest = tuple(d for d in hits if d.id not in ajar), (*rest, *ajar.values())
    return Survey(state, hits, rest, locks, silent, _shared_area(devices, home))


def reach(devices: tuple[Device, ...], state: str, question: str) -> Answer:
    """Say which devices cannot be reached, whatever else they are doing."""
    lost = tuple(d for d in devices if is_lost(d))
    wants_lost = state == REACH[0]
    if len(devices) == 1:
        told = {**row(devices[0]), "state": REACH[0] if lost else REACH[1], "asked": state}
        return Answer("state.yes" if bool(lost) == wants_lost else "state.no", told)
    if question == "how_many":
        hits = lost if wants_lost else tuple(d for d in devices if d not in lost)
        return Answer("state.count", names(hits, state=state))
    if lost and not wants_lost:
        return Answer("state.all_no", names(lost, state=state, items=[offline_row(d) for d in lost]))
    if lost:
        return Answer("state.which" if question == "which" else "state.any_yes", names(lost, state=state))
    key = "all_yes" if not wants_lost else "none" if question == "which" else "any_no"
    return Answer(f"state.{key}", names(() if wants_lost else devices, state=state))


def answer(found: Survey, question: str) -> Answer:
    """Say what was found; what cannot be known is never passed over."""
    if len(found.devices) == 1 and (found.silent or question not in ("which", "how_many")):
        return _of_one(found)
    question = question if question in OF_MANY else "all" if found.state in SETTLED else "any"
    if question == "how_many" and (found.hits or not _beside(found, is_decided=False)):
        return Answer("state.count", {**names(found.hits), **found.values, **_beside(found, is_decided=False)})
    if question == "all":
        return _all(found)
    if found.hits:
        key = "state.which" if question == "which" else "state.any_yes"
        own = {"items": [row(d) for d in found.hits]} if found.state in ("locked", "unlocked", "safe") else {}
        return Answer(key, {**names(found.hits), **found.values, **own, **_beside(found, is_decided=True)})
    key = "state.none" if question == "which" else "state.any_no"
    return _unsure(found, found.rest, is_none=True) or Answer(
        key, {**names(()), **found.values, **_items(found.rest, found)}
    )


def _all(found: Survey) -> Answer:
    if found.rest:
        rows = {"items": [row(d) for d in found.rest]}
        return Answer("state.all_no", {**names(found.rest), **found.values, **rows, **_beside(found, is_decided=True)})
    is_told = len(found.hits) <= NAMED or len({state_word(d) for d in found.hits}) > 1
    few = {"items": [row(d) for d in found.hits]} if is_told else {}
    return _unsure(found, found.hits) or Answer("state.all_yes", {**names(found.hits), **found.values, **few})


def _of_one(found: Survey) -> Answer:
    device = found.devices[0]
    if found.silent:
        return silence(found.silent)
    if found.locks:
        return Answer("state.known", {**names(()), "others": [{**row(device), "kind": "only"}]})
    return Answer("state.yes" if found.hits else "state.no", {**row(device), "asked": found.state})


def _unsure(found: Survey, told: tuple[Device, ...], *, is_none: bool = False) -> Answer | None:
    """What is known, where some of the devices cannot tell. None if all of them tell."""
    beside = _beside(found, is_decided=False)
    if not beside:
        return None
    items = _items(told, found, is_rest=True) if told else {}
    return Answer("state.unsure" if found.silent else "state.known", {**names(()), **found.values, **items, **beside})


def _beside(found: Survey, *, is_decided: bool) -> dict[str, list[Row]]:
    """Who cannot tell; where the answer is clear without them, locks that are locked are not worth a word."""
    locks = [d for d in found.locks if not is_decided or d.state != "locked"]
    rows = [{**row(d), "kind": "only"} for d in locks] + [offline_row(d) for d in found.silent]
    return {"others": rows} if rows else {}


def _items(devices: tuple[Device, ...], found: Survey, *, is_rest: bool = False) -> dict[str, list[Row]]:
    """The states of some devices: of a few by their names, of many only if it is the same."""
    words = {state_word(d) for d in devices}
    if not words:
        return {}
    if len(devices) <= NAMED or len(words) > 1:
        return {"items": [row(d) for d in devices]}
    kind = "others" if is_rest else "every"
    return {
        "items": [{**names(devices), "state": words.pop(), "kind": kind, "area": found.area, "type": kind_of(devices)}]
    }


def silence(devices: tuple[Device, ...]) -> Answer:
    """Say that none of the devices can tell: they are offline, or never reported a state."""
    are_offline = any(map(is_lost, devices))
    return Answer("state.unavailable" if are_offline else "state.unknown", names(devices))


def kind_of(devices: Sequence[Device]) -> str | None:
    """What the devices are called together: by their class where people do so too; None if they are of many kinds."""
    if devices and all(is_door(d) for d in devices) and not all(d.type == "lock" for d in devices):
        return "door"
    if len({d.type for d in devices}) > 1:
        return None
    classes = {d.device_class for d in devices}
    shared = next(iter(classes)) if len(classes) == 1 else None
    return shared if shared in CALLED_BY_CLASS else next((d.type for d in devices), None)


def row(device: Device) -> Row:
    """What there is to say about the state of one device."""
    unit = device.attributes.get("unit_of_measurement") if device.type == "sensor" else None
    return {
        "name": device.name,
        "device_id": device.id,
        "type": device.type,
        "device_class": device.device_class,
        "area": device.area,
        "state": state_word(device),
        "unit": unit or "",
    }


def offline_row(device: Device) -> Row:
    """The same of a device that tells nothing."""
    is_offline = is_lost(device)
    return {**row(device), "state": "unavailable" if is_offline else "unknown", "unit": "", "kind": "offline"}


def names(devices: Sequence[Device], **more: Any) -> dict[str, Any]:
    """The devices that a sentence is about."""
    return {"names": [d.name for d in devices], "device_ids": [d.id for d in devices], "count": len(devices), **more}


def _is_unsafe(device: Device, state: str) -> bool:
    """Whether a lock is stuck or on its way: among several, whoever asks what is unlocked hears of it."""
    return device.type == "lock" and state == "unlocked" and device.state != "locked"


def _shared_area(devices: tuple[Device, ...], home: View | None) -> str | None:
    if home is None or home.area is None or any(d.area != home.area for d in devices):
        return None
    kinds = {(d.type, d.device_class) for d in devices}
    has_more = any((d.type, d.device_class) in kinds and d.area != home.area for d in home.devices)
    return home.area if has_more else None
