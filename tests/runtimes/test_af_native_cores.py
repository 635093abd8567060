from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.decoder.backend import SessionOptions
from agentkit.errors import BackendUnavailable
from runtimes.af_native.cores import Placement, place_threads

FOUR_SMALL_FOUR_BIG = {core: 430 if core < 4 else 1024 for core in range(8)}


def board(root: Path, capacities: dict[int, int], name: str = "cpu_capacity") -> Path:
    for core, capacity in capacities.items():
        file = root / f"cpu{core}" / name
        file.parent.mkdir(parents=True)
        file.write_text(f"{capacity}\n", encoding="ascii")
    return root


def place(root: Path, n_cores: int = 8, **options: object) -> Placement:
    return place_threads(SessionOptions(**options), root=root, usable=range(n_cores))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["cpu_capacity", "cpufreq/cpuinfo_max_freq"])
def test_the_big_cores_come_first(tmp_path: Path, name: str) -> None:
    root = board(tmp_path, FOUR_SMALL_FOUR_BIG, name)

    assert place(root) == Placement(4, (4, 5, 6, 7))
    assert place(root, n_threads=2) == Placement(2, (4, 5))
    assert place(root, n_threads=6) == Placement(6, (4, 5, 6, 7, 0, 1))


def test_the_strongest_of_three_kinds_come_first(tmp_path: Path) -> None:
    root = board(tmp_path, {0: 250, 1: 250, 2: 800, 3: 800, 4: 1024})

    assert place(root, 5) == Placement(3, (4, 2, 3))


def test_equal_cores_are_left_to_the_system(tmp_path: Path) -> None:
    assert place(board(tmp_path / "same", {0: 1024, 1: 1024}), 2) == Placement(2)
    assert place(board(tmp_path / "boost", {0: 5200000, 1: 4900000}, "cpufreq/cpuinfo_max_freq"), 2) == Placement(2)
    assert place(tmp_path / "none", 3) == Placement(3)
    assert place(tmp_path / "none", 3, n_threads=5) == Placement(5)


def test_damaged_files_count_as_none(tmp_path: Path) -> None:
    root = board(tmp_path, {0: 1, 1: 1})
    (root / "cpu1" / "cpu_capacity").write_text("fast\n", encoding="ascii")
    assert place(root, 2) == Placement(2)


def test_named_cores_are_taken_as_named(tmp_path: Path) -> None:
    root = board(tmp_path, FOUR_SMALL_FOUR_BIG)

    assert place(root, cores=(1, 5)) == Placement(2, (1, 5))
    assert place(root, cores=(1, 5, 6), n_threads=2) == Placement(2, (1, 5))
    with pytest.raises(BackendUnavailable, match=r"cores \[9\], wanted different ones of \[0, 1"):
        place(root, cores=(9,))
    with pytest.raises(BackendUnavailable, match="wanted different ones"):
        place(root, cores=(1, 1))
    with pytest.raises(BackendUnavailable, match="3 threads on 2 cores; name a core for each thread"):
        place(root, cores=(1, 2), n_threads=3)
