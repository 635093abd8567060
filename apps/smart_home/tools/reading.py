"""Reads values and states out of devices, whatever their kind calls them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agentkit.devices.adapter import Device

from .climate import kept_range, unit_of
from .colors import nearest_name
from .common import as_number, is_on, listed, number, tidy

OPENINGS = {"door", "window", "garage_door", "garage", "opening", "gate", "blind", "curtain"}
WORDS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(OPENINGS, ("open", "closed")),
    "lock": ("unlocked", "locked"),
    "moisture": ("wet", "dry"),
    "battery": ("low", "normal"),
    "presence": ("home", "away"),
    "connectivity": ("connected", "disconnected"),
    "battery_charging": ("charging", "not_charging"),
    "plug": ("plugged_in", "unplugged"),
    "cold": ("cold", "normal"),
    "heat": ("hot", "normal"),
    "problem": ("problem", "ok"),
    "safety": ("unsafe", "safe"),
    "power": ("on", "off"),
    "running": ("on", "off"),
    "light": ("bright", "dark"),
    "update": ("available", "up_to_date"),
    **dict.fromkeys(
        ("motion", "occupancy", "smoke", "gas", "carbon_monoxide", "sound", "vibration", "moving", "tamper"),
        ("detected", "clear"),
    ),
}
"""Binary sensors say on and off; people say what that means."""

SAME_STATES: tuple[frozenset[str], ...] = (
    frozenset({"away", "not_home"}),
    frozenset({"cleaning", "running", "vacuuming"}),
    frozenset({"docked", "charging"}),
    frozenset({"heat", "heating"}),
    frozenset({"cool", "cooling"}),
    frozenset({"open", "opened"}),
    frozenset({"closed", "shut"}),
    frozenset({"detected", "wet", "active"}),
    frozenset({"clear", "dry", "inactive"}),
)
LOW_BATTERY = 20

CLASS_OF = {"flood": "moisture", "leak": "moisture", "presence": "occupancy", "co2": "carbon_dioxide"}
PERCENT, NO_UNIT = "%", ""


@dataclass(frozen=True)
class Reading:
    """One value read from one device."""

    device: Device
    value: Any
    unit: str = NO_UNIT


def is_lost(device: Device) -> bool:
    """True if a device cannot be reached."""
    return not device.is_available or device.state == "unavailable"


def is_gone(device: Device) -> bool:
    """True if a device is offline, or says so itself."""
    return is_lost(device) or device.state == "unknown"


def is_silent(device: Device) -> bool:
    """True if nobody knows the state of a device now."""
    return is_gone(device) or device.state is None


def state_word(device: Device) -> str | None:
    """Return the state as people call it: a door sensor that is on is open."""
    if device.type != "binary_sensor" or device.state not in ("on", "off"):
        return device.state
    words = WORDS.get(device.device_class or "")
    return words[0 if device.state == "on" else 1] if words else device.state


def spoken_state(state: str, devices: Collection[Device]) -> str:
    """The state as people call it if the binary sensors among these devices share a word for it: on is open."""
    words = {WORDS.get(d.device_class or "") for d in devices if d.type == "binary_sensor"}
    shared = words.pop() if len(words) == 1 else None
    return state if shared is None or state not in ("on", "off") else shared[0 if state == "on" else 1]


def has_state(device: Device, asked: str) -> bool:
    """True if the device is in a state that answers to this word."""
    wanted = asked.strip().lower().replace(" ", "_")
    said = {str(x).lower() for x in (device.state, state_word(device), device.attributes.get("hvac_action")) if x}
    if device.type == "lock":  # what one can tell of the door it is in
        wanted = {"open": "unlocked", "closed": "locked", "safe": "locked"}.get(wanted, wanted)
    elif device.type == "cover" or WORDS.get(device.device_class or "") == ("open", "closed"):
        wanted = {"unlocked": "open", "locked": "closed", "safe": "closed"}.get(wanted, wanted)
    elif device.type == "valve":
        wanted = {"on": "open", "off": "closed"}.get(wanted, wanted)
    if device.type == "cover" and wanted == "open" and device.state in ("opening", "closing"):
        return True  # what is on its way is not closed
    group = next((g for g in SAME_STATES if wanted in g), frozenset({wanted}))
    if said & group:
        return True
    if wanted in ("on", "off") and device.type not in ("lock", "cover", "valve", "sensor", "binary_sensor"):
        if device.type == "media_player" and device.state == "idle":
            return False  # neither: it plays nothing, and nobody has switched it off
        runs = is_on(device) or device.state in ("cleaning", "mowing", "returning")
        return runs == (wanted == "on") and device.state is not None
    if wanted in ("low", "normal") and device.device_class == "battery":
        level = as_number(device.state)
        return level is not None and (level <= LOW_BATTERY) == (wanted == "low")
    return False


def read(device: Device, attribute: str) -> Reading | None:
    """Read an attribute by the name people use for it; None = this device does not have it."""
    special = _SPECIAL.get(attribute)
    found = special(device) if special is not None else None
    if found is not None or (special is _temperature and device.type in ("climate", "water_heater")):
        return found  # their plain "temperature" is what is wanted, not what is
    return _read_plain(device, CLASS_OF.get(attribute, attribute))


def _read_plain(device: Device, name: str) -> Reading | None:
    if device.type in ("sensor", "binary_sensor") and device.device_class == name:
        value = device.attributes.get("native_value", device.state) if device.state is None else device.state
        if value is None:
            return None
        numeric = as_number(value)
        return Reading(device, state_word(device) if numeric is None else tidy(numeric), _unit(device))
    if device.type == "sensor" or name in ("device_class", "sets", "items", "supported_features"):
        return None
    value = device.attributes.get(name)
    return None if value is None else Reading(device, value)


def _unit(device: Device) -> str:
    for key in ("unit_of_measurement", "native_unit_of_measurement"):
        if device.attributes.get(key):
            return str(device.attributes[key])
    return NO_UNIT


def _temperature(device: Device) -> Reading | None:
    if device.type in ("climate", "water_heater"):
        value = number(device, "current_temperature")
        value = as_number(device.state) if value is None else value
        return None if value is None else Reading(device, tidy(value), unit_of(device))
    if device.type == "weather":
        value = number(device, "temperature", "native_temperature")
        return None if value is None else Reading(device, tidy(value), unit_of(device))
    return None


def _target_temperature(device: Device) -> Reading | None:
    if device.type == "climate" and (kept := kept_range(device)) is not None:
        return Reading(device, f"{tidy(kept[0])}–{tidy(kept[1])}", unit_of(device))
    value = number(device, "temperature", "target_temperature") if device.type in ("climate", "water_heater") else None
    return None if value is None else Reading(device, tidy(value), unit_of(device))


def _humidity(device: Device) -> Reading | None:
    value = number(device, "current_humidity", "humidity") if device.type != "sensor" else None
    return None if value is None else Reading(device, tidy(value), PERCENT)


def _brightness(device: Device) -> Reading | None:
    if device.type != "light":
        return None
    level = number(device, "brightness")
    if device.state == "off":
        return Reading(device, 0, PERCENT)
    return None if level is None else Reading(device, round(level / 2.55), PERCENT)


def _position(device: Device) -> Reading | None:
    value = number(device, "current_position", "current_valve_position", "position")
    if value is None and device.type in ("cover", "valve") and device.state in ("open", "closed"):
        value = 100 if device.state == "open" else 0
    return None if value is None else Reading(device, tidy(value), PERCENT)


def _volume(device: Device) -> Reading | None:
    level = number(device, "volume_level")
    return None if level is None else Reading(device, round(level * 100), PERCENT)


def _speed(device: Device) -> Reading | None:
    value = number(device, "percentage") if device.type == "fan" else None
    return None if value is None else Reading(device, tidy(value), PERCENT)


def _battery(device: Device) -> Reading | None:
    value = number(device, "battery_level", "battery") if device.type != "sensor" else None
    return None if value is None else Reading(device, tidy(value), PERCENT)


def _color(device: Device) -> Reading | None:
    rgb = device.attributes.get("rgb_color")
    if isinstance(rgb, list | tuple) and len(rgb) == 3 and all(isinstance(x, int | float) for x in rgb):
        red, green, blue = (int(x) for x in rgb)
        return Reading(device, nearest_name((red, green, blue)))
    kelvin = number(device, "color_temp_kelvin")
    return None if kelvin is None else Reading(device, int(kelvin), "K")


def _kelvin(device: Device) -> Reading | None:
    kelvin = number(device, "color_temp_kelvin")
    return None if kelvin is None else Reading(device, int(kelvin), "K")


def _mode(device: Device) -> Reading | None:
    return Reading(device, device.state) if device.type == "climate" and device.state is not None else None


def _effect(device: Device) -> Reading | None:
    if not listed(device, "effect_list"):
        return None
    return Reading(device, device.attributes.get("effect") or "none")


def _title(device: Device) -> Reading | None:
    title = device.attributes.get("media_title") if device.type == "media_player" else None
    return None if not title else Reading(device, str(title))


def _events(device: Device) -> Reading | None:
    """What stands in a calendar: a list of events, or only the next one; 0 for an empty one."""
    if device.type != "calendar":
        return None
    listed = device.attributes.get("events")
    if isinstance(listed, list | tuple):
        told = [_event(e.get("summary"), e.get("start"), e.get("location")) for e in listed if isinstance(e, Mapping)]
        return Reading(device, "; ".join(told) or 0)
    title = device.attributes.get("message")
    start, place = device.attributes.get("start_time"), device.attributes.get("location")
    return Reading(device, _event(title, start, place)) if title else None


def _event(title: Any, start: Any, place: Any) -> str:
    """One event with its local date and time, without the time zone, and its place."""
    at = " ".join(str(start or "").replace("T", " ")[:16].split())
    about = ", ".join(part for part in (at, str(place or "")) if part)
    return f"{title} ({about})" if about else str(title)


_SPECIAL = {
    "events": _events,
    "temperature": _temperature,
    "current_temperature": _temperature,
    "target_temperature": _target_temperature,
    "humidity": _humidity,
    "brightness": _brightness,
    "position": _position,
    "volume": _volume,
    "speed": _speed,
    "percentage": _speed,
    "battery": _battery,
    "color": _color,
    "color_temperature": _kelvin,
    "mode": _mode,
    "hvac_mode": _mode,
    "title": _title,
    "effect": _effect,
}
