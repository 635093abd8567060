"""Reads the conversations that an app is tested with, from YAML files a non-programmer can write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from agentkit.config import App
from agentkit.dialogues.shape import DIALOGUE, OUTCOMES, moment_of, seconds_of
from agentkit.errors import ConfigError
from agentkit.policy_rules import PolicyRule, read_rules
from agentkit.records import NOON
from agentkit.yaml_lines import YamlList, YamlMap, did_you_mean, load_yaml
from agentkit.yaml_shape import ListOf, check_shape


@dataclass(frozen=True)
class DeviceChange:
    """How a device differs from the home file; None = as there."""

    state: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    is_available: bool | None = None


@dataclass(frozen=True)
class CallWanted:
    """A call that must be made, with exactly these arguments and devices."""

    tool: str
    targets: tuple[str, ...] = ()
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What must come of a turn. None and empty = not looked at, except that no other device may change."""

    outcome: str | None = None
    reason: str | None = None
    """Key of what is asked, refused or failed, with or without its group: ask.confirm, unknown_device."""
    calls: tuple[CallWanted, ...] | None = None
    answer: tuple[str, ...] = ()
    """Texts that must stand in the reply, in either case."""
    slots: Mapping[str, Any] = field(default_factory=dict)
    """Values that were read or used."""
    states: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Device id → state and attributes afterwards."""
    planned: int | None = None


@dataclass(frozen=True)
class Step:
    """Something that is said, or a time that passes."""

    line: int
    wanted: Wanted
    say: str | None = None
    wait_s: float = 0.0
    area: str | None = None
    given: Mapping[str, DeviceChange] = field(default_factory=dict)
    """What changes in the home just before."""


@dataclass(frozen=True)
class Dialogue:
    """One conversation in a home of its own."""

    path: Path
    line: int
    name: str
    steps: tuple[Step, ...]
    area: str | None = None
    language: str | None = None
    user: str | None = None
    now: datetime = NOON
    pin: str | None = None
    devices: Mapping[str, DeviceChange] = field(default_factory=dict)
    policy: tuple[PolicyRule, ...] | None = None
    """In place of the app's rules."""
    is_mutated: bool = True
    gap: str | None = None
    """Why it is not so yet; what fails then is counted apart and is no failure."""


def find_files(app: Path, given: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The files to run: those named, and those in named folders; else all in the app's tests/. Raises ConfigError."""
    found: dict[Path, None] = {}
    for place in given or (app / "tests",):
        if not place.exists():
            raise ConfigError("no such file or folder; wanted dialogues in YAML, see docs/app.md", path=place)
        found.update(dict.fromkeys(sorted(place.glob("*.yaml")) if place.is_dir() else [place]))
    if not found:
        raise ConfigError("no *.yaml in here; wanted dialogues, see docs/app.md", path=app / "tests")
    return tuple(found)


def read_dialogues(path: Path, app: App) -> tuple[Dialogue, ...]:
    """Read a file with a list of dialogues. Raises ConfigError with file, line and key."""
    rows = load_yaml(path)
    if not isinstance(rows, YamlList) or not rows:
        raise ConfigError("wanted a list of dialogues, each with turns; see docs/app.md", path=path, line=1)
    check_shape(rows, ListOf(DIALOGUE), rows.error)
    return tuple(_dialogue(row, path, app) for row in rows)


def _dialogue(row: YamlMap, path: Path, app: App) -> Dialogue:
    given: Mapping[str, Any] = row.get("given") or {}
    steps = tuple(_step(turn, app) for turn in row["turns"])
    if not steps:
        raise row.error("turns is empty, wanted at least one", "turns")
    area = given.get("area")
    if area is not None and area not in (known := [a.id for a in app.home.areas]):
        raise row["given"].error(f"area {area!r} is no area of this home; {did_you_mean(str(area), known)}", "area")
    return Dialogue(
        path,
        row.line,
        str(row.get("name") or next((s.say for s in steps if s.say), f"line {row.line}")),
        steps,
        area,
        given.get("language"),
        given.get("user"),
        moment_of(given["now"]) or NOON if "now" in given else NOON,
        None if given.get("pin") is None else str(given["pin"]),
        _changes(row.get("given"), "devices", app),
        _policy(row["given"], app) if "policy" in given else None,
        row.get("mutate") is not False,
        row.get("gap"),
    )


def _policy(given: YamlMap, app: App) -> tuple[PolicyRule, ...]:
    rules = given["policy"]
    if not isinstance(rules, YamlList):
        raise given.error("policy is no list of rules, wanted for example [{tools: [unlock], then: pin}]", "policy")
    types = {t for tool in app.tools.values() for t in tool.types} | {d.type for d in app.home.devices}
    return read_rules(rules, tools=app.tools, types=types, areas=[a.id for a in app.home.areas])


def _step(row: YamlMap, app: App) -> Step:
    if ("say" in row) is ("wait" in row):
        raise row.error("a turn wants one of say and wait, for example {say: turn on the lamp, outcome: done}")
    if "say" in row and "outcome" not in row:
        raise row.error(f"missing key 'outcome'; wanted one of {', '.join(OUTCOMES)}", "say")
    return Step(
        row.line,
        _wanted(row, app),
        row.get("say"),
        seconds_of(row.get("wait")) or 0.0,
        row.get("area"),
        _changes(row, "given", app),
    )


def _wanted(row: YamlMap, app: App) -> Wanted:
    calls = None if row.get("calls") is None else tuple(_call(c, app) for c in row["calls"])
    answer = row.get("answer") or ()
    states = row.get("states") or {}
    _check_ids(states, states, app)
    return Wanted(
        row.get("outcome"),
        None if row.get("reason") is None else str(row["reason"]),
        calls,
        (answer,) if isinstance(answer, str) else tuple(map(str, answer)),
        dict(row.get("slots") or {}),
        {key: dict(value) if isinstance(value, Mapping) else {"state": value} for key, value in states.items()},
        row.get("planned"),
    )


def _call(row: YamlMap, app: App) -> CallWanted:
    tool = str(row["tool"])
    known = (*app.tools, "schedule")
    if tool not in known:
        raise row.error(f"tool {tool!r} is no tool of this app; {did_you_mean(tool, known)}", "tool")
    targets = tuple(map(str, row.get("targets") or ()))
    _check_ids(targets, row.get("targets"), app)
    return CallWanted(tool, targets, dict(row.get("args") or {}))


def _changes(row: Any, key: str, app: App) -> dict[str, DeviceChange]:
    table: Mapping[str, Any] = (row or {}).get(key) or {}
    _check_ids(table, table, app)
    return {
        device_id: DeviceChange(
            None if value.get("state") is None else str(value["state"]),
            dict(value.get("attributes") or {}),
            value.get("available"),
        )
        for device_id, value in table.items()
    }


def _check_ids(ids: Iterable[str], holder: Any, app: App) -> None:
    known: Collection[str] = {d.id for d in app.home.devices}
    error: Callable[[str, Any], ConfigError]
    for index, device_id in enumerate(ids):
        if device_id not in known:
            error = holder.error
            place = index if isinstance(holder, YamlList) else device_id
            raise error(f"{device_id!r} is no device of home.yaml; {did_you_mean(device_id, known)}", place)
