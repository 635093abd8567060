from __future__ import annotations

import pytest

from agentkit.devices.adapter import Change, Device
from tests.apps.smart_home.conftest import Run


def climate(state: str = "cool", **attributes: object) -> Device:
    return Device("climate.x", "AC", "climate", state=state, attributes=attributes)


CELSIUS = climate(temperature=24, temperature_unit="°C", min_temp=16, max_temp=30)
FAHRENHEIT = climate(temperature=70, temperature_unit="°F")


@pytest.mark.parametrize(
    ("device", "args", "temperature"),
    [
        (CELSIUS, {"temperature": 22}, 22),
        (CELSIUS, {"temperature": 21.3}, 21.5),
        (CELSIUS, {"temperature": 72, "unit": "fahrenheit"}, 22),
        (FAHRENHEIT, {"temperature": 68}, 68),
        (FAHRENHEIT, {"temperature": 20, "unit": "celsius"}, 68),
        (FAHRENHEIT, {"temperature": 13}, 55),
        (FAHRENHEIT, {"temperature": 26}, 79),  # nobody means 26 °F in a room
        (CELSIUS, {"temperature": 68}, 20),
    ],
)
def test_a_temperature_reaches_the_device_in_its_own_unit(
    change: Run, device: Device, args: dict[str, object], temperature: float
) -> None:
    assert change("set_temperature", device, **args) == Change(None, {"temperature": temperature})


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ({"temperature": 35}, 35),
        ({"temperature": 8}, 8),
        ({"temperature": -20}, -20),
        ({"temperature": 22, "unit": "fahrenheit"}, 22),
    ],
)
def test_a_temperature_the_device_cannot_reach_is_refused_with_its_limits(
    refusal: Run, args: dict[str, object], value: float
) -> None:
    reason, values = refusal("set_temperature", CELSIUS, **args)
    assert reason == "out_of_range"
    assert (values["value"], values["low"], values["high"], values["unit"]) == (value, 16, 30, "°C")


@pytest.mark.parametrize("temperature", [50, 45, 100])
def test_a_number_that_is_no_room_temperature_in_the_other_unit_is_not_converted(
    refusal: Run, temperature: float
) -> None:
    heating = climate(temperature=22, temperature_unit="°C", min_temp=5, max_temp=30)
    assert refusal("set_temperature", heating, temperature=temperature)[0] == "out_of_range"


def test_the_unit_is_guessed_from_the_numbers_if_the_device_does_not_say(change: Run) -> None:
    assert change("set_temperature", climate(temperature=70), temperature=72).attributes == {"temperature": 72}
    assert change("set_temperature", climate(temperature=20), temperature=22).attributes == {"temperature": 22}


def test_the_target_is_written_where_the_device_keeps_it(change: Run) -> None:
    device = climate(target_temperature=20)
    assert change("set_temperature", device, temperature=21).attributes == {"target_temperature": 21}


@pytest.mark.parametrize(
    ("device", "args", "temperature"),
    [
        (CELSIUS, {"step": 2}, 26),
        (CELSIUS, {"step": -1.5}, 22.5),
        (CELSIUS, {"step": 20}, 30),
        (CELSIUS, {"step": 3.6, "unit": "fahrenheit"}, 26),
        (FAHRENHEIT, {"step": 1, "unit": "celsius"}, 72),
        (climate(current_temperature=20), {"step": 1}, 21),
    ],
)
def test_a_step_starts_from_the_current_target_and_stays_within_limits(
    change: Run, device: Device, args: dict[str, object], temperature: float
) -> None:
    assert change("adjust_temperature", device, **args).attributes == {"temperature": temperature}


def test_a_step_from_a_value_that_nobody_knows_is_refused(refusal: Run) -> None:
    assert refusal("adjust_temperature", climate(), step=1)[0] == "unknown_value"


def test_a_mode_that_the_device_does_not_have_is_refused_with_those_it_has(refusal: Run) -> None:
    reason, values = refusal("set_hvac_mode", climate(hvac_modes=["off", "heat"]), mode="cool")
    assert (reason, values["modes"]) == ("unknown_mode", ["off", "heat"])


def test_auto_and_heat_cool_stand_in_for_each_other(change: Run) -> None:
    assert change("set_hvac_mode", climate(hvac_modes=["off", "heat_cool"]), mode="auto") == Change("heat_cool")


def test_fan_modes_are_found_whatever_their_case(change: Run, refusal: Run) -> None:
    device = climate(fan_modes=["Auto", "Low"])
    assert change("set_fan_mode", device, mode="low").attributes == {"fan_mode": "Low"}
    assert refusal("set_fan_mode", device, mode="turbo")[0] == "unknown_mode"
    assert refusal("set_fan_mode", climate(), mode="low")[0] == "unsupported"


@pytest.mark.parametrize(
    ("attributes", "mode"),
    [
        ({"hvac_modes": ["off", "cool", "heat", "auto"]}, "auto"),
        ({"hvac_modes": ["off", "cool", "heat"], "temperature": 22, "current_temperature": 19}, "heat"),
        ({"hvac_modes": ["off", "cool", "heat"], "temperature": 22, "current_temperature": 29}, "cool"),
        ({"hvac_modes": ["off", "heat"], "temperature": 22, "current_temperature": 29}, "heat"),
        ({"hvac_modes": ["off", "dry"]}, "dry"),
        ({}, "auto"),
    ],
)
def test_switched_on_it_does_what_brings_the_room_to_its_target(
    change: Run, attributes: dict[str, object], mode: str
) -> None:
    assert change("turn_on", climate("off", **attributes)) == Change(mode)


def test_switched_on_while_it_runs_it_keeps_its_mode(change: Run) -> None:
    assert change("turn_on", climate("dry", hvac_modes=["off", "cool", "dry"])) == Change("dry")
