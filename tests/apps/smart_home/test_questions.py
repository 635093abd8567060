from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from agentkit.config import App
from agentkit.devices.adapter import Device
from agentkit.devices.view import View
from agentkit.understanding.tools import Answer
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
        (make("v", "valve", "closed"), "off", True),
        (make("v", "valve", "open"), "on", True),
        (make("g", "cover", "closed", device_class="garage"), "locked", True),
        (make("g", "cover", "open", device_class="garage"), "safe", False),
        (make("g", "cover", "closing", device_class="garage"), "open", True),
        (make("g", "cover", "closing", device_class="garage"), "closed", False),
        (make("l", "lock", "jammed"), "unlocked", False),
        (make("l", "lock", "jammed"), "locked", False),
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


@pytest.mark.parametrize(
    ("device", "attribute"),
    [
        (make("l", "light", "off", brightness=128), "brightness"),
        (make("l", "light", "off", color_temp_kelvin=2700), "color"),
        (make("f", "fan", "off", percentage=0), "speed"),
    ],
)
def test_what_is_off_is_said_to_be_off(ask: Run, device: Device, attribute: str) -> None:
    answer = ask("get_state", device, attribute=attribute)
    assert (answer.reply_key, answer.values["state"]) == ("state.one", "off")


def test_a_wanted_temperature_is_not_told_as_the_one_that_is(ask: Run) -> None:
    assert (
        ask("get_state", make("c", "climate", "heat", temperature=22), attribute="temperature").reply_key
        == "value.none"
    )


def test_a_sensor_that_says_it_is_unavailable_is_offline(ask: Run) -> None:
    gone, near = sensor("unavailable", "temperature", "°C"), climate(26, 25)
    assert ask("get_state", gone).reply_key == "state.unavailable"
    assert ask("get_state", gone, attribute="temperature").reply_key == "state.unavailable"
    rows = ask("get_state", gone, near, attribute="temperature").values["items"]
    assert [(r["device_id"], r["state"]) for r in rows] == [("climate.c", "heat"), ("sensor.s", "unavailable")]


FRONT = make("Front Door", "lock", "locked", "hall")
BACK = make("Back Door", "lock", "locked", "kitchen")
CONTACT = make("Front Door Sensor", "binary_sensor", "on", "hall", device_class="door")
GARAGE = make("Garage Door", "cover", "open", "garage", device_class="garage")
GONE = Device("lock.gone", "Side Door", "lock", "hall", state="locked", is_available=False)


def rows_of(answer: Answer, key: str) -> list[tuple[str, str, str | None]]:
    return [(r["device_id"], r["state"], r.get("kind")) for r in answer.values.get(key, ())]


def test_all_are_never_said_to_be_so_where_one_cannot_tell(ask: Run) -> None:
    answer = ask("get_state", FRONT, GONE, question="all", state="locked")
    assert answer.reply_key == "state.unsure"
    assert rows_of(answer, "items") == [(FRONT.id, "locked", None)]
    assert rows_of(answer, "others") == [(GONE.id, "unavailable", "offline")]


@pytest.mark.parametrize("question", ["any", "which", "how_many"])
def test_who_is_offline_is_named_beside_who_is_so(ask: Run, question: str) -> None:
    answer = ask("get_state", FRONT, GONE, question=question, state="locked")
    assert answer.values["device_ids"] == [FRONT.id]
    assert rows_of(answer, "others") == [(GONE.id, "unavailable", "offline")]


@pytest.mark.parametrize("question", ["any", "which"])
def test_none_is_never_said_to_be_so_where_one_cannot_tell(ask: Run, question: str) -> None:
    assert ask("get_state", FRONT, GONE, question=question, state="unlocked").reply_key == "state.unsure"


def test_the_contact_of_a_door_decides_whether_it_is_open(app: App) -> None:
    home = View(datetime(2025, 1, 1), (FRONT, BACK, CONTACT))
    answer = app.tools["get_state"].function((FRONT,), home=home, state="closed")
    assert isinstance(answer, Answer)
    assert (answer.reply_key, answer.values["device_id"], answer.values["state"]) == ("state.no", FRONT.id, "open")


@pytest.mark.parametrize(("contact", "key", "state"), [("on", "state.no", "open"), ("off", "state.yes", "locked")])
def test_a_bolt_locks_no_door_that_stands_open(app: App, contact: str, key: str, state: str) -> None:
    home = View(datetime(2025, 1, 1), (FRONT, BACK, replace(CONTACT, state=contact)))
    answer = app.tools["get_state"].function((FRONT,), home=home, state="locked")
    assert isinstance(answer, Answer)
    assert (answer.reply_key, answer.values["device_id"], answer.values["state"]) == (key, FRONT.id, state)


def test_a_home_is_not_locked_while_one_door_stands_open(app: App) -> None:
    home = View(datetime(2025, 1, 1), (FRONT, BACK, CONTACT))
    answer = app.tools["get_state"].function((FRONT, BACK), home=home, question="all", state="locked")
    assert isinstance(answer, Answer)
    assert (answer.reply_key, answer.values["device_ids"]) == ("state.all_no", [FRONT.id])


def test_of_a_door_without_a_contact_only_the_lock_is_known(ask: Run) -> None:
    answer = ask("get_state", BACK, question="yes_no", state="closed")
    assert answer.reply_key == "state.known"
    assert rows_of(answer, "others") == [(BACK.id, "locked", "only")]


def test_none_are_counted_as_open_where_only_a_lock_is_known(ask: Run) -> None:
    shut = make("Gate", "cover", "closed", "yard", device_class="gate")
    answer = ask("get_state", BACK, shut, question="how_many", state="open")
    assert (answer.reply_key, rows_of(answer, "others")) == ("state.known", [(BACK.id, "locked", "only")])


def test_a_lock_that_is_stuck_is_told_of_where_several_might_be_unlocked(ask: Run) -> None:
    stuck = make("Side Door", "lock", "jammed")
    answer = ask("get_state", FRONT, stuck, question="any", state="unlocked")
    assert (answer.reply_key, rows_of(answer, "items")) == ("state.any_yes", [(stuck.id, "jammed", None)])


def test_what_is_unlocked_by_its_class_is_told_in_its_own_word(ask: Run) -> None:
    answer = ask("get_state", FRONT, GARAGE, question="any", state="unlocked")
    assert rows_of(answer, "items") == [(GARAGE.id, "open", None)]


def test_an_open_garage_door_is_among_the_doors_that_are_open(ask: Run) -> None:
    answer = ask("get_state", FRONT, BACK, CONTACT, GARAGE, question="all", state="closed")
    assert answer.reply_key == "state.all_no"
    assert rows_of(answer, "items") == [(FRONT.id, "open", None), (GARAGE.id, "open", None)]
    assert answer.values["type"] == "door"


def test_an_offline_contact_leaves_open_whether_the_door_is(app: App) -> None:
    gone = Device(
        CONTACT.id, CONTACT.name, CONTACT.type, CONTACT.area, (), "off", CONTACT.attributes, is_available=False
    )
    home = View(datetime(2025, 1, 1), (FRONT, gone))
    answer = app.tools["get_state"].function((FRONT,), home=home, state="closed")
    assert isinstance(answer, Answer)
    assert answer.reply_key == "state.unsure"
    assert rows_of(answer, "others") == [(FRONT.id, "locked", "only"), (CONTACT.id, "unavailable", "offline")]


def test_a_blanket_answer_about_the_speakers_room_says_so(app: App) -> None:
    here, there = make("a", "light", "off", "den"), make("b", "light", "on", "hall")
    home = View(datetime(2025, 1, 1), (here, here, there), area="den")
    answer = app.tools["get_state"].function((here, here), home=home, question="all", state="off")
    assert isinstance(answer, Answer)
    assert (answer.reply_key, answer.values["area"]) == ("state.all_yes", "den")


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
