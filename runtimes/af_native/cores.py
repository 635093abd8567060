"""Which cores the threads of a session run on: the big ones of a processor that has two kinds."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from agentkit.decoder.backend import SessionOptions
from agentkit.errors import BackendUnavailable

SYSFS = Path("/sys/devices/system/cpu")
BIG_SHARE = 0.75
"""Of the strongest core's capacity that makes a core a big one; cores that only boost a little higher stay equals."""


@dataclass(frozen=True)
class Placement:
    """How many threads, and where."""

    n_threads: int
    cores: tuple[int, ...] = ()
    """The core of each thread; empty = wherever the system puts them."""


def place_threads(options: SessionOptions, *, root: Path = SYSFS, usable: Collection[int] | None = None) -> Placement:
    """Place the threads as asked for, by default one on every big core.

    Equal cores are left to the system. Raises BackendUnavailable for cores that this process may not use.
    """
    usable = sorted(os.sched_getaffinity(0) if usable is None else usable)
    if options.cores:
        return _named(options, usable)
    strength = {core: _strength(root / f"cpu{core}") for core in usable}
    limit = BIG_SHARE * max(strength.values())
    big = [core for core in usable if strength[core] >= limit]
    n_threads = options.n_threads or len(big)
    if len(big) == len(usable) or n_threads > len(usable):
        return Placement(n_threads)
    strongest_first = sorted(usable, key=lambda core: (-strength[core], core))
    return Placement(n_threads, tuple(strongest_first[:n_threads]))


def _named(options: SessionOptions, usable: Collection[int]) -> Placement:
    if not set(options.cores) <= set(usable) or len(set(options.cores)) < len(options.cores):
        raise BackendUnavailable(
            f"af_native: cores {list(options.cores)}, wanted different ones of {list(usable)}; name others or none"
        )
    if options.n_threads > len(options.cores):
        raise BackendUnavailable(
            f"af_native: {options.n_threads} threads on {len(options.cores)} cores; name a core for each thread"
        )
    n_threads = options.n_threads or len(options.cores)
    return Placement(n_threads, options.cores[:n_threads])


def _strength(core: Path) -> int:
    """Return the core's capacity, or its highest clock where the system names no capacity; 1 where it names neither."""
    for name in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        try:
            return max(1, int((core / name).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return 1
