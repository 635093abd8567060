"""Tools: typed Python functions of an app whose signature and docstring become schema, grammar and prompt.

    @tool(types=("light",))
    def set_brightness(device: Device, brightness: Annotated[int, Range(0, 100, "%")]) -> Decision:
        '''Set how bright a light is.'''
        return becomes(device, "on", brightness=round(brightness * 2.55))

The first parameter tells what the tool works on: `device: Device` runs once per device, `devices: tuple[Device, ...]`
once for all of them (questions), `home: View` without selecting any. Beside devices, `home: View | None = None` is
given the home as well. The function is pure: it looks at what it is given and returns a `Decision` or an `Answer`;
`agent/execute.py` is the one place that applies and verifies it.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from agentkit.devices.adapter import Change, Device
from agentkit.errors import AppError
from agentkit.planned import EntryChange

BEFORE = "before"
"""In `undone_by`: what the device was before is put back."""
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Range:
    """Limits of a numeric parameter, in its unit."""

    low: float
    high: float
    unit: str = ""


@dataclass(frozen=True)
class Decision:
    """What an action tool wants to become true."""

    changes: Mapping[str, Change] = field(default_factory=dict)
    """Device id → what it should be; empty with a reason = refused."""
    reason: str | None = None
    """Reply key of the refusal, for example unsupported or out_of_range."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values for the reply's sentence."""
    entries: tuple[EntryChange, ...] = ()
    """Timers, alarms and plans that are to be kept, changed or removed."""
    reply_key: str | None = None
    """Sentence of the success, where the tool's own does not fit."""


@dataclass(frozen=True)
class Answer:
    """What a question tool read from live state."""

    reply_key: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Param:
    """One argument of a tool."""

    name: str
    type: type
    """int, float, str or bool."""
    choices: tuple[str, ...] = ()
    range: Range | None = None
    is_required: bool = True


@dataclass(frozen=True)
class _Mark:
    """What `@tool` was given."""

    types: tuple[str, ...]
    is_query: bool
    prefers: Callable[[Device], int] | None
    one_of: tuple[str, ...]
    undone_by: str | Mapping[str, str] | None
    is_ending: bool
    is_told: bool
    is_one_per_room: bool


@dataclass(frozen=True)
class Tool:
    """One verb that the agent can call."""

    name: str
    summary: str
    """First sentence of the docstring; it stands in the prompt."""
    types: tuple[str, ...]
    """Device types it can act on; empty = it needs no device."""
    params: tuple[Param, ...]
    scope: Literal["device", "devices", "home"]
    is_query: bool
    """True if it only reads: it returns an Answer and is never confirmed."""
    function: Callable[..., Decision | Answer]
    prefers: Callable[[Device], int] | None = None
    """How likely a device is meant by a sentence that names neither device nor place; 0 = only if no other is."""
    one_of: tuple[str, ...] = ()
    """Arguments of which a call needs one; the first is asked for."""
    takes_home: bool = False
    """Its function is also given the home, by the name `home`, beside the devices."""
    undone_by: Mapping[str, str] = field(default_factory=dict)
    """Device type → tool that undoes this one at an end ("for an hour"), or BEFORE; without one it has no end."""
    is_ending: bool = False
    """It ends something: what had ended before does not begin when that is undone."""
    is_told: bool = True
    """Whether a model is told of it; each tool costs every prompt tokens."""
    is_one_per_room: bool = False
    """In a room that is named `prefers` decides too: there is one sound in it."""

    def likely(self, devices: Sequence[Device]) -> tuple[Device, ...]:
        """Of devices that were not named those that a change most likely means: "louder" is for what plays."""
        if self.prefers is None:
            return tuple(devices)
        ranks = [self.prefers(d) for d in devices]
        best = max(ranks, default=0)
        return tuple(d for d, rank in zip(devices, ranks, strict=True) if rank == best)

    @property
    def told_params(self) -> tuple[Param, ...]:
        """What a model is told of: an optional flag would cost every prompt tokens for what templates read."""
        return tuple(p for p in self.params if p.is_required or p.type is not bool)


def tool(
    *,
    types: tuple[str, ...] = (),
    is_query: bool = False,
    prefers: Callable[[Device], int] | None = None,
    one_of: tuple[str, ...] = (),
    undone_by: str | Mapping[str, str] | None = None,
    is_ending: bool = False,
    is_told: bool = True,
    is_one_per_room: bool = False,
) -> Callable[[Function], Function]:
    """Mark a function as a tool; `load_tools` reads the mark.

    `prefers` ranks the devices that "louder" alone may mean, the one that plays above the one that is off. Of the
    arguments `one_of` a call needs one; the first is asked for. `undone_by` names the tool that undoes this one
    at an end ("for an hour"), for all types or by type; BEFORE = what the device was before. `is_ending`: it ends
    something, so what had ended before ("off for an hour") does not begin at that end. What only templates and
    pieces read need not be told to a model (`is_told`). `is_one_per_room`: the rank counts in a room that is named
    too, where else all of the room are meant.
    """

    def mark(function: Function) -> Function:
        function.__tool__ = _Mark(  # type: ignore[attr-defined]
            types, is_query, prefers, one_of, undone_by, is_ending, is_told, is_one_per_room
        )
        return function

    return mark


def becomes(device: Device, state: str | None = None, **attributes: Any) -> Decision:
    """The decision that one device should take this state and these attributes."""
    return Decision({device.id: Change(state, attributes)})


def load_tools(module: types.ModuleType) -> dict[str, Tool]:
    """Read every marked function of an app's module. Raises AppError naming function and parameter."""
    marked = [f for f in vars(module).values() if callable(f) and hasattr(f, "__tool__")]
    if not marked:
        raise AppError(f"{module.__name__}: no function is marked with @tool; an app needs at least one")
    found = {f.__name__: _located(f) for f in marked}
    for one in found.values():
        _check_undone_by(one, found)
    return found


def _check_undone_by(one: Tool, tools: Mapping[str, Tool]) -> None:
    """Raise AppError unless what ends a tool acts on the same devices, and on its own."""
    for device_type, name in one.undone_by.items():
        if name == BEFORE and one.scope == "device":
            continue
        back = tools.get(name)
        is_fit = back is not None and back.scope == one.scope == "device" and not back.is_query
        if back is None or not is_fit or device_type not in back.types or any(p.is_required for p in back.params):
            raise AppError(
                f"tool {one.name}: undone_by is {name!r} for {device_type}, "
                f"wanted {BEFORE!r} or a tool that acts on one such device and needs no argument"
            )


def _located(function: Callable[..., Any]) -> Tool:
    """Read a tool; a complaint names file and line of the function."""
    try:
        return read_tool(function)
    except AppError as err:
        code = inspect.unwrap(function).__code__
        raise AppError(f"{code.co_filename}:{code.co_firstlineno}: {err}") from err


def read_tool(function: Callable[..., Any]) -> Tool:
    """Turn a marked function into a Tool. Raises AppError."""
    mark: _Mark = function.__tool__  # type: ignore[attr-defined]
    name = function.__name__
    doc = (inspect.getdoc(function) or "").strip()
    if not doc:
        raise AppError(f"tool {name}: it has no docstring; its first sentence goes into the prompt")
    if not _are_words(mark.types):
        raise AppError(f'tool {name}: types is {mark.types!r}, wanted a tuple of words, for example types=("light",)')
    hints = _hints(function)
    first, *rest = inspect.signature(function).parameters.values() or (None,)
    scope = {"device": "device", "devices": "devices", "home": "home"}.get(first.name) if first else None
    if scope is None:
        got = f"is {first.name!r}" if first else "is missing"
        raise AppError(f"tool {name}: first parameter {got}, wanted device, devices or home")
    takes_home = scope != "home" and any(p.name == "home" for p in rest)
    params = tuple(_read_param(name, p, hints.get(p.name)) for p in rest if p.name != "home" or not takes_home)
    if unknown := [x for x in mark.one_of if x not in (p.name for p in params)]:
        raise AppError(f"tool {name}: one_of names {unknown[0]!r}, wanted arguments of the function")
    back = mark.undone_by
    return Tool(
        name=name,
        summary=doc.split("\n\n")[0].replace("\n", " "),
        types=tuple(mark.types),
        params=params,
        scope=typing.cast(Literal["device", "devices", "home"], scope),
        is_query=mark.is_query,
        function=function,
        prefers=mark.prefers,
        one_of=tuple(mark.one_of),
        takes_home=takes_home,
        undone_by=dict.fromkeys(mark.types, back) if isinstance(back, str) else dict(back or {}),
        is_ending=mark.is_ending,
        is_told=mark.is_told,
        is_one_per_room=mark.is_one_per_room,
    )


def _are_words(types: Any) -> bool:
    return isinstance(types, tuple | list) and all(isinstance(x, str) and x for x in types)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Types of the parameters. Raises AppError: an annotation is app code, which may name what does not exist."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as err:  # edge: whatever the annotation raises becomes one clear line
        said = " ".join(str(err).split())[:200]
        raise AppError(
            f"tool {function.__name__}: an annotation cannot be read ({type(err).__name__}: {said}); import or mend it"
        ) from err


def _read_param(tool_name: str, parameter: inspect.Parameter, hint: Any) -> Param:
    limits: Range | None = None
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
        limits = next((x for x in extras if isinstance(x, Range)), None)
    if get_origin(hint) in (typing.Union, types.UnionType):
        hint = next(x for x in get_args(hint) if x is not type(None))
    choices: tuple[str, ...] = ()
    if get_origin(hint) is Literal:
        choices, hint = tuple(map(str, get_args(hint))), str
    if hint not in (int, float, str, bool):
        raise AppError(
            f"tool {tool_name}: parameter {parameter.name} has type {hint!r}, "
            "wanted int, float, str, bool or a Literal of strings"
        )
    return Param(parameter.name, hint, choices, limits, parameter.default is inspect.Parameter.empty)
