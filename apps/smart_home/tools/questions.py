"""Questions about devices, answered from what they last reported."""

from __future__ import annotations

from typing import Any, Literal

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import Answer, tool

from .reading import CLASS_OF, WORDS, Reading, has_state, read, spoken_state, state_word

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
)
"""Attributes with a sentence of their own; the others are read out as value.one."""
CALLED_BY_CLASS = ("window", "door", "garage", "gate", "curtain", "blind", "shade", "shutter", "awning")
SAME_ATTRIBUTE = {"current_temperature": "temperature", "percentage": "speed", "hvac_mode": "mode"}

Question = Literal["one", "yes_no", "any", "all", "which", "how_many"]


@tool(types=READABLE, is_query=True)
def get_state(
    devices: tuple[Device, ...],
    question: Question = "one",
    state: str | None = None,
    attribute: str | None = None,
) -> Answer:
    """Tell what devices are doing: their state, a value such as the temperature, which or how many are on.

    question: one (what is it), yes_no, any, all, which or how_many are in `state`. attribute: a value to read
    instead of the state.
    """
    if not devices:
        return Answer("state.none", _names((), state=state))
    live = tuple(d for d in devices if d.is_available)
    if not live:
        return Answer("state.unavailable", _names(devices))
    if not attribute and all(d.type == "calendar" for d in live):
        attribute = "events"  # what a calendar is asked for is what stands in it
    if attribute == "setting":
        return _settings(live)
    if attribute and attribute != "state":
        kind = CLASS_OF.get(attribute, attribute)
        of_class = tuple(d for d in live if d.type == "binary_sensor" and d.device_class == kind)
        if not (of_class and kind in WORDS):
            return _values(live, attribute)
        live, state = of_class, state or WORDS[kind][0]
        question = "any" if question == "one" else question
    return _states(live, question, state)


@tool(types=("weather",), is_query=True)
def get_weather(devices: tuple[Device, ...]) -> Answer:
    """Tell the weather that the home's weather station reports."""
    known = [d for d in devices if d.is_available and (d.state or read(d, "temperature"))]
    if not known:
        return Answer("weather.unknown", _names(devices))
    device = known[0]
    temperature, humidity = read(device, "temperature"), read(device, "humidity")
    return Answer(
        "weather.now",
        {
            **_names((device,)),
            "condition": device.state or device.attributes.get("condition"),
            "temperature": temperature.value if temperature else None,
            "unit": temperature.unit if temperature else None,
            "humidity": humidity.value if humidity else None,
            "wind_speed": device.attributes.get("wind_speed", device.attributes.get("native_wind_speed")),
        },
    )


def _states(live: tuple[Device, ...], question: Question, state: str | None) -> Answer:
    if question == "one" and state:
        question = "yes_no"
    if question == "how_many" and not state:
        return Answer("state.count", {**_names(live), "total": len(live), "state": None})
    if not state or question == "one":
        return _describe(live)
    state = spoken_state(state, live)
    hits = tuple(d for d in live if has_state(d, state))
    rest = tuple(d for d in live if d not in hits)
    values = {**_names(hits), "state": state, "total": len(live), "type": _kind(live)}
    if question == "how_many":
        return Answer("state.count", values)
    if question == "which":
        return Answer("state.which" if hits else "state.none", values)
    if len(live) == 1:
        return _yes_no(live[0], state, is_yes=bool(hits))
    if question == "all":
        others = {**values, **_names(rest)}
        return Answer("state.all_no", others) if rest else Answer("state.all_yes", values)
    if state in ("open", "closed") and any(d.type == "lock" for d in hits):
        return Answer("state.any_each", {**values, "items": [_one(d) for d in hits]})
    return Answer("state.any_yes" if hits else "state.any_no", values)


def _kind(live: tuple[Device, ...]) -> str | None:
    """What the devices are called together: by their class where people do so too; None if they are of many kinds."""
    if len({d.type for d in live}) > 1:
        return None
    classes = {d.device_class for d in live}
    shared = next(iter(classes)) if len(classes) == 1 else None
    return shared if shared in CALLED_BY_CLASS else live[0].type


def _describe(live: tuple[Device, ...]) -> Answer:
    known = tuple(d for d in live if d.state is not None)
    if not known:
        return Answer("state.unknown", _names(live))
    if len(known) == 1:
        return Answer("state.one", _one(known[0]))
    return Answer("state.many", {**_names(known), "items": [_one(d) for d in known]})


def _yes_no(device: Device, state: str, *, is_yes: bool) -> Answer:
    if device.state is None:
        return Answer("state.unknown", _names((device,)))
    key = "state.yes" if is_yes else "state.no"
    return Answer(key, {**_one(device), "asked": state})


def _values(live: tuple[Device, ...], attribute: str) -> Answer:
    name = SAME_ATTRIBUTE.get(attribute, attribute)
    readings = _one_per_room([r for r in (read(d, attribute) for d in live) if r is not None])
    if not readings:
        return Answer("value.none", {**_names(live), "attribute": name})
    rows = [_reading(r, name) for r in readings]
    if len(rows) > 1:
        return Answer("value.many", {**_names(tuple(r.device for r in readings)), "attribute": name, "items": rows})
    return Answer(f"{name}.one" if name in NAMED_VALUES else "value.one", rows[0])


def _settings(live: tuple[Device, ...]) -> Answer:
    """What is set: a temperature means little without the mode, which may be off."""
    rows = [{**_one(d), "temperature": r.value, "unit": r.unit} for d in live if (r := read(d, "target_temperature"))]
    if not rows:
        return _describe(live)
    if len(rows) == 1:
        return Answer("setting.one", rows[0])
    return Answer("setting.many", {**_names(live), "items": rows})


def _one_per_room(readings: list[Reading]) -> list[Reading]:
    """Where a sensor and a thermostat of one room both know the value, keep the sensor's."""
    sensor_rooms = {r.device.area for r in readings if r.device.type == "sensor" and r.device.area}
    return [r for r in readings if r.device.type == "sensor" or r.device.area not in sensor_rooms]


def _one(device: Device) -> dict[str, Any]:
    word = state_word(device)
    unit = device.attributes.get("unit_of_measurement") if device.type == "sensor" else None
    return {
        "name": device.name,
        "device_id": device.id,
        "type": device.type,
        "device_class": device.device_class,
        "area": device.area,
        "state": word,
        "unit": unit or "",
    }


def _reading(reading: Reading, attribute: str) -> dict[str, Any]:
    return {**_one(reading.device), "attribute": attribute, "value": reading.value, "unit": reading.unit}


def _names(devices: tuple[Device, ...], **more: Any) -> dict[str, Any]:
    names, ids = [d.name for d in devices], [d.id for d in devices]
    return {"names": names, "device_ids": ids, "count": len(devices), **more}
