"""Reads heat, rail currents and clocks from sysfs; what a board does not offer is simply not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys")
_MILLI, _MICRO = 1e-3, 1e-6
_BELIEVABLE_C = (60.0, 120.0)
"""Trip points outside are placeholders of firmware that names none."""


@dataclass(frozen=True)
class Reading:
    """One look at the sensors."""

    temperature_c: float | None
    """The hottest zone."""
    currents_a: Mapping[str, float]
    """Rail → ampere, as the hwmon chips call them."""
    power_w: float | None
    """Sum of the power sensors."""
    frequency_share: float | None
    """Clock that the slowest core is allowed, of what it can do; below 1 something holds it back."""


class Sensors:
    """The files of one board, found once; `root` is /sys or a copy of it."""

    def __init__(self, root: Path = ROOT):
        self._zones = sorted(root.glob("class/thermal/thermal_zone*/temp"))
        self._trips = sorted(root.glob("class/thermal/thermal_zone*/trip_point_*_temp"))
        self._currents = {_label(path): path for path in sorted(root.glob("class/hwmon/hwmon*/curr*_input"))}
        self._powers = sorted(root.glob("class/hwmon/hwmon*/power*_input"))
        self._policies = sorted(root.glob("devices/system/cpu/cpufreq/policy*"))

    @property
    def is_blind(self) -> bool:
        """True if there is nothing to watch."""
        return not (self._zones or self._currents or self._powers)

    def trip_c(self) -> float | None:
        """The lowest temperature at which the kernel itself begins to slow down, if it names one."""
        found = []
        for path in self._trips:
            kind = path.with_name(path.name.replace("_temp", "_type"))
            if read_text(kind) == "passive" and (value := read_number(path)) is not None:
                found.append(value * _MILLI)
        return min((c for c in found if _BELIEVABLE_C[0] <= c <= _BELIEVABLE_C[1]), default=None)

    def read(self) -> Reading:
        """Look at everything; a file that cannot be read now counts as not there."""
        temperatures = [value * _MILLI for path in self._zones if (value := read_number(path)) is not None]
        currents = {
            name: value * _MILLI for name, path in self._currents.items() if (value := read_number(path)) is not None
        }
        powers = [value * _MICRO for path in self._powers if (value := read_number(path)) is not None]
        shares = [share for policy in self._policies if (share := _share(policy)) is not None]
        return Reading(
            temperature_c=max(temperatures, default=None),
            currents_a=currents,
            power_w=sum(powers) if powers else None,
            frequency_share=min(shares, default=None),
        )


def _label(path: Path) -> str:
    """Name a rail by its label, else by chip and file."""
    own = read_text(path.with_name(path.name.replace("_input", "_label")))
    return own or f"{read_text(path.with_name('name')) or path.parent.name}.{path.name.removesuffix('_input')}"


def _share(policy: Path) -> float | None:
    allowed, possible = read_number(policy / "scaling_max_freq"), read_number(policy / "cpuinfo_max_freq")
    return allowed / possible if allowed is not None and possible else None


def read_number(path: Path) -> float | None:
    """The number in a file of sysfs, None if there is none to read."""
    try:
        return float(read_text(path))
    except ValueError:
        return None


def read_text(path: Path) -> str:
    """The text in a file of sysfs, empty if it cannot be read."""
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""
