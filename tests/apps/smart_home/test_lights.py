from __future__ import annotations

import pytest

from agentkit.devices.adapter import Change, Device
from tests.apps.smart_home.conftest import Run


def light(
    state: str = "on", modes: list[str] | None = None, endpoint: str | None = None, **attributes: object
) -> Device:
    listed = {} if modes is None else {"supported_color_modes": modes}
    return Device("light.x", "Lamp", "light", state=state, attributes={**listed, **attributes}, endpoint=endpoint)


RGB, WHITE, DIM, PLAIN = ["rgb", "color_temp"], ["color_temp"], ["brightness"], ["onoff"]


@pytest.mark.parametrize(("percent", "level"), [(1, 3), (50, 128), (100, 255)])
def test_brightness_in_percent_becomes_a_level_of_255(change: Run, percent: int, level: int) -> None:
    assert change("set_brightness", light(modes=DIM), brightness=percent) == Change("on", {"brightness": level})


def test_brightness_zero_switches_off(change: Run) -> None:
    assert change("set_brightness", light(modes=DIM), brightness=0) == Change("off")


def test_brightness_outside_of_percent_is_refused_with_the_limits(refusal: Run) -> None:
    reason, values = refusal("set_brightness", light(modes=DIM), brightness=140)
    assert reason == "out_of_range"
    assert (values["value"], values["low"], values["high"], values["unit"]) == (140, 0, 100, "%")


@pytest.mark.parametrize(
    ("tool", "args"),
    [("set_brightness", {"brightness": 40}), ("adjust_brightness", {"step": 10}), ("set_color", {"color": "red"}),
     ("set_color_temperature", {"kelvin": 2700}), ("adjust_color_temperature", {"step": 300})],
)  # fmt: skip
def test_a_lamp_that_only_switches_refuses_everything_else(refusal: Run, tool: str, args: dict[str, object]) -> None:
    assert refusal(tool, light(modes=PLAIN), **args)[0] == "unsupported"


@pytest.mark.parametrize(("step", "level"), [(20, 153), (-20, 51), (100, 255), (-100, 3)])
def test_a_step_starts_from_the_current_brightness_and_stays_within_limits(change: Run, step: int, level: int) -> None:
    assert change("adjust_brightness", light(brightness=102), step=step) == Change("on", {"brightness": level})


def test_a_dark_lamp_made_brighter_starts_from_where_it_was_left(change: Run) -> None:
    assert change("adjust_brightness", light("off", brightness=100), step=20) == Change("on", {"brightness": 150})


def test_a_dark_lamp_that_tells_no_level_comes_on_as_it_was_left(change: Run) -> None:
    assert change("adjust_brightness", light("off"), step=20) == Change("on")


def test_a_dark_lamp_made_dimmer_stays_dark(refusal: Run) -> None:
    assert refusal("adjust_brightness", light("off", brightness=100), step=-20)[0] == "is_off"


@pytest.mark.parametrize(
    ("color", "rgb"),
    [
        ("red", [255, 0, 0]),
        ("Sky Blue", [100, 190, 255]),
        ("紅色", [255, 0, 0]),
        ("粉红色", [255, 105, 180]),
        ("#00ff80", [0, 255, 128]),
        ("12, 34,56", [12, 34, 56]),
        ("[1, 2, 3]", [1, 2, 3]),
    ],
)
def test_a_colour_by_name_code_or_numbers_becomes_rgb(change: Run, color: str, rgb: list[int]) -> None:
    assert change("set_color", light(modes=RGB), color=color) == Change("on", {"rgb_color": rgb})


@pytest.mark.parametrize("color", ["blurple", "", "300,0,0", "1,2"])
def test_a_colour_that_nobody_knows_is_refused(refusal: Run, color: str) -> None:
    reason, values = refusal("set_color", light(modes=RGB), color=color)
    assert (reason, values["color"]) == ("unknown_color", color)


def test_a_white_lamp_refuses_colours_but_takes_white(change: Run, refusal: Run) -> None:
    assert refusal("set_color", light(modes=WHITE), color="red")[0] == "unsupported"
    assert change("set_color", light(modes=WHITE), color="white") == Change("on", {"color_temp_kelvin": 4000})
    assert change("set_color", light(modes=WHITE), color="暖白") == Change("on", {"color_temp_kelvin": 2700})


def test_a_lamp_that_says_nothing_about_its_modes_is_tried(change: Run) -> None:
    assert change("set_color", light(), color="blue") == Change("on", {"rgb_color": [0, 0, 255]})


def test_a_colour_replaces_the_white_and_a_white_the_colour(change: Run) -> None:
    assert change("set_color", light(modes=RGB, color_temp_kelvin=2700), color="red").attributes == {
        "rgb_color": [255, 0, 0],
        "color_temp_kelvin": None,
    }
    assert change("set_color_temperature", light(modes=RGB, rgb_color=[1, 2, 3]), kelvin=3000).attributes == {
        "color_temp_kelvin": 3000,
        "rgb_color": None,
    }


def test_a_lamp_on_the_network_is_not_told_to_forget_its_other_mode(change: Run) -> None:
    lamp = light(modes=RGB, color_temp_kelvin=2700, endpoint="http://10.0.0.1/")
    assert change("set_color", lamp, color="red").attributes == {"rgb_color": [255, 0, 0]}


def test_a_colour_lamp_mixes_the_white_it_does_not_have(change: Run) -> None:
    red, green, blue = change("set_color_temperature", light(modes=["rgb"]), kelvin=2700).attributes["rgb_color"]
    assert red > green > blue


def test_white_outside_of_the_lamps_range_is_refused_with_its_limits(refusal: Run) -> None:
    lamp = light(modes=WHITE, min_color_temp_kelvin=2200, max_color_temp_kelvin=6500)
    reason, values = refusal("set_color_temperature", lamp, kelvin=1900)
    assert (reason, values["low"], values["high"]) == ("out_of_range", 2200, 6500)


def test_a_step_of_white_is_kept_within_the_lamps_range(change: Run) -> None:
    lamp = light(modes=WHITE, color_temp_kelvin=6000, max_color_temp_kelvin=6500)
    assert change("adjust_color_temperature", lamp, step=2000).attributes == {"color_temp_kelvin": 6500}
