"""Heating and cooling beyond one temperature: ranges, the ends of the scale, presets, swing and humidity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import BEFORE, Decision, Range, tool

from .climate import HIGH, LOW, heat_to, limits, on_scale, rounded, unit_of
from .common import can, features, is_off, is_simulated, listed, number, refuse, spelled_like, tidy, to, unless_off

BOTH = ("heat_cool", "auto")
"""Modes in which a climate device keeps a range."""
SWINGS = ("on", "both", "vertical", "horizontal")
"""What a mere "swing" means, of those that a device has."""


@tool(types=("climate",), one_of=("low", "high"), undone_by=BEFORE, is_told=False)
def set_temperature_range(
    device: Device,
    low: Annotated[float | None, Range(-90, 200, "°")] = None,
    high: Annotated[float | None, Range(-90, 200, "°")] = None,
    unit: Literal["celsius", "fahrenheit"] | None = None,
) -> Decision:
    """Keep the temperature between two values; with one of them, the other stays."""
    own = unit_of(device)
    least, most = limits(device, own)
    if not holds_range(device):
        return refuse("one_temperature", device, low=tidy(least), high=tidy(most), unit=own)
    said = [None if value is None else on_scale(device, value, unit) for value in (low, high)]
    if beyond := [v for v, own_value in zip((low, high), said, strict=True) if v is not None and own_value is None]:
        return refuse("out_of_range", device, value=tidy(beyond[0]), low=tidy(least), high=tidy(most), unit=own)
    kept = number(device, LOW), number(device, HIGH)
    bottom, top = (one if one is not None else other for one, other in zip(said, kept, strict=True))
    if bottom is None or top is None:
        return refuse("lacks_other_end", device)
    values = {"low": rounded(device, bottom, own), "high": rounded(device, top, own), "unit": own}
    if bottom >= top:
        return refuse("crossed_range", device, **values)
    attributes: dict[str, Any] = {LOW: values["low"], HIGH: values["high"]}
    if is_simulated(device) and number(device, "temperature") is not None:
        attributes["temperature"] = None  # it keeps one or the other
    decision = to(device, _both_mode(device), attributes, **values)
    return unless_off(device, decision, "done.range_off")


@tool(types=("climate", "water_heater"), undone_by=BEFORE, is_told=False)
def set_temperature_limit(device: Device, limit: Literal["highest", "lowest", "most", "least"]) -> Decision:
    """Set a heating or cooling device to its highest or lowest temperature.

    most, least: as much or as little as it does, which says no temperature of a device that cools.
    """
    own = unit_of(device)
    low, high = number(device, "min_temp"), number(device, "max_temp")
    if low is None or high is None:
        return refuse("no_limit", device)
    if limit in ("most", "least") and device.state in ("cool", "dry", "fan_only"):
        return refuse("unclear_limit", device, low=tidy(low), high=tidy(high), unit=own)
    return heat_to(device, high if limit in ("highest", "most") else low, own)


def presets(device: Device) -> int:
    """Rank for presets: what has one on, then what lists some."""
    if not listed(device, "preset_modes"):
        return 0
    return 1 if device.attributes.get("preset_mode") in (None, "none") else 2


@tool(types=("climate", "fan"), prefers=presets, undone_by=BEFORE, is_told=False)
def set_preset_mode(device: Device, mode: str) -> Decision:
    """Set a named setting of a climate device or fan, for example eco or away; none = no such setting."""
    return _chosen(device, "preset_mode", mode)


@tool(types=("climate",), undone_by=BEFORE, is_told=False)
def set_swing_mode(device: Device, mode: str) -> Decision:
    """Set how a climate device swings its air: on, off, vertical, horizontal or both."""
    modes = listed(device, "swing_modes")
    if mode == "on" and modes:
        mode = next((m for s in SWINGS if (m := spelled_like(s, modes))), mode)
    return _chosen(device, "swing_mode", mode)


@tool(types=("humidifier", "climate"), undone_by=BEFORE, is_told=False)
def set_humidity(device: Device, humidity: Annotated[int, Range(0, 100, "%")]) -> Decision:
    """Set the humidity of the air that a device should reach, in percent."""
    key = "humidity" if device.type == "humidifier" else "target_humidity"
    if device.type == "climate" and key not in device.attributes:
        return refuse("unsupported", device, what="humidity")
    low, high = number(device, "min_humidity") or 0, number(device, "max_humidity") or 100
    if not low <= humidity <= high:
        return refuse("out_of_range", device, value=humidity, low=tidy(low), high=tidy(high), unit="%")
    return unless_off(device, to(device, None, {key: humidity}, humidity=humidity), "done.kept_off")


def holds_range(device: Device) -> bool:
    """Whether a climate device takes two temperatures: it has them, says so, or both heats and cools by itself."""
    if LOW in device.attributes or HIGH in device.attributes:
        return True
    if features(device) is not None:
        return can(device, "target_temperature_range")
    return "heat_cool" in listed(device, "hvac_modes")


def _both_mode(device: Device) -> str | None:
    """The mode to change to, so that a range is kept; None = it may stay as it is."""
    if is_off(device) or device.state in BOTH:
        return None
    return next((m for m in BOTH if m in listed(device, "hvac_modes")), None)


def _chosen(device: Device, key: str, mode: str) -> Decision:
    modes: Sequence[str] = listed(device, f"{key}s")
    if not modes:
        return refuse("unsupported", device, what=key)
    wanted = spelled_like(mode, modes)
    if wanted is None:
        return refuse("unknown_mode", device, mode=mode, modes=modes)
    return unless_off(device, to(device, None, {key: wanted}, mode=wanted), "done.kept_off")
