"""Reads home files: floors, areas and devices of one home or of several."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from agentkit.devices.adapter import Area, Device, Floor, Home, HomeTimer
from agentkit.devices.validate import MAX_DEVICES, check_device, is_name
from agentkit.errors import ConfigError, DeviceError
from agentkit.yaml_lines import YamlMap, check_keys, describe, load_mapping, take, take_list

HOME_KEYS = ("id", "language", "floors", "areas", "devices", "speaker_area", "timers", "media")
"""timers and media describe what else was going on when a recorded home was captured. Evaluations start its timers,
media is read and not used."""
AREA_KEYS = ("id", "name", "aliases", "floor")
FLOOR_KEYS = ("id", "name", "aliases")
DEVICE_KEYS = ("id", "name", "aliases", "type", "area", "state", "attributes", "available", "endpoint", "device")
"""device groups the entities of one physical thing, as some exports write it; it is read and not used."""

CLOSABLE = ("cover", "valve")


def load_homes(path: Path) -> dict[str, Home]:
    """Read a file with `homes:` or with a single home. Raises ConfigError naming file and line."""
    document = load_mapping(path)
    if "homes" not in document:
        home = read_home(document)
        return {home.id: home}
    check_keys(document, ("homes",), what="a file with homes")
    homes: dict[str, Home] = {}
    for row in take_list(document, "homes", YamlMap):
        home = read_home(row)
        if home.id in homes:
            raise row.error(f"home {home.id!r} is listed twice; give every home its own id", "id")
        homes[home.id] = home
    return homes


def load_home(path: Path) -> Home:
    """Read a file that holds exactly one home. Raises ConfigError."""
    homes = load_homes(path)
    if len(homes) != 1:
        raise ConfigError(f"{len(homes)} homes, wanted exactly one; keep the home of this app", path=path)
    return next(iter(homes.values()))


def read_home(row: YamlMap) -> Home:
    """Read one home. Raises ConfigError."""
    check_keys(row, HOME_KEYS, required=("id",), what="a home")
    floors = {floor.id: floor for floor in _read_places(row, "floors")}
    areas = _read_areas(row, floors)
    devices = _read_devices(row, tuple(areas))
    speaker_area = take(row, "speaker_area", str, None)
    if speaker_area is not None and speaker_area not in areas:
        raise row.error(
            f"speaker_area {speaker_area!r} is no area of this home; {_known(tuple(areas))}", "speaker_area"
        )
    return Home(
        take(row, "id", str),
        take(row, "language", str, "en"),
        tuple(floors.values()),
        tuple(areas.values()),
        tuple(devices.values()),
        speaker_area,
        tuple(_read_timer(item, areas) for item in _read_rows(row, "timers")),
    )


def _read_timer(item: YamlMap, areas: dict[str, Area]) -> HomeTimer:
    """Read a timer; what is left may be rounded or missing, then it has just been started."""
    start = _length(item, "start_")
    rounded = _length(item, "rounded_", "_left")
    left = item.get("total_seconds_left")
    place = str(item.get("area") or "")
    area = next((a.id for a in areas.values() if place in (a.id, *a.names)), place or None)
    name = item.get("name")
    seconds = float(left) if isinstance(left, int | float) else rounded or start
    return HomeTimer(
        start or seconds, seconds, None if name is None else str(name), area, item.get("is_active") is not False
    )


def _length(item: YamlMap, before: str, after: str = "") -> float:
    sizes = {"hours": 3600, "minutes": 60, "seconds": 1}
    found = {unit: item.get(f"{before}{unit}{after}") for unit in sizes}
    return float(sum(sizes[unit] * n for unit, n in found.items() if isinstance(n, int | float)))


def _read_areas(row: YamlMap, floors: dict[str, Floor]) -> dict[str, Area]:
    areas: dict[str, Area] = {}
    by_name = {name: floor.id for floor in floors.values() for name in floor.names}
    declared = [*floors, *by_name]
    for area in _read_rows(row, "areas"):
        check_keys(area, AREA_KEYS, required=("id", "name"), what="an area")
        name, aliases = _names(area)
        floor = take(area, "floor", str, None)
        if floor is not None and floor not in floors:
            near = difflib.get_close_matches(floor, declared, 1, 0.8)
            if near and floor not in declared:
                raise area.error(f"floor {floor!r} is no floor of this home; did you mean {near[0]!r}?", "floor")
            floor = by_name.setdefault(floor, floor)
            floors.setdefault(floor, Floor(floor, floor))  # floors need no list: an area may just name its own
        key = take(area, "id", str)
        if key in areas:
            raise area.error(f"area {key!r} is listed twice; give every area its own id", "id")
        areas[key] = Area(key, name, aliases, floor)
    return areas


def _read_places(row: YamlMap, key: str) -> list[Floor]:
    found: dict[str, Floor] = {}
    for item in _read_rows(row, key):
        check_keys(item, FLOOR_KEYS, required=("id", "name"), what="a floor")
        name, aliases = _names(item)
        floor = Floor(take(item, "id", str), name, aliases)
        if floor.id in found:
            raise item.error(f"floor {floor.id!r} is listed twice; give every floor its own id", "id")
        found[floor.id] = floor
    return list(found.values())


def _read_devices(row: YamlMap, area_ids: tuple[str, ...]) -> dict[str, Device]:
    devices: dict[str, Device] = {}
    lines: dict[str, int] = {}
    for item in _read_rows(row, "devices"):
        device = _read_device(item, area_ids)
        if device.id in devices:
            raise item.error(
                f"device {device.id!r} is listed twice, first on line {lines[device.id]}; give every device its own id",
                "id",
            )
        devices[device.id] = device
        lines[device.id] = item.line
    if len(devices) > MAX_DEVICES:
        raise row.error(f"{len(devices)} devices, at most {MAX_DEVICES} are kept", "devices")
    return devices


def _read_device(item: YamlMap, area_ids: tuple[str, ...]) -> Device:
    check_keys(item, DEVICE_KEYS, required=("id", "name", "type"), what="a device")
    name, aliases = _names(item)
    kind, area = take(item, "type", str), take(item, "area", str, None)
    if area is not None and area not in area_ids:
        raise item.error(f"area {area!r} is no area of this home; {_known(area_ids)}", "area")
    attributes = _plain(take(item, "attributes", YamlMap, None) or {})
    if isinstance(device_class := attributes.get("device_class"), str):
        attributes["device_class"] = device_class.rpartition(".")[2].lower()
    device = Device(
        take(item, "id", str),
        name,
        kind,
        area,
        aliases,
        _read_state(item, kind),
        {k: v for k, v in attributes.items() if v is not None},
        take(item, "available", bool, True),
        take(item, "endpoint", str, None),
    )
    try:
        check_device(device, area_ids)
    except DeviceError as err:
        raise item.error(str(err), "id") from err
    return device


def _read_state(item: YamlMap, kind: str) -> str | None:
    """Turn true/false, numbers and {in: words, out: value} into the state word of the device."""
    value = item.get("state")
    if isinstance(value, YamlMap):
        value = value.get("out", value.get("in"))
    if isinstance(value, bool):
        words = ("closed", "open") if kind in CLOSABLE else ("off", "on")
        return words[int(value)]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    raise item.error(f"state is {describe(value)}, wanted a word or a number", "state")


def _read_rows(row: YamlMap, key: str) -> tuple[YamlMap, ...]:
    return () if row.get(key) is None else take_list(row, key, YamlMap)


def _names(row: YamlMap) -> tuple[str, tuple[str, ...]]:
    name = _text(row, "name")
    aliases = () if row.get("aliases") is None else take_list(row, "aliases", str)
    for alias in aliases:
        if not is_name(alias):
            raise row.error(f"alias {describe(alias)} is empty, too long or holds control characters", "aliases")
    return name, aliases


def _text(row: YamlMap, key: str) -> str:
    value = row.get(key)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not is_name(text):
        raise row.error(f"{key} is {describe(value)}, wanted 1 to 100 printable characters", key)
    return str(text)


def _plain(value: Any) -> Any:
    """Copy without line numbers, so that nothing of the file is held by the values."""
    if isinstance(value, dict):
        return {key: _plain(x) for key, x in value.items()}
    return [_plain(x) for x in value] if isinstance(value, list) else value


def _known(ids: Collection[str]) -> str:
    return f"known are {', '.join(ids)}" if ids else "none are listed"
