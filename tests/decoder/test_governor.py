"""Power and heat: a copy of sysfs stands for a board, and a clock that the test moves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentkit.decoder.chat import Prompt
from agentkit.decoder.decoder import Decoder
from agentkit.decoder.governor import EVERY_S, MAX_PAUSE_S, STEP_DOWN_S, STEP_UP_S, Governor, Limits
from agentkit.decoder.sensors import Sensors
from agentkit.decoder.tokenizer import Tokenizer
from tests.support.sessions import open_reference


class Board:
    """Files as the kernel lays them out."""

    def __init__(self, root: Path):
        self.root = root
        self.write("class/thermal/thermal_zone0/temp", 52_000)
        self.write("class/thermal/thermal_zone1/temp", 61_500)
        self.write("class/thermal/thermal_zone1/trip_point_0_temp", 80_000)
        self.write("class/thermal/thermal_zone1/trip_point_0_type", "passive")
        self.write("class/thermal/thermal_zone1/trip_point_1_temp", 110_000)
        self.write("class/thermal/thermal_zone1/trip_point_1_type", "critical")
        self.write("class/hwmon/hwmon0/name", "ina3221")
        self.write("class/hwmon/hwmon0/curr1_input", 1_450)
        self.write("class/hwmon/hwmon0/curr1_label", "VDD_NPU")
        self.write("class/hwmon/hwmon0/curr2_input", 300)
        self.write("class/hwmon/hwmon0/power1_input", 4_200_000)
        self.write("devices/system/cpu/cpufreq/policy0/scaling_max_freq", 1_800_000)
        self.write("devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", 1_800_000)

    def write(self, path: str, value: object) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")

    def heat(self, temperature_c: float) -> None:
        self.write("class/thermal/thermal_zone1/temp", int(temperature_c * 1000))


class Time:
    def __init__(self) -> None:
        self.now_s, self.pauses_s = 0.0, list[float]()

    def clock(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)
        self.now_s += seconds


@pytest.fixture
def board(tmp_path: Path) -> Board:
    return Board(tmp_path)


@contextmanager
def governed(board: Board, limits: Limits | None = None, n_levels: int = 2) -> Iterator[tuple[Governor, Time]]:
    time = Time()
    yield Governor(Sensors(board.root), limits, n_levels=n_levels, clock=time.clock, sleep=time.sleep), time


def work(governor: Governor, time: Time, seconds: float, *, step_s: float = 0.02) -> None:
    """Run steps for so long."""
    until_s = time.now_s + seconds
    while time.now_s < until_s:
        time.now_s += step_s
        governor.pace()


def test_a_board_is_read_with_its_units(board: Board) -> None:
    reading = Sensors(board.root).read()
    assert reading.temperature_c == 61.5
    assert reading.currents_a == {"VDD_NPU": 1.45, "ina3221.curr2": 0.3}
    assert reading.power_w == pytest.approx(4.2)
    assert reading.frequency_share == 1
    assert Sensors(board.root).trip_c() == 80
    board.write("class/thermal/thermal_zone1/trip_point_0_temp", -274_000)
    assert Sensors(board.root).trip_c() is None


def test_a_board_without_sensors_is_blind_and_files_that_vanish_do_no_harm(board: Board, tmp_path: Path) -> None:
    assert Sensors(tmp_path / "nothing").is_blind
    sensors = Sensors(board.root)
    board.write("class/thermal/thermal_zone1/temp", "")
    (board.root / "class/hwmon/hwmon0/curr1_input").unlink()
    reading = sensors.read()
    assert (reading.temperature_c, reading.currents_a) == (52, {"ina3221.curr2": 0.3})


def test_far_from_the_limits_no_step_waits(board: Board) -> None:
    with governed(board) as (governor, time):
        work(governor, time, 10)
        assert time.pauses_s == []
        assert governor.describe()["actions"] == []


def test_pauses_begin_before_the_limit_and_grow_towards_it(board: Board) -> None:
    pauses = []
    for temperature_c in (69, 72, 76, 80, 95):
        board.heat(temperature_c)
        with governed(board) as (governor, time):
            work(governor, time, 0.5)
            pauses.append(max(time.pauses_s, default=0.0))
    assert pauses[0] == 0
    assert pauses[1:4] == pytest.approx([0.004, 0.012, 0.02])  # a fifth, three fifths and all of a step
    assert pauses[3] == pauses[4] <= MAX_PAUSE_S


def test_rails_power_and_a_held_clock_count_as_well(board: Board) -> None:
    for limits, why in (
        (Limits(currents_a={"VDD_NPU": 1.5}), "VDD_NPU 1.45 A of 1.5 A"),
        (Limits(power_w=4.3), "4.2 W of 4.3 W"),
    ):
        with governed(board, limits) as (governor, time):
            work(governor, time, 0.5)
            assert governor.describe()["why"] == why
            assert time.pauses_s
    with governed(board) as (governor, time):
        board.write("devices/system/cpu/cpufreq/policy0/scaling_max_freq", 1_200_000)
        work(governor, time, 0.5)
        assert governor.describe()["why"] == "clock held at 67%"


def test_the_level_goes_down_when_pauses_do_not_help_and_up_again_when_it_is_cool(board: Board) -> None:
    with governed(board) as (governor, time):
        board.heat(84)
        work(governor, time, STEP_DOWN_S + 1)
        assert governor.level == 1
        work(governor, time, 10 * STEP_DOWN_S)
        assert governor.level == 1  # there is none below
        board.heat(60)
        work(governor, time, STEP_UP_S - 2)
        assert governor.level == 1
        work(governor, time, 4)
        assert governor.level == 0
        told = [action.partition(" ")[2] for action in governor.describe()["actions"]]
        assert told == [
            "pauses begin: 84 °C of 80 °C",
            "down to level 1: 84 °C of 80 °C for 5 s in spite of pauses",
            "pauses end",
            "up to level 0: well below the limits for 60 s",
        ]


def test_the_decoder_takes_the_lean_target_at_its_next_turn(
    board: Board, tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    with governed(board) as (governor, time):
        decoder = Decoder(
            [("full", open_reference(tiny_gguf))], tiny_tokenizer, lean=[("lean", open_reference(tiny_gguf))],
            governor=governor,
        )  # fmt: skip
        targets = []
        for temperature_c in (60, 90, 60):
            board.heat(temperature_c)
            work(governor, time, STEP_UP_S + EVERY_S + 1)
            targets.append(decoder.generate(Prompt("", "go"), max_tokens=4).target)
        assert targets == ["full", "lean", "full"]
        assert decoder.status()["fallback_reason"] is None  # it is no failure
        assert decoder.status()["governor"]["level"] == 0
