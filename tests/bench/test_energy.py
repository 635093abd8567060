"""Energy meters: a copy of sysfs stands for a board."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agentkit.bench.energy import find_meter, metered

RANGE_UJ = 262_143_328_850


class Sysfs:
    """Files as the kernel lays them out."""

    def __init__(self, root: Path):
        self.root = root

    def write(self, path: str, value: object) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")

    def zone(self, folder: str, name: str, energy_uj: int) -> None:
        self.write(f"class/powercap/{folder}/name", name)
        self.write(f"class/powercap/{folder}/energy_uj", energy_uj)
        self.write(f"class/powercap/{folder}/max_energy_range_uj", RANGE_UJ)


@pytest.fixture
def sysfs(tmp_path: Path) -> Sysfs:
    return Sysfs(tmp_path)


def intel(sysfs: Sysfs) -> None:
    sysfs.write("class/powercap/intel-rapl/enabled", 1)
    sysfs.zone("intel-rapl:0", "package-0", 5_000_000)
    sysfs.zone("intel-rapl:0:0", "core", 3_000_000)
    sysfs.zone("intel-rapl:0:1", "dram", 1_000_000)
    sysfs.zone("intel-rapl:1", "psys", 9_000_000)
    sysfs.zone("intel-rapl-mmio:0", "package-0", 5_000_000)


def test_a_package_and_its_memory_are_counted_once_however_often_it_is_shown(sysfs: Sysfs) -> None:
    intel(sysfs)
    meter, title = find_meter(sysfs.root)

    with metered(meter) as used:
        sysfs.zone("intel-rapl:0", "package-0", 7_500_000)
        sysfs.zone("intel-rapl:0:0", "core", 4_000_000)
        sysfs.zone("intel-rapl:0:1", "dram", 1_250_000)
        sysfs.zone("intel-rapl:1", "psys", 20_000_000)
        sysfs.zone("intel-rapl-mmio:0", "package-0", 7_500_000)

    assert title == "RAPL: package-0, dram"
    assert used.joules == pytest.approx(2.75)


def test_two_packages_add_up(sysfs: Sysfs) -> None:
    sysfs.zone("intel-rapl:0", "package-0", 0)
    sysfs.zone("intel-rapl:1", "package-1", 0)
    meter, _ = find_meter(sysfs.root)

    with metered(meter) as used:
        sysfs.zone("intel-rapl:0", "package-0", 1_000_000)
        sysfs.zone("intel-rapl:1", "package-1", 2_000_000)

    assert used.joules == pytest.approx(3)


def test_a_counter_that_begins_again_loses_nothing(sysfs: Sysfs) -> None:
    sysfs.zone("intel-rapl:0", "package-0", RANGE_UJ - 1_000_000)
    meter, _ = find_meter(sysfs.root)

    with metered(meter) as used:
        sysfs.zone("intel-rapl:0", "package-0", 500_000)

    assert used.joules == pytest.approx(1.5)


def test_counters_that_may_not_be_read_are_named(sysfs: Sysfs) -> None:
    sysfs.write("class/powercap/intel-rapl:0/name", "package-0")
    (sysfs.root / "class/powercap/intel-rapl:0/energy_uj").mkdir()  # root reads any file, but no folder

    meter, why = find_meter(sysfs.root)

    assert meter is None
    assert "run the bench as root" in why


def test_power_of_the_rails_is_summed_up_over_time(sysfs: Sysfs) -> None:
    sysfs.write("class/hwmon/hwmon0/name", "ina226")
    sysfs.write("class/hwmon/hwmon0/power1_input", 4_200_000)
    sysfs.write("class/hwmon/hwmon1/name", "amdgpu")
    sysfs.write("class/hwmon/hwmon1/power1_input", 800_000)
    sysfs.write("class/hwmon/hwmon1/power1_label", "PPT")

    meter, title = find_meter(sysfs.root)
    began_s = time.perf_counter()
    with metered(meter) as used:
        time.sleep(0.05)
    took_s = time.perf_counter() - began_s

    assert title == "power of ina226.power1, PPT"
    assert used.joules is not None
    assert 5.0 * 0.05 <= used.joules <= 5.0 * took_s


def test_a_rail_with_current_and_voltage_is_power(sysfs: Sysfs) -> None:
    sysfs.write("class/hwmon/hwmon0/name", "ina3221")
    sysfs.write("class/hwmon/hwmon0/curr1_input", 1_500)
    sysfs.write("class/hwmon/hwmon0/in1_input", 5_000)
    sysfs.write("class/hwmon/hwmon0/in1_label", "VDD_IN")
    sysfs.write("class/hwmon/hwmon0/curr2_input", 300)  # no voltage: nothing to multiply with

    meter, title = find_meter(sysfs.root)
    began_s = time.perf_counter()
    with metered(meter) as used:
        time.sleep(0.05)
    took_s = time.perf_counter() - began_s

    assert title == "power of VDD_IN"
    assert used.joules is not None
    assert 7.5 * 0.05 <= used.joules <= 7.5 * took_s


@pytest.mark.parametrize(("status", "is_meter"), [("Discharging", True), ("Charging", False), ("Full", False)])
def test_a_battery_is_a_meter_only_while_it_feeds_the_board(sysfs: Sysfs, status: str, is_meter: bool) -> None:
    sysfs.write("class/power_supply/AC/type", "Mains")
    sysfs.write("class/power_supply/BAT0/type", "Battery")
    sysfs.write("class/power_supply/BAT0/status", status)
    sysfs.write("class/power_supply/BAT0/current_now", -800_000)
    sysfs.write("class/power_supply/BAT0/voltage_now", 12_000_000)

    meter, title = find_meter(sysfs.root)

    assert (meter is not None) is is_meter
    if meter is not None:
        joules = meter.start()
        time.sleep(0.02)
        assert joules() >= 9.6 * 0.02
        assert title == "power of BAT0"


def test_without_a_meter_there_is_the_time_of_the_processor(sysfs: Sysfs) -> None:
    meter, why = find_meter(sysfs.root)

    with metered(meter) as used:
        until_s = time.process_time() + 0.05
        while time.process_time() < until_s:
            pass

    assert (meter, used.joules) == (None, None)
    assert why.startswith("no meter here")
    assert 0.04 <= used.cpu_s < 2
