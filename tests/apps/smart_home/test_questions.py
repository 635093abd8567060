from __future__ import annotations

from datetime import datetime

import pytest

from agentkit.config import App
from agentkit.devices.adapter import Device
from agentkit.devices.view import View
from tests.apps.smart_home.conftest import Run


def sensor(state: str, device_class: str, unit: str) -> Device:
    return make("s", "sensor", state, device_class=device_class, unit_of_measurement=unit)


def climate(current: float, target: float) -> Device:
    return make("c", "climate", "heat", current_temperature=current, temperature=target)


def make(name: str, kind: str, state: str | None, area: str | None = None, **attributes: object) -> Device:
    return Device(f"{kind}.{name}", name, kind, area, state=state, attributes=attributes)


def calendar(**attributes: object) -> Device:
    return make("k", "calendar", "off", **attributes)


ON, OFF, DARK = make("a", "light", "on"), make("b", "light", "off"), make("c", "light", None)


@pytest.mark.parametrize(
    ("devices", "args", "key", "names"),
    [
        ((ON,), {}, "state.one", None),
        ((ON, OFF), {}, "state.many", ["a", "b"]),
        ((ON,), {"state": "on"}, "state.yes", None),
        ((OFF,), {"question": "yes_no", "state": "on"}, "state.no", None),
        ((ON, OFF), {"question": "any", "state": "on"}, "state.any_yes", ["a"]),
        ((OFF,), {"question": "any", "state": "on"}, "state.no", None),
        ((OFF, OFF), {"question": "any", "state": "on"}, "state.any_no", []),
        ((ON, OFF), {"question": "all", "state": "on"}, "state.all_no", ["b"]),
        ((ON, ON), {"question": "all", "state": "on"}, "state.all_yes", ["a", "a"]),
        ((ON, OFF), {"question": "which", "state": "off"}, "state.which", ["b"]),
        ((ON, ON), {"question": "which", "state": "off"}, "state.none", []),
        ((ON, OFF, OFF), {"question": "how_many", "state": "off"}, "state.count", ["b", "b"]),
        ((ON, OFF), {"question": "how_many"}, "state.count", ["a", "b"]),
        ((DARK,), {}, "state.unknown", ["c"]),
        ((DARK,), {"state": "on"}, "state.unknown", ["c"]),
        ((), {"state": "on"}, "state.none", []),
    ],
)
def test_every_kind_of_question_has_its_sentence(
    ask: Run, devices: tuple[Device, ...], args: dict[str, str], key: str, names: list[str] | None
) -> None:
    answer = ask("get_state", *devices, **args)
    assert answer.reply_key == key
    if names is not None:
        assert answer.values["names"] == names
        assert answer.values["count"] == len(names)


def test_no_tells_what_is_true_instead(ask: Run) -> None:
    answer = ask("get_state", make("front", "lock", "unlocked"), state="locked")
    assert (answer.reply_key, answer.values["state"], answer.values["asked"]) == ("state.no", "unlocked", "locked")


@pytest.mark.parametrize(
    ("device", "asked", "holds"),
    [
        (make("d", "binary_sensor", "on", device_class="door"), "open", True),
        (make("d", "binary_sensor", "off", device_class="window"), "closed", True),
        (make("d", "binary_sensor", "on", device_class="lock"), "locked", False),
        (make("m", "binary_sensor", "on", device_class="moisture"), "wet", True),
        (make("p", "person", "not_home"), "away", True),
        (make("p", "person", "not_home"), "home", False),
        (make("c", "climate", "heat"), "on", True),
        (make("c", "climate", "heat"), "heating", True),
        (make("c", "climate", "off"), "on", False),
        (make("t", "media_player", "paused"), "on", True),
        (make("t", "media_player", "standby"), "off", True),
        (make("v", "vacuum", "cleaning"), "running", True),
        (make("v", "vacuum", "docked"), "charging", True),
        (make("b", "sensor", "15", device_class="battery"), "low", True),
        (make("b", "sensor", "80", device_class="battery"), "low", False),
        (make("l", "lock", "locked"), "off", False),
    ],
)
def test_a_state_answers_to_the_words_people_use_for_it(ask: Run, device: Device, asked: str, holds: bool) -> None:
    assert ask("get_state", device, state=asked).reply_key == ("state.yes" if holds else "state.no")


@pytest.mark.parametrize(
    ("device", "attribute", "key", "value", "unit"),
    [
        (sensor("21.5", "temperature", "°C"), "temperature", "temperature.one", 21.5, "°C"),
        (climate(68, 70), "temperature", "temperature.one", 68, "°F"),
        (climate(19, 21), "target_temperature", "target_temperature.one", 21, "°C"),
        (sensor("45", "humidity", "%"), "humidity", "humidity.one", 45, "%"),
        (make("l", "light", "on", brightness=128), "brightness", "brightness.one", 50, "%"),
        (make("l", "light", "off", brightness=128), "brightness", "brightness.one", 0, "%"),
        (make("l", "light", "on", rgb_color=[250, 5, 5]), "color", "color.one", "red", ""),
        (make("l", "light", "on", color_temp_kelvin=2700), "color", "color.one", 2700, "K"),
        (make("c", "cover", "open", current_position=60), "position", "position.one", 60, "%"),
        (make("c", "cover", "closed"), "position", "position.one", 0, "%"),
        (make("m", "media_player", "playing", volume_level=0.35), "volume", "volume.one", 35, "%"),
        (make("m", "media_player", "playing", media_title="Song"), "title", "title.one", "Song", ""),
        (make("f", "fan", "on", percentage=40), "percentage", "speed.one", 40, "%"),
        (make("v", "vacuum", "docked", battery_level=90), "battery", "battery.one", 90, "%"),
        (sensor("640", "power", "W"), "power", "value.one", 640, "W"),
        (make("c", "climate", "cool", hvac_action="idle"), "hvac_action", "value.one", "idle", ""),
    ],
)  # fmt: skip
def test_values_are_read_in_peoples_units(
    ask: Run, device: Device, attribute: str, key: str, value: object, unit: str
) -> None:
    answer = ask("get_state", device, attribute=attribute)
    assert (answer.reply_key, answer.values["value"], answer.values["unit"]) == (key, value, unit)


def test_a_sensor_is_believed_before_the_thermostat_of_its_room(ask: Run) -> None:
    wall = make("s", "sensor", "21", "den", device_class="temperature", unit_of_measurement="°C")
    near = make("near", "climate", "heat", "den", current_temperature=23)
    far = make("far", "climate", "heat", "hall", current_temperature=25)
    assert ask("get_state", wall, near, attribute="temperature").values["device_id"] == wall.id
    answer = ask("get_state", wall, near, far, attribute="temperature")
    assert (answer.reply_key, answer.values["device_ids"]) == ("value.many", [wall.id, far.id])


def test_a_value_that_nothing_has_is_said_to_be_missing(ask: Run) -> None:
    answer = ask("get_state", ON, attribute="temperature")
    assert (answer.reply_key, answer.values["attribute"]) == ("value.none", "temperature")


def test_a_class_of_binary_sensor_is_asked_as_a_state(ask: Run) -> None:
    leak = make("leak", "binary_sensor", "on", device_class="moisture")
    motion = make("motion", "binary_sensor", "off", device_class="motion")
    assert ask("get_state", leak, motion, attribute="flood").reply_key == "state.yes"
    assert ask("get_state", leak, motion, attribute="motion").reply_key == "state.no"


def test_offline_devices_are_not_counted_and_named_if_all_are(ask: Run) -> None:
    gone = Device("light.gone", "gone", "light", state="on", is_available=False)
    assert ask("get_state", gone, ON, OFF, question="how_many", state="on").values["count"] == 1
    assert ask("get_state", gone, state="on").reply_key == "state.unavailable"


def test_inner_attributes_are_not_read_out(ask: Run) -> None:
    scene = make("x", "todo", "1", items=["a"])
    assert ask("get_state", scene, attribute="items").reply_key == "value.none"


def test_the_weather_comes_from_the_station_or_is_said_to_be_unknown(ask: Run) -> None:
    station = make("w", "weather", "rainy", temperature=12, temperature_unit="°C", humidity=80)
    answer = ask("get_weather", station)
    assert answer.reply_key == "weather.now"
    assert (answer.values["condition"], answer.values["temperature"], answer.values["unit"]) == ("rainy", 12, "°C")
    assert ask("get_weather", make("w", "weather", None)).reply_key == "weather.unknown"
    assert ask("get_weather").reply_key == "weather.unknown"


def test_time_and_date_come_from_the_clock_that_is_given(app: App) -> None:
    home = View(datetime(2025, 1, 31, 7, 5))
    time, date = app.tools["get_time"].function(home), app.tools["get_date"].function(home)
    assert (time.reply_key, time.values["time"]) == ("time.now", "07:05")
    assert date.reply_key == "date.today"
    assert (date.values["weekday"], date.values["date"]) == (5, "2025-01-31")


@pytest.mark.parametrize(
    ("attributes", "value"),
    [
        (
            {"events": [{"summary": "Choir", "start": "2026-03-03T19:00:00+01:00", "location": "Hall"}]},
            "Choir (2026-03-03 19:00, Hall)",
        ),
        (
            {"events": [{"summary": "Choir", "start": "2026-03-03"}, {"summary": "Dentist"}]},
            "Choir (2026-03-03); Dentist",
        ),
        ({"events": []}, 0),
        ({"message": "Choir", "start_time": "2026-03-03 19:00:00"}, "Choir (2026-03-03 19:00)"),
    ],
)
def test_a_calendar_tells_its_events_with_time_and_place(
    ask: Run, attributes: dict[str, object], value: object
) -> None:
    for args in ({}, {"attribute": "events"}):
        answer = ask("get_state", calendar(**attributes), **args)
        assert (answer.reply_key, answer.values["value"]) == ("events.one", value)


def test_a_calendar_that_reports_no_events_says_so(ask: Run) -> None:
    assert ask("get_state", calendar(), attribute="events").reply_key == "value.none"
