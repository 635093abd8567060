"""Opens a target the way the agent does: planned pools, warm-up of every kernel path, then sealed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agentkit.decoder.backend import Session, SessionOptions
from agentkit.decoder.lane import Lane
from agentkit.decoder.memory_pool import Pools
from agentkit.plugins import find_backend


@dataclass(frozen=True)
class Opened:
    """A warm session and what it took to get there."""

    session: Session
    pools: Pools
    open_s: float
    first_step_ms: float
    """The very first decode step, before warm-up."""


def open_warm(checkpoint: Path, target: str, options: SessionOptions, cache_dir: Path) -> Opened:
    """Open, warm up and seal. Raises BackendUnavailable, CheckpointError."""
    backend = find_backend(target)
    started = time.perf_counter()
    pools = Pools.from_sizes(backend.plan(checkpoint, options))
    session = backend.open(checkpoint, options, pools=pools, cache_dir=cache_dir)
    opened = time.perf_counter()
    session.step(np.zeros(1, np.int64), 1, slot=0)
    first_step_ms = (time.perf_counter() - opened) * 1e3
    Lane(target, session, pools).warm_up()
    return Opened(session, pools, opened - started, first_step_ms)
