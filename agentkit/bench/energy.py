"""What work costs in energy: joules where the board has a meter, and the time of the processor everywhere (rule A16).

A meter counts the whole package or board, not this process alone, so measure on a machine that does nothing else.
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from agentkit.decoder.sensors import ROOT, read_number, read_text

_SAMPLE_S: Final = 0.01
_MICRO, _MILLI = 1e-6, 1e-3
_NO_METER: Final = "no meter here: neither powercap, hwmon nor a discharging battery shows energy or power"
_LOCKED: Final = "no meter here: the counters of powercap are for root alone; run the bench as root"
Joules = Callable[[], float]


class Meter(Protocol):
    """Something that tells how much energy was used."""

    @property
    def title(self) -> str:
        """What is read, for people."""
        ...

    @property
    def min_s(self) -> float:
        """It is not to be believed over a shorter time."""
        ...

    def start(self) -> Joules:
        """Begin to count; the function that is returned ends it and tells the joules."""
        ...


@dataclass
class Used:
    """Filled in when the work is over."""

    cpu_s: float = 0.0
    """User and system time of all threads; a thread that spins while it waits counts, as it does for energy."""
    joules: float | None = None
    """None = no meter."""


@contextmanager
def metered(meter: Meter | None) -> Iterator[Used]:
    """Measure what runs inside."""
    used, before_s = Used(), _cpu_s()
    joules = meter.start() if meter else None
    try:
        yield used
    finally:
        used.joules = joules() if joules else None
        used.cpu_s = _cpu_s() - before_s


def find_meter(root: Path = ROOT) -> tuple[Meter | None, str]:
    """Return the best meter under `root`, /sys or a copy of it, and what it is or why there is none."""
    zones = _packages(root)
    readable = [zone for zone in zones if read_number(zone / "energy_uj") is not None]
    for meter in (_Counters.of(readable), _Sensors.of(_rails(root)), _Sensors.of(_batteries(root), min_s=10.0)):
        if meter is not None:
            return meter, meter.title
    return None, _LOCKED if zones else _NO_METER


@dataclass(frozen=True)
class _Counters:
    """RAPL: counters of microjoules that begin again at their range."""

    zones: tuple[Path, ...]
    title: str
    min_s: float = 1.0

    @classmethod
    def of(cls, zones: Sequence[Path]) -> _Counters | None:
        names = ", ".join(read_text(zone / "name") for zone in zones)
        return cls(tuple(zones), f"RAPL: {names}") if zones else None

    def start(self) -> Joules:
        before = [read_number(zone / "energy_uj") for zone in self.zones]
        return lambda: sum(self._since(zone, began) for zone, began in zip(self.zones, before, strict=True)) * _MICRO

    def _since(self, zone: Path, began: float | None) -> float:
        now = read_number(zone / "energy_uj")
        if began is None or now is None:
            return 0.0
        return now - began if now >= began else now - began + (read_number(zone / "max_energy_range_uj") or 0.0)


@dataclass(frozen=True)
class _Power:
    """One value of power: a file in µW, or current times voltage."""

    name: str
    files: tuple[Path, ...]
    unit: float

    def watts(self) -> float | None:
        value = self.unit
        for file in self.files:
            found = read_number(file)
            if found is None:
                return None
            value *= abs(found)  # some gauges count what leaves a battery as negative
        return value


@dataclass(frozen=True)
class _Sensors:
    """Power that is looked at often and summed up over time."""

    powers: tuple[_Power, ...]
    title: str
    min_s: float = field(default=2.0)

    @classmethod
    def of(cls, powers: Sequence[_Power], *, min_s: float = 2.0) -> _Sensors | None:
        found = tuple(power for power in powers if power.watts() is not None)
        return cls(found, "power of " + ", ".join(power.name for power in found), min_s) if found else None

    def start(self) -> Joules:
        total, at_s, watts = 0.0, time.perf_counter(), self._watts()
        is_over = threading.Event()

        def look() -> None:
            nonlocal total, at_s, watts
            now_s, now = time.perf_counter(), self._watts()
            total += (watts + now) / 2 * (now_s - at_s)
            at_s, watts = now_s, now

        def watch() -> None:
            while not is_over.wait(_SAMPLE_S):
                look()

        thread = threading.Thread(target=watch, name="energy", daemon=True)
        thread.start()

        def end() -> float:
            is_over.set()
            thread.join()
            look()
            return total

        return end

    def _watts(self) -> float:
        return sum(power.watts() or 0.0 for power in self.powers)


def _packages(root: Path) -> list[Path]:
    """Packages and their memory, each once: cores are part of a package, MMIO shows it again and psys holds it all."""
    found: dict[str, Path] = {}
    for zone in sorted(root.glob("class/powercap/*:*")):
        name, parent = read_text(zone / "name"), read_text(zone.parent / zone.name.rpartition(":")[0] / "name")
        is_memory = name == "dram"  # which the package's own counter leaves out
        if (zone / "energy_uj").exists() and (zone.name.count(":") == 1 or is_memory):
            found.setdefault(f"{parent} {name}" if is_memory else name, zone)
    packages = [zone for name, zone in found.items() if name.startswith("package")]
    return packages or list(found.values())


def _rails(root: Path) -> list[_Power]:
    """Power sensors, else rails whose chip reads current and voltage under the same number."""
    files = sorted(root.glob("class/hwmon/hwmon*/power*_input"))
    if files:
        return [_Power(_rail(file, "power"), (file,), _MICRO) for file in files]
    pairs = [
        (current, current.with_name(current.name.replace("curr", "in")))
        for current in sorted(root.glob("class/hwmon/hwmon*/curr*_input"))
    ]
    return [_Power(_rail(a, "curr"), (a, v), _MILLI * _MILLI) for a, v in pairs if v.exists()]


def _batteries(root: Path) -> list[_Power]:
    found = []
    for battery in sorted(root.glob("class/power_supply/*")):
        if read_text(battery / "type") != "Battery" or read_text(battery / "status") != "Discharging":
            continue  # at the mains it tells what it is charged with
        if (battery / "power_now").exists():
            found.append(_Power(battery.name, (battery / "power_now",), _MICRO))
        else:
            both = (battery / "current_now", battery / "voltage_now")
            found.append(_Power(battery.name, both, _MICRO * _MICRO))
    return found


def _rail(file: Path, kind: str) -> str:
    number = file.name.removeprefix(kind).removesuffix("_input")
    own = read_text(file.with_name(f"{kind}{number}_label")) or read_text(file.with_name(f"in{number}_label"))
    return own or f"{read_text(file.with_name('name')) or file.parent.name}.{kind}{number}"


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
