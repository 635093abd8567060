"""Turn an intent's words into device ids: verb × kind × room × floor × name. Pure.

Reply keys: ask.which, ask.which_area; refused.unknown_device, .unknown_area, .unsupported, .nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentkit.agent.question import Question, which
from agentkit.devices.adapter import Device
from agentkit.types import Action, Args, Intent, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import has_word
from agentkit.understanding.tools import Tool

PLURAL = frozenset({"any", "all", "which", "how_many"})
"""Questions about many devices; without a place they are about the whole home."""
_TELLING = frozenset({"person", "device_tracker", "sensor", "binary_sensor", "weather"})
"""Types that only tell: without one, what it would tell is not known."""


@dataclass(frozen=True)
class Step:
    """One run of a tool's function."""

    tool: Tool
    args: Args
    device_ids: tuple[str, ...] = ()
    """One for a tool that works per device, any number for one that takes them all, none for a tool of the home."""

    @property
    def action(self) -> Action:
        """The step as clients see it."""
        return Action(self.tool.name, self.args, self.device_ids[0] if len(self.device_ids) == 1 else None)


@dataclass(frozen=True)
class Resolved:
    """The intent names these devices and no others."""

    steps: tuple[Step, ...]

    @property
    def actions(self) -> tuple[Action, ...]:
        """What would be done."""
        return tuple(step.action for step in self.steps)

    @property
    def device_ids(self) -> tuple[str, ...]:
        """Every device reached, in the home's order."""
        return tuple(dict.fromkeys(i for step in self.steps for i in step.device_ids))


@dataclass(frozen=True)
class Refusal:
    """Nothing in this home fits; the sentence names what is missing."""

    reply_key: str
    values: Mapping[str, Any] = field(default_factory=dict)


Resolution = Resolved | Question | Refusal


def resolve(intent: Intent, view: HomeView, tool: Tool, speaker_area: str | None = None) -> Resolution:
    """Find the devices of an intent.

    Ids win over names, names over kinds. A name in several rooms is decided by the speaker's room; so is a kind without
    a name or room, when that room has such a device; but "which lights are on" asks about the whole home. Availability
    plays no part: execution reports it.
    """
    if tool.scope == "home":
        return Resolved((Step(tool, intent.args),))
    selector, speaker_area = intent.selector, speaker_area or view.speaker_area
    missing = _unknown_place(selector, view)
    if missing:
        return missing
    if selector.device_ids:
        found = _by_id(selector.device_ids, view, tool)
        if selector.is_one and isinstance(found, tuple) and len(found) > 1:
            found = which(found, view)
    elif selector.names:
        found = _by_names(selector, view, tool, speaker_area)
    else:
        asks_of_all = tool.is_query and intent.args.get("question") in PLURAL
        found = _by_kind(selector, view, tool, speaker_area, asks_of_all=asks_of_all)
        if isinstance(found, Refusal) and found.reply_key == "refused.cannot_know" and _is_of_things(intent):
            found = replace(found, reply_key="refused.nothing")
    return found if isinstance(found, (Question, Refusal)) else Resolved(_steps(tool, intent.args, found))


Found = tuple[Device, ...] | Question | Refusal


def _steps(tool: Tool, args: Args, devices: tuple[Device, ...]) -> tuple[Step, ...]:
    ids = tuple(dict.fromkeys(d.id for d in devices))
    return (Step(tool, args, ids),) if tool.scope == "devices" else tuple(Step(tool, args, (i,)) for i in ids)


def _unknown_place(selector: Selector, view: HomeView) -> Refusal | None:
    for area_id in selector.areas:
        if view.area(area_id) is None:
            return Refusal("refused.unknown_area", {"name": area_id})
    for floor_id in selector.floors:
        if view.floor(floor_id) is None:
            return Refusal("refused.unknown_area", {"name": floor_id})
    return None


def _by_id(device_ids: tuple[str, ...], view: HomeView, tool: Tool) -> Found:
    found = []
    for device_id in device_ids:
        device = view.device(device_id)
        if device is None:
            return Refusal("refused.unknown_device", {"name": device_id})
        if not _can(device, tool):
            return _unsupported(device, tool)
        found.append(device)
    return tuple(found)


def _by_names(selector: Selector, view: HomeView, tool: Tool, speaker_area: str | None) -> Found:
    """Each name on its own; the first that fails decides, the first that is unclear is asked about."""
    found: list[Device] = []
    unclear: dict[str, Question] = {}
    for name in selector.names:
        one = _by_name(name, selector, view, tool, speaker_area)
        if isinstance(one, Refusal):
            return one
        if isinstance(one, Question):
            unclear[name] = one
        else:
            found.extend(one)
    if not unclear:
        return tuple(found)
    first, *others = unclear
    return replace(unclear[first], settled_ids=tuple(d.id for d in found), open_names=tuple(others))


def _by_name(name: str, selector: Selector, view: HomeView, tool: Tool, speaker_area: str | None) -> Found:
    named = view.named(name)
    if not named:
        return Refusal("refused.unknown_device", {"name": name})
    placed = _placed(named, selector, view)
    if not placed:
        return Refusal("refused.unknown_device", {"name": name, **_place(selector)})
    able = tuple(d for d in placed if _can(d, tool))
    if not able:
        return _unsupported(placed[0], tool)
    fitting = _narrow(able, lambda d: _is_kind(d, selector))
    if selector.is_all or len(selector.areas) > 1 or len(fitting) == 1:
        return fitting
    near = tuple(d for d in fitting if speaker_area is not None and d.area == speaker_area)
    near = near or _in_own_room(name, fitting, view)
    return near if len(near) == 1 or tool.is_query else which(near, view, name=name)


def _in_own_room(name: str, devices: tuple[Device, ...], view: HomeView) -> tuple[Device, ...]:
    """Of devices with one name those in the room that the name tells: "bedroom lamp" of three that are called so."""
    rooms = {d.id: area.names for d in devices if (area := view.area(d.area)) is not None}
    return _narrow(devices, lambda d: any(has_word(name, room) for room in rooms.get(d.id, ())))


def _is_of_things(intent: Intent) -> bool:
    """Whether it is asked how things are, and not what only a sensor or a person could tell."""
    types = set(intent.selector.types)
    return bool(types) and not types & _TELLING and "attribute" not in intent.args


def _by_kind(selector: Selector, view: HomeView, tool: Tool, speaker_area: str | None, *, asks_of_all: bool) -> Found:
    if selector.types and tool.types and not set(selector.types) & set(tool.types):
        return Refusal("refused.unsupported", {"kind": selector.types[0], "tool": tool.name})
    able = tuple(d for d in view.devices if _can(d, tool) and (_is_kind(d, selector) or _tells_of(d, selector, tool)))
    has_place = bool(selector.areas or selector.floors)
    placed = tuple(d for d in able if _is_placed(d, selector, view)) if has_place else able
    if not placed:
        return _nothing(selector, view, tool)
    if selector.is_all:
        return placed
    if not (selector.types or selector.device_class) and len({d.type for d in placed}) > 1:
        return which(placed, view)  # "turn on" alone, or with a room alone, says no kind: everything is never meant
    if (has_place and not selector.is_one) or asks_of_all:
        is_one_room = len(selector.areas) == 1 and not (selector.floors or selector.device_class)
        return tool.likely(placed) if tool.is_one_per_room and is_one_room else placed
    near = tuple(d for d in placed if speaker_area is not None and d.area == speaker_area)
    found = near or placed
    if not (has_place or selector.device_class):
        found = tool.likely(found)
    if len(found) == 1 or tool.is_query or (near and not selector.is_one):
        return found
    return which(found, view)


def _can(device: Device, tool: Tool) -> bool:
    return not tool.types or device.type in tool.types


def _is_kind(device: Device, selector: Selector) -> bool:
    if selector.types and device.type not in selector.types:
        return False
    return selector.device_class is None or device.device_class == selector.device_class


def _tells_of(device: Device, selector: Selector, tool: Tool) -> bool:
    """Whether a device answers a question about a class, whatever its type: a window and a contact on a window."""
    return tool.is_query and selector.device_class is not None and device.device_class == selector.device_class


def _is_placed(device: Device, selector: Selector, view: HomeView) -> bool:
    areas, on_floors = set(selector.areas), set(view.areas_of(selector.floors))
    both = areas & on_floors if areas and on_floors else areas | on_floors
    return device.area in both


def _placed(devices: tuple[Device, ...], selector: Selector, view: HomeView) -> tuple[Device, ...]:
    """Named devices in the place that was said; one that stands in no room is taken at its name."""
    if not (selector.areas or selector.floors):
        return devices
    placed = tuple(d for d in devices if _is_placed(d, selector, view))
    return placed or tuple(d for d in devices if d.area is None)


def _narrow(devices: tuple[Device, ...], keep: Callable[[Device], bool]) -> tuple[Device, ...]:
    return tuple(d for d in devices if keep(d)) or devices


def _unsupported(device: Device, tool: Tool) -> Refusal:
    return Refusal("refused.unsupported", {"devices": (device.id,), "tool": tool.name})


def _place(selector: Selector) -> dict[str, Any]:
    place = selector.areas or selector.floors
    return {"area": place} if place else {}


def _nothing(selector: Selector, view: HomeView, tool: Tool) -> Refusal:
    """Why nothing is found: what cannot be told, what can only be seen, or what is not there."""
    kind = selector.device_class or next(iter(selector.types or tool.types), "")
    values = {"kind": kind, "tool": tool.name, **_place(selector)}
    if tool.is_query:
        return Refusal("refused.cannot_know", values)  # nobody reports who is at home: that is not "nobody"
    has_place = bool(selector.areas or selector.floors)
    seen = tuple(d for d in view.devices if d.type == "binary_sensor" and d.device_class == selector.device_class)
    seen = tuple(d for d in seen if not has_place or _is_placed(d, selector, view)) if selector.device_class else ()
    if seen:
        return Refusal("refused.only_seen", {**values, "devices": tuple(d.id for d in seen)})
    return Refusal("refused.nothing", values)
