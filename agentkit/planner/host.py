"""Looks at this machine: which board it is, what is free, and which targets can run."""

from __future__ import annotations

import os
import platform
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentkit.decoder.backend import Backend, Probe
from agentkit.errors import BackendUnavailable
from agentkit.planner.constraints import CACHE_FACTS, GB
from agentkit.planner.profile import DeviceProfile, load_profiles
from agentkit.plugins import backend_names, find_backend

ROOT = Path("/")
_N_BYTES_COPIED = 64 << 20
_N_ROUNDS = 3


def probe_host(home: Path, *, is_bandwidth_measured: bool = False, root: Path = ROOT) -> DeviceProfile:
    """Describe this machine: the profile of its board, with what is really there and free now.

    `home` is where models are kept (its disk is the storage). Measuring bandwidth takes about 0.2 s.
    """
    like, is_board_known = _nearest_profile(load_profiles(), root)
    total, free = _memory(root)
    n_cores = os.process_cpu_count() if hasattr(os, "process_cpu_count") else len(os.sched_getaffinity(0))
    bandwidth = measure_bandwidth(n_cores or 1) if is_bandwidth_measured else like.bandwidth_bytes_s
    board = like.title if is_board_known else platform.machine()
    return replace(
        like,
        title=f"this machine ({board}, {n_cores} cores, {total / GB:.1f} GB)",
        measured=like.measured if is_board_known else (),  # figures of another machine prove nothing here
        memory_bytes=total,
        memory_free_bytes=free,
        storage_free_bytes=_storage_free(home),
        bandwidth_bytes_s=bandwidth,
        is_host=True,
    )


def probe_targets(injected: Mapping[str, Backend] | None = None) -> dict[str, Probe]:
    """Ask every installed target whether it can run here; one that cannot be imported answers no."""
    probes: dict[str, Probe] = {}
    for name in sorted({*backend_names(), *(injected or {})}):
        try:
            probes[name] = find_backend(name, injected).probe()
        except BackendUnavailable as err:
            probes[name] = Probe(is_available=False, detail=str(err))
        except Exception as err:  # noqa: BLE001  a vendor's file may fail in any way; that is its answer
            probes[name] = Probe(is_available=False, detail=f"its probe failed ({type(err).__name__}: {err})")
    return probes


def assume_targets(device: DeviceProfile) -> dict[str, Probe]:
    """Answer for another device's targets: what is installed here is taken to run there."""
    here = probe_targets()
    on_device = {engine.target for engine in device.engines} | {"reference"}
    return {
        name: Probe(True, f"assumed from the profile {device.name}", _of_cache(probe))
        for name, probe in here.items()
        if name in on_device
    }


def _of_cache(probe: Probe) -> dict[str, Any]:
    """What holds of a target wherever it runs."""
    return {name: probe.facts[name] for name in CACHE_FACTS if name in probe.facts}


def measure_bandwidth(n_threads: int) -> float:
    """Copy memory on all threads at once; return bytes read and written per second."""
    import numpy as np

    blocks = [np.ones((2, _N_BYTES_COPIED // 8), dtype=np.float64) for _ in range(n_threads)]  # [from/to, n] f64
    best_s = float("inf")
    for _ in range(_N_ROUNDS):
        threads = [threading.Thread(target=np.copyto, args=(block[1], block[0])) for block in blocks]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        best_s = min(best_s, time.perf_counter() - start)
    return 2.0 * _N_BYTES_COPIED * n_threads / best_s


def _nearest_profile(profiles: Mapping[str, DeviceProfile], root: Path) -> tuple[DeviceProfile, bool]:
    """Take the board that the device tree names (True), else one of the same processor family, else the last."""
    names = _device_tree(root)
    for profile in profiles.values():
        if names & set(profile.compatible):
            return profile, True
    machine = platform.machine()
    of_family = [profile for profile in profiles.values() if profile.machine == machine]
    return (of_family or list(profiles.values()))[-1], False


def _device_tree(root: Path) -> set[str]:
    try:
        data = (root / "proc/device-tree/compatible").read_bytes()
    except OSError:
        return set()  # a PC has none
    return {name.decode("ascii", "replace") for name in data.split(b"\0") if name}


def _memory(root: Path) -> tuple[int, int]:
    """Return total and available bytes, the smaller of the machine's and this container's."""
    figures = {}
    for line in (root / "proc/meminfo").read_text(encoding="ascii").splitlines():
        key, _, rest = line.partition(":")
        figures[key] = int(rest.split()[0]) * 1024
    total, free = figures["MemTotal"], figures["MemAvailable"]
    group = root / "sys/fs/cgroup"
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        stat = dict(line.split() for line in (group / "memory.stat").read_text(encoding="ascii").splitlines())
    except (OSError, ValueError):
        return total, free  # no such group: the machine's own figures hold
    if limit == "max":
        return total, free
    used -= int(stat.get("inactive_file", 0))  # cached files give way
    return min(total, int(limit)), min(free, max(0, int(limit) - used))


def _storage_free(home: Path) -> int:
    place = home.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free
