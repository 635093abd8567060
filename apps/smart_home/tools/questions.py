"""Questions about devices, answered from what they last reported."""

from __future__ import annotations

from typing import Any, Literal

from agentkit.devices.adapter import Device
from agentkit.devices.view import View
from agentkit.understanding.tools import Answer, tool

from .common import is_off
from .groups import NAMED, REACH, answer, names, offline_row, reach, row, silence, survey
from .reading import CLASS_OF, WORDS, Reading, is_gone, is_silent, read

READABLE = (
    "light",
    "switch",
    "climate",
    "fan",
    "cover",
    "lock",
    "media_player",
    "vacuum",
    "lawn_mower",
    "valve",
    "sensor",
    "binary_sensor",
    "weather",
    "person",
    "device_tracker",
    "humidifier",
    "water_heater",
    "input_boolean",
    "todo",
    "calendar",
    "timer",
    "script",
    "update",
)
NAMED_VALUES = (
    "temperature",
    "target_temperature",
    "humidity",
    "brightness",
    "position",
    "volume",
    "speed",
    "battery",
    "color",
    "mode",
    "title",
    "events",
    "effect",
    "effect_list",
)
"""Attributes with a sentence of their own; the others are read out as value.one."""
WHILE_ON = {"light": ("brightness", "color", "color_temperature"), "fan": ("speed",)}
"""What a device only has while it is on; of one that is off it is told that it is off."""
SAME_ATTRIBUTE = {"current_temperature": "temperature", "percentage": "speed", "hvac_mode": "mode"}

Question = Literal["one", "yes_no", "any", "all", "which", "how_many"]


@tool(types=READABLE, is_query=True)
def get_state(
    devices: tuple[Device, ...],
    home: View | None = None,
    question: Question = "one",
    state: str | None = None,
    attribute: str | None = None,
) -> Answer:
    """Tell what devices are doing: their state, a value such as the temperature, which or how many are on.

    question: one (what is it), yes_no, any, all, which or how_many are in `state`. attribute: a value to read
    instead of the state.
    """
    if not devices:
        return Answer("state.none", names((), state=state))
    if state in REACH and not attribute:
        return reach(devices, state, question)
    if all(map(is_gone, devices)):
        return silence(devices)
    if not attribute and all(d.type == "calendar" for d in devices):
        attribute = "events"  # what a calendar is asked for is what stands in it
    if attribute == "setting":
        return _settings(devices)
    if attribute and attribute != "state":
        kind = CLASS_OF.get(attribute, attribute)
        of_class = tuple(d for d in devices if d.type == "binary_sensor" and d.device_class == kind)
        if not (of_class and kind in WORDS):
            return _values(devices, attribute, home)
        devices, state = of_class, state or WORDS[kind][0]
        question = "any" if question == "one" else question
    return _states(devices, question, state, home)


@tool(types=("weather",), is_query=True)
def get_weather(devices: tuple[Device, ...]) -> Answer:
    """Tell the weather that the home's weather station reports."""
    known = [d for d in devices if d.is_available and (d.state or read(d, "temperature"))]
    if not known:
        return Answer("weather.unknown", names(devices))
    device = known[0]
    temperature, humidity = read(device, "temperature"), read(device, "humidity")
    return Answer(
        "weather.now",
        {
            **names((device,)),
            "condition": device.state or device.attributes.get("condition"),
            "temperature": temperature.value if temperature else None,
            "unit": temperature.unit if temperature else None,
            "humidity": humidity.value if humidity else None,
            "wind_speed": device.attributes.get("wind_speed", device.attributes.get("native_wind_speed")),
        },
    )


def _states(devices: tuple[Device, ...], question: Question, state: str | None, home: View | None) -> Answer:
    if question == "how_many" and not state:
        return Answer("state.count", {**names(devices), "total": len(devices), "state": None})
    return _describe(devices) if not state else answer(survey(devices, state, home), question)


def _describe(devices: tuple[Device, ...]) -> Answer:
    known = tuple(d for d in devices if not is_silent(d))
    if not known:
        return silence(devices)
    if len(devices) == 1:
        return Answer("state.one", row(known[0]))
    rows = [row(d) for d in known] + [offline_row(d) for d in devices if d not in known]
    return Answer("state.many", {**names(known), "items": rows})


def _values(devices: tuple[Device, ...], attribute: str, home: View | None) -> Answer:
    name = SAME_ATTRIBUTE.get(attribute, attribute)
    live = _playing(tuple(d for d in devices if not is_gone(d)), name)
    idle = tuple(d for d in live if name in WHILE_ON.get(d.type, ()) and is_off(d))
    readings = _one_per_room([r for d in live if d not in idle and (r := read(d, attribute)) is not None])
    rows = [_reading(r, name) for r in readings] + [{**row(d), "kind": "idle"} for d in idle]
    rows += [offline_row(d) for d in devices if is_gone(d) and read(d, attribute) is not None]
    if not rows:
        if name == "title" and live:
            return answer(survey(devices, "playing", home), "which")
        return Answer("value.none", {**(names(devices) if len(devices) <= NAMED else {}), "attribute": name})
    if len(rows) > 1:
        ids = [r["device_id"] for r in rows]
        return Answer("value.many", {"device_ids": ids, "count": len(ids), "attribute": name, "items": rows})
    if not readings:
        return Answer("state.one", rows[0]) if idle else silence(tuple(d for d in devices if is_gone(d)))
    return Answer(f"{name}.one" if name in NAMED_VALUES else "value.one", rows[0])


def _playing(live: tuple[Device, ...], attribute: str) -> tuple[Device, ...]:
    """Of those that are asked what they play, the ones that play now, if any do."""
    playing = tuple(d for d in live if d.state == "playing") if attribute == "title" else ()
    return playing or live


def _settings(devices: tuple[Device, ...]) -> Answer:
    """What is set: a temperature means little without the mode, which may be off."""
    live = tuple(d for d in devices if not is_gone(d))
    rows = [{**row(d), "temperature": r.value, "unit": r.unit} for d in live if (r := read(d, "target_temperature"))]
    if not rows:
        return _describe(devices)
    if len(rows) == 1:
        return Answer("setting.one", rows[0])
    return Answer("setting.many", {**names(live), "items": rows})


def _one_per_room(readings: list[Reading]) -> list[Reading]:
    """Where a sensor and a thermostat of one room both know the value, keep the sensor's."""
    sensor_rooms = {r.device.area for r in readings if r.device.type == "sensor" and r.device.area}
    return [r for r in readings if r.device.type == "sensor" or r.device.area not in sensor_rooms]


def _reading(reading: Reading, attribute: str) -> dict[str, Any]:
    is_paused = attribute == "title" and reading.device.state == "paused"
    kind = {"kind": "paused"} if is_paused else {}
    return {**row(reading.device), "attribute": attribute, "value": reading.value, "unit": reading.unit, **kind}
