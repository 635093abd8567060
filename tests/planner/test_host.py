from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import cast

import pytest

from agentkit.decoder.backend import Backend, Probe
from agentkit.planner import assume_targets, find_profile, load_profiles, probe_host, probe_targets
from agentkit.planner.constraints import GB
from agentkit.planner.host import measure_bandwidth


class Target:
    """A target whose probe answers or fails as told."""

    def __init__(self, answer: Probe | Exception) -> None:
        self.answer = answer

    def probe(self) -> Probe:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The files of a machine with 8 GiB, 6 of them free."""
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    lines = "MemTotal:        8388608 kB\nMemFree:  100 kB\nMemAvailable:    6291456 kB\n"
    (tmp_path / "proc/meminfo").write_text(lines, encoding="ascii")
    return tmp_path


def test_this_machine_has_memory_storage_and_a_name(tmp_path: Path) -> None:
    host = probe_host(tmp_path / "not" / "there" / "yet")
    page = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < host.memory_free_bytes <= host.memory_bytes <= page
    assert host.storage_free_bytes > 0
    assert host.is_host
    assert platform.machine() in host.title


def test_board_is_known_by_its_device_tree(machine: Path, tmp_path: Path) -> None:
    (machine / "proc/device-tree/compatible").write_bytes(b"radxa,rock-5b\0rockchip,rk3588\0")
    host = probe_host(tmp_path, root=machine)
    assert (host.name, host.memory_bytes, host.memory_free_bytes) == ("rk3588", 8 << 30, 6 << 30)
    assert host.measured_near(500_000_000)


def test_figures_of_another_machine_are_not_taken_for_this_one(machine: Path, tmp_path: Path) -> None:
    assert probe_host(tmp_path, root=machine).measured == ()


def test_container_limit_counts_and_cached_files_do_not(machine: Path, tmp_path: Path) -> None:
    group = machine / "sys/fs/cgroup"
    (group / "memory.max").write_text("2147483648\n", encoding="ascii")
    (group / "memory.current").write_text("1500000000\n", encoding="ascii")
    (group / "memory.stat").write_text("anon 5\ninactive_file 500000000\n", encoding="ascii")
    host = probe_host(tmp_path, root=machine)
    assert (host.memory_bytes, host.memory_free_bytes) == (2 << 30, (2 << 30) - 1_000_000_000)
    (group / "memory.max").write_text("max\n", encoding="ascii")
    assert probe_host(tmp_path, root=machine).memory_bytes == 8 << 30


def test_probe_that_fails_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentkit.planner.host.backend_names", lambda: ("gone",))
    injected = {
        "good": cast(Backend, Target(Probe(is_available=True, detail="found"))),
        "bad": cast(Backend, Target(OSError("driver missing"))),
    }
    probes = probe_targets(injected)
    assert probes["good"].is_available
    assert (probes["bad"].is_available, probes["bad"].detail) == (False, "its probe failed (OSError: driver missing)")
    assert "no such target is installed" in probes["gone"].detail


def test_another_board_is_planned_with_what_is_installed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentkit.planner.host.backend_names", lambda: ("cpu_onnx", "npu_other", "reference"))
    assert set(assume_targets(find_profile("rk3588", load_profiles()))) == {"cpu_onnx", "reference"}


def test_bandwidth_is_measured_in_a_believable_range() -> None:
    assert 0.5 * GB < measure_bandwidth(2) < 2000 * GB
