"""Heating and cooling: target temperature, mode and fan."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import BEFORE, Decision, Range, tool

from .common import clamp, number, refuse, runs, tidy, to, unless_off

CELSIUS, FAHRENHEIT = "°C", "°F"
UNIT_WORDS = {"celsius": CELSIUS, "fahrenheit": FAHRENHEIT}
PLAUSIBLE = {CELSIUS: (5.0, 40.0), FAHRENHEIT: (41.0, 104.0)}
"""Target temperatures that people mean, where the device names no limits; water heaters are hotter."""
COMFORTABLE = {CELSIUS: (12.0, 32.0), FAHRENHEIT: (53.6, 89.6)}
"""Room temperatures that people want: outside of these, a number in the other unit is not what was meant."""
PLAUSIBLE_WATER = {CELSIUS: (30.0, 75.0), FAHRENHEIT: (86.0, 167.0)}
LOW, HIGH = "target_temp_low", "target_temp_high"
SAME_MODE = {"auto": "heat_cool", "heat_cool": "auto"}


@tool(types=("climate", "water_heater"), undone_by=BEFORE)
def set_temperature(
    device: Device,
    temperature: Annotated[float, Range(-90, 200, "°")],
    unit: Literal["celsius", "fahrenheit"] | None = None,
) -> Decision:
    """Set the temperature that a heating or cooling device should reach."""
    own = unit_of(device)
    target = on_scale(device, temperature, unit)
    if target is None:
        low, high = limits(device, own)
        return refuse("out_of_range", device, value=tidy(temperature), low=tidy(low), high=tidy(high), unit=own)
    return heat_to(device, target, own)


@tool(types=("climate", "water_heater"), prefers=runs, undone_by=BEFORE)
def adjust_temperature(
    device: Device,
    step: Annotated[float, Range(-30, 30, "°")],
    unit: Literal["celsius", "fahrenheit"] | None = None,
) -> Decision:
    """Make it warmer (step above 0) or cooler (step below 0) by so many degrees."""
    own = unit_of(device)
    if unit is not None and UNIT_WORDS[unit] != own:
        step = step * 1.8 if own == FAHRENHEIT else step / 1.8
    low, high = limits(device, own)
    if (kept := kept_range(device)) is not None:
        step = clamp(step, low - kept[0], high - kept[1])
        return _keep(device, kept[0] + step, kept[1] + step, own)
    current = number(device, "temperature", "target_temperature", "current_temperature")
    if current is None:
        return refuse("unknown_value", device, what="temperature")
    return heat_to(device, clamp(current + step, low, high), own)


@tool(types=("climate",), undone_by=BEFORE)
def set_hvac_mode(
    device: Device, mode: Literal["off", "heat", "cool", "heat_cool", "auto", "dry", "fan_only"]
) -> Decision:
    """Set what a climate device does: heat, cool, dry, only blow, or decide by itself."""
    modes = [str(m) for m in device.attributes.get("hvac_modes") or []]
    if modes and mode not in modes and mode != "off":
        other = SAME_MODE.get(mode)
        if other not in modes:
            return refuse("unknown_mode", device, mode=mode, modes=modes)
        return to(device, other, mode=other)
    return to(device, mode, mode=mode)


@tool(types=("climate", "fan"), undone_by=BEFORE)
def set_fan_mode(device: Device, mode: str) -> Decision:
    """Set the named fan level of a climate device or fan, for example auto or low."""
    key, listed = ("fan_mode", "fan_modes") if device.type == "climate" else ("preset_mode", "preset_modes")
    modes = [str(m) for m in device.attributes.get(listed) or []]
    if not modes:
        return refuse("unsupported", device, what="fan_mode")
    wanted = next((m for m in modes if m.casefold() == mode.strip().casefold()), None)
    if wanted is None:
        return refuse("unknown_mode", device, mode=mode, modes=modes)
    return unless_off(device, to(device, None, {key: wanted}, mode=wanted), "done.kept_off")


def unit_of(device: Device) -> str:
    """Return °C or °F: what the device says, else what its numbers can only mean."""
    for key in ("temperature_unit", "unit_of_measurement", "native_temperature_unit", "unit"):
        text = str(device.attributes.get(key) or "").strip().upper().replace("º", "°")
        if text in ("°F", "F", "FAHRENHEIT"):
            return FAHRENHEIT
        if text in ("°C", "C", "CELSIUS"):
            return CELSIUS
    hint = number(device, "temperature", "target_temperature", "current_temperature", "max_temp")
    return FAHRENHEIT if device.type == "climate" and hint is not None and hint > 45 else CELSIUS


def convert(value: float, unit: str, wanted: str) -> float:
    """Convert a temperature between °C and °F."""
    if unit == wanted:
        return value
    return round(value * 1.8 + 32, 1) if wanted == FAHRENHEIT else round((value - 32) / 1.8, 1)


def limits(device: Device, unit: str) -> tuple[float, float]:
    """The lowest and the highest target temperature, in this unit: what the device names, else what people mean."""
    low, high = (PLAUSIBLE_WATER if device.type == "water_heater" else PLAUSIBLE)[unit]
    own_low, own_high = number(device, "min_temp"), number(device, "max_temp")
    return (low if own_low is None else own_low), (high if own_high is None else own_high)


def on_scale(device: Device, temperature: float, unit: str | None) -> float | None:
    """What was said as a target in the device's own unit; None if it is none that it can have."""
    own = unit_of(device)
    low, high = limits(device, own)
    target = temperature if unit is None else convert(temperature, UNIT_WORDS[unit], own)
    if unit is None and not low <= target <= high:
        other = FAHRENHEIT if own == CELSIUS else CELSIUS
        moved = convert(temperature, other, own)  # 26 said to a device that counts in °F can only be °C
        least, most = (low, high) if device.type == "water_heater" else COMFORTABLE[own]
        target = moved if max(low, least) <= moved <= min(high, most) else target
    return target if low <= target <= high else None


def kept_range(device: Device) -> tuple[float, float] | None:
    """The range that a climate device keeps instead of one temperature."""
    low, high = number(device, LOW), number(device, HIGH)
    is_single = number(device, "temperature", "target_temperature") is not None or device.state in ("heat", "cool")
    return None if low is None or high is None or is_single else (low, high)


def rounded(device: Device, target: float, unit: str) -> int | float:
    """The target in the steps of the device."""
    step = number(device, "target_temp_step") or (1.0 if unit == FAHRENHEIT else 0.5)
    return tidy(round(target / step) * step)


def heat_to(device: Device, target: float, unit: str) -> Decision:
    """Decide for one temperature; of a device that keeps a range, nobody knows which of the two is meant."""
    if (kept := kept_range(device)) is not None:
        return refuse("keeps_range", device, low=tidy(kept[0]), high=tidy(kept[1]), unit=unit)
    value = rounded(device, target, unit)
    has_other_name = "target_temperature" in device.attributes and "temperature" not in device.attributes
    key = "target_temperature" if has_other_name else "temperature"
    decision = to(device, None, {key: value}, temperature=value, unit=unit)
    return unless_off(device, decision, "done.temperature_off")


def _keep(device: Device, low: float, high: float, unit: str) -> Decision:
    values = {"low": rounded(device, low, unit), "high": rounded(device, high, unit)}
    decision = to(device, None, {LOW: values["low"], HIGH: values["high"]}, unit=unit, **values)
    return unless_off(device, replace(decision, reply_key="done.set_temperature_range"), "done.range_off")
