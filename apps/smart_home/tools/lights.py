"""Brightness, colour and colour temperature."""

from __future__ import annotations

from typing import Annotated, Any

from agentkit.devices.adapter import Change, Device
from agentkit.understanding.tools import BEFORE, Decision, Range, tool

from .colors import RGB, WHITES, color_name, kelvin_to_rgb, nearest_name, parse_color
from .common import clamp, is_off, is_simulated, number, refuse, runs, to

COLOR_MODES = {"hs", "xy", "rgb", "rgbw", "rgbww"}
WHITE_MODES = {"color_temp", "rgbww"}
ANOTHER = "another"
WHEEL = ("red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink")
DEFAULT_KELVIN = 4000
LOWEST_KELVIN, HIGHEST_KELVIN = 1500, 10_000
KELVIN = Range(LOWEST_KELVIN, HIGHEST_KELVIN, "K")


@tool(types=("light",), undone_by=BEFORE)
def set_brightness(device: Device, brightness: Annotated[int, Range(0, 100, "%")]) -> Decision:
    """Set how bright a light is, in percent."""
    if not _has_mode(device, lambda modes: modes != {"onoff"}):
        return refuse("unsupported", device, what="brightness")
    if not 0 <= brightness <= 100:
        return refuse("out_of_range", device, value=brightness, low=0, high=100, unit="%")
    return _bright(device, brightness)


@tool(types=("light",), prefers=runs, undone_by=BEFORE)
def adjust_brightness(
    device: Device, step: Annotated[int, Range(-100, 100, "%")], of_present: bool = False
) -> Decision:
    """Make a light brighter (step above 0) or dimmer (step below 0) by so many percent.

    of_present: percent of what it is now, not of full.
    """
    if not _has_mode(device, lambda modes: modes != {"onoff"}):
        return refuse("unsupported", device, what="brightness")
    level = number(device, "brightness")
    if is_off(device):
        if step < 0:
            return refuse("is_off", device)
        if not level:  # it comes back as it was left, and only the lamp itself knows how
            return Decision({device.id: Change("on")}, reply_key="done.turn_on")
    current = 100 if level is None else level / 2.55
    step = round(current * step / 100) if of_present else step
    return _bright(device, round(clamp(current + step, 1, 100)))  # dimming does not switch off


@tool(types=("light",), undone_by=BEFORE)
def set_color(device: Device, color: str) -> Decision:
    """Set the colour of a light: a name such as red, or r,g,b.

    another: the next one of a wheel of colours.
    """
    if color == ANOTHER:
        color = _another(device)
    name = color_name(color)
    if name in WHITES:
        return set_color_temperature(device, WHITES[name])
    rgb = parse_color(color)
    if rgb is None:
        return refuse("unknown_color", device, color=color)
    if _has_mode(device, lambda modes: bool(modes & COLOR_MODES)):
        return to(device, "on", _color_attributes(device, rgb), color=name)
    if name == "white" and _has_mode(device, lambda modes: bool(modes & WHITE_MODES)):
        return _white(device, DEFAULT_KELVIN)
    return refuse("unsupported", device, what="color")


@tool(types=("light",), undone_by=BEFORE)
def set_color_temperature(device: Device, kelvin: Annotated[int, KELVIN]) -> Decision:
    """Set how warm (2700) or cool (6500) the white of a light is, in kelvin."""
    low = number(device, "min_color_temp_kelvin", "min_kelvin") or LOWEST_KELVIN
    high = number(device, "max_color_temp_kelvin", "max_kelvin") or HIGHEST_KELVIN
    if not _has_mode(device, lambda modes: bool(modes & (WHITE_MODES | COLOR_MODES))):
        return refuse("unsupported", device, what="color_temperature")
    if not low <= kelvin <= high:
        return refuse("out_of_range", device, value=kelvin, low=int(low), high=int(high), unit="K")
    return _white(device, kelvin)


@tool(types=("light",), undone_by=BEFORE)
def adjust_color_temperature(device: Device, step: Annotated[int, Range(-5000, 5000, "K")]) -> Decision:
    """Make the white of a light cooler (step above 0) or warmer (step below 0) by so many kelvin."""
    if not _has_mode(device, lambda modes: bool(modes & (WHITE_MODES | COLOR_MODES))):
        return refuse("unsupported", device, what="color_temperature")
    current = number(device, "color_temp_kelvin") or DEFAULT_KELVIN
    low = number(device, "min_color_temp_kelvin", "min_kelvin") or 2000
    high = number(device, "max_color_temp_kelvin", "max_kelvin") or 6500
    return _white(device, round(clamp(current + step, low, high)))


def _has_mode(device: Device, test: Any) -> bool:
    """Test the light's colour modes; a light that does not list any may be able to."""
    modes = device.attributes.get("supported_color_modes")
    return not isinstance(modes, list | tuple) or bool(test({str(m) for m in modes}))


def _bright(device: Device, brightness: int) -> Decision:
    if brightness <= 0:
        return to(device, "off", brightness=0)
    return to(device, "on", {"brightness": (brightness * 255 + 50) // 100}, brightness=brightness)


def _another(device: Device) -> str:
    """The next colour of the wheel after the one that a light shows."""
    rgb = device.attributes.get("rgb_color")
    known = isinstance(rgb, list | tuple) and len(rgb) == 3 and all(isinstance(x, int | float) for x in rgb)
    now = nearest_name((int(rgb[0]), int(rgb[1]), int(rgb[2]))) if known and rgb is not None else ""
    return WHEEL[(WHEEL.index(now) + 1) % len(WHEEL)] if now in WHEEL else WHEEL[0]


def _color_attributes(device: Device, rgb: RGB) -> dict[str, Any]:
    attributes: dict[str, Any] = {"rgb_color": list(rgb)}
    if is_simulated(device) and "color_temp_kelvin" in device.attributes:
        attributes["color_temp_kelvin"] = None  # it shows one or the other
    return attributes


def _white(device: Device, kelvin: int) -> Decision:
    if not _has_mode(device, lambda modes: bool(modes & WHITE_MODES)):
        return to(device, "on", {"rgb_color": list(kelvin_to_rgb(kelvin))}, kelvin=kelvin)
    attributes: dict[str, Any] = {"color_temp_kelvin": kelvin}
    if is_simulated(device) and "rgb_color" in device.attributes:
        attributes["rgb_color"] = None
    return to(device, "on", attributes, kelvin=kelvin)
