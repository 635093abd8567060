from __future__ import annotations

import pytest

from agentkit.devices.adapter import Change, Device
from tests.apps.smart_home.conftest import Run

MODES = ["off", "heat", "cool", "heat_cool"]


def climate(state: str = "heat_cool", endpoint: str | None = None, **attributes: object) -> Device:
    limits = {"temperature_unit": "°C", "min_temp": 7, "max_temp": 35}
    return Device("climate.x", "Thermostat", "climate", state=state, attributes=limits | attributes, endpoint=endpoint)


KEEPS = climate(hvac_modes=MODES, target_temp_low=19, target_temp_high=23)
ABLE = climate("heat", hvac_modes=MODES, temperature=21, target_temp_low=None, target_temp_high=None)
SINGLE = climate("heat", hvac_modes=["off", "heat"], temperature=21)


def between(low: float, high: float) -> dict[str, float]:
    return {"target_temp_low": low, "target_temp_high": high}


@pytest.mark.parametrize(
    ("args", "kept"),
    [
        ({"low": 18, "high": 24}, (18, 24)),
        ({"low": 18}, (18, 23)),
        ({"high": 21.3}, (19, 21.5)),
        ({"low": 66, "high": 72, "unit": "fahrenheit"}, (19, 22)),
        ({"low": 66, "high": 72}, (19, 22)),
    ],
)
def test_a_range_is_set_and_the_end_that_was_not_said_stays(
    change: Run, args: dict[str, object], kept: tuple[float, float]
) -> None:
    assert change("set_temperature_range", KEEPS, **args) == Change(None, between(*kept))


def test_a_device_that_heats_changes_to_the_mode_that_keeps_a_range(change: Run) -> None:
    wanted = Change("heat_cool", between(19, 22) | {"temperature": None})
    assert change("set_temperature_range", ABLE, low=19, high=22) == wanted


def test_a_device_on_the_network_is_not_told_to_drop_its_temperature(change: Run) -> None:
    remote = climate("heat", "http://10.0.0.5/x", hvac_modes=MODES, temperature=21, **between(18, 24))
    assert change("set_temperature_range", remote, low=19, high=22) == Change("heat_cool", between(19, 22))


def test_a_device_that_is_off_stays_off(change: Run) -> None:
    off = climate("off", hvac_modes=MODES, target_temp_low=None, target_temp_high=None)
    assert change("set_temperature_range", off, low=19, high=22) == Change(None, between(19, 22))


@pytest.mark.parametrize(
    ("device", "args", "reason"),
    [
        (SINGLE, {"low": 19, "high": 22}, "one_temperature"),
        (climate("heat", hvac_modes=MODES, supported_features=["target_temperature"]), {"low": 19}, "one_temperature"),
        (ABLE, {"low": 19}, "lacks_other_end"),
        (KEEPS, {"low": 23}, "crossed_range"),
        (KEEPS, {"low": 2, "high": 20}, "out_of_range"),
    ],
)
def test_a_range_that_cannot_be_kept_is_refused(
    refusal: Run, device: Device, args: dict[str, object], reason: str
) -> None:
    assert refusal("set_temperature_range", device, **args)[0] == reason


def test_a_device_with_one_temperature_says_from_where_to_where_it_goes(refusal: Run) -> None:
    _, values = refusal("set_temperature_range", SINGLE, low=19, high=22)
    assert (values["low"], values["high"], values["unit"]) == (7, 35, "°C")


def test_one_temperature_for_a_device_that_keeps_a_range_is_refused_with_the_range(refusal: Run) -> None:
    reason, values = refusal("set_temperature", KEEPS, temperature=21)
    assert (reason, values["low"], values["high"]) == ("keeps_range", 19, 23)


@pytest.mark.parametrize(("step", "kept"), [(1, (20, 24)), (-2, (17, 21)), (20, (31, 35)), (-20, (7, 11))])
def test_warmer_moves_both_ends_within_the_limits(change: Run, step: float, kept: tuple[float, float]) -> None:
    assert change("adjust_temperature", KEEPS, step=step) == Change(None, between(*kept))


def test_a_device_that_heats_again_takes_one_temperature(change: Run) -> None:
    heats = climate("heat", hvac_modes=MODES, **between(19, 23))
    assert change("set_temperature", heats, temperature=21) == Change(None, {"temperature": 21})


def test_the_target_of_a_device_that_keeps_a_range_is_the_range(ask: Run) -> None:
    found = ask("get_state", KEEPS, attribute="setting")
    assert (found.reply_key, found.values["temperature"]) == ("setting.one", "19–23")


@pytest.mark.parametrize(("limit", "value"), [("highest", 35), ("most", 35), ("lowest", 7), ("least", 7)])
def test_the_ends_of_the_scale_are_the_devices_own(change: Run, limit: str, value: float) -> None:
    assert change("set_temperature_limit", SINGLE, limit=limit) == Change(None, {"temperature": value})


def test_as_much_as_it_goes_says_no_temperature_of_what_cools(change: Run, refusal: Run) -> None:
    cools = climate("cool", temperature=24)
    reason, values = refusal("set_temperature_limit", cools, limit="most")
    assert (reason, values["low"], values["high"]) == ("unclear_limit", 7, 35)
    assert change("set_temperature_limit", cools, limit="highest") == Change(None, {"temperature": 35})


def test_a_device_that_tells_no_limits_has_no_end_to_go_to(refusal: Run) -> None:
    silent = Device("climate.x", "Heater", "climate", state="heat", attributes={"temperature": 20})
    assert refusal("set_temperature_limit", silent, limit="highest")[0] == "no_limit"


def test_a_preset_is_taken_as_the_device_spells_it(change: Run) -> None:
    device = climate(preset_modes=["Comfort", "ECO", "Away"])
    assert change("set_preset_mode", device, mode="eco") == Change(None, {"preset_mode": "ECO"})


@pytest.mark.parametrize(
    ("tool", "device", "reason"),
    [
        ("set_preset_mode", climate(), "unsupported"),
        ("set_preset_mode", climate(preset_modes=["none", "away"]), "unknown_mode"),
        ("set_swing_mode", climate(), "unsupported"),
        ("set_swing_mode", climate(swing_modes=["off", "on"]), "unknown_mode"),
    ],
)
def test_a_setting_that_a_device_does_not_list_is_refused(refusal: Run, tool: str, device: Device, reason: str) -> None:
    assert refusal(tool, device, mode="eco")[0] == reason


@pytest.mark.parametrize(
    ("modes", "mode", "taken"),
    [
        (["off", "on"], "on", "on"),
        (["off", "vertical", "both"], "on", "both"),
        (["off", "vertical"], "on", "vertical"),
        (["off", "vertical"], "off", "off"),
    ],
)
def test_swing_takes_the_way_that_a_device_has(change: Run, modes: list[str], mode: str, taken: str) -> None:
    assert change("set_swing_mode", climate(swing_modes=modes), mode=mode) == Change(None, {"swing_mode": taken})


def test_a_humidifier_takes_a_humidity_within_its_limits(change: Run, refusal: Run) -> None:
    limits = {"min_humidity": 30, "max_humidity": 80}
    device = Device("humidifier.x", "Humidifier", "humidifier", state="on", attributes=limits)
    assert change("set_humidity", device, humidity=50) == Change(None, {"humidity": 50})
    reason, values = refusal("set_humidity", device, humidity=90)
    assert (reason, values["low"], values["high"]) == ("out_of_range", 30, 80)


def test_a_climate_device_takes_a_humidity_only_if_it_has_one(refusal: Run) -> None:
    assert refusal("set_humidity", SINGLE, humidity=50)[0] == "unsupported"
