"""A long session: start, warm-up, then thousands of steps while memory and latency are watched (rule A12)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from agentkit.bench.figures import Check, machine, spread
from agentkit.bench.opened import Opened, open_warm
from agentkit.bench.priority import Breather
from agentkit.decoder.backend import SessionOptions

MAX_GROWTH_MB = 5.0
"""What the resident set may grow by over a session of 2,000 steps."""
MAX_FIRST = 1.3


def session_bench(
    checkpoint: Path, *, cache_dir: Path, target: str = "cpu_onnx", options: SessionOptions | None = None,
    n_steps: int = 2000, sample_every: int = 100, on_step: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Run decode steps through sequence after sequence, with a prefill at the start of each.

    Returns the resident set in MB every `sample_every` steps, its growth after warm-up, step latencies, the pools and
    whether the growth stays below MAX_GROWTH_MB.
    """
    opened = open_warm(checkpoint, target, options or SessionOptions(), cache_dir)
    try:
        rss_mb, step_ms = _run(opened, n_steps, sample_every, on_step)
    finally:
        opened.session.close()
    growth_mb = rss_mb[-1][1] - rss_mb[0][1]
    return {
        "checkpoint": checkpoint.name,
        "target": target,
        "machine": machine(),
        "n_steps": n_steps,
        "open_s": opened.open_s,
        "first_step_ms": opened.first_step_ms,
        "rss_mb": rss_mb,
        "growth_mb": growth_mb,
        "is_flat": growth_mb < MAX_GROWTH_MB,
        "step_ms": spread(step_ms),
        "steps_ms": [round(ms, 4) for ms in step_ms],
        "checks": [
            Check("growth of the resident set", growth_mb, MAX_GROWTH_MB, unit="MB").as_dict(),
            Check("first step after warm-up / median", step_ms[0] / statistics.median(step_ms), MAX_FIRST).as_dict(),
        ],
        "pools": opened.pools.describe(),
    }


def _run(
    opened: Opened, n_steps: int, sample_every: int, on_step: Callable[[int], None] | None
) -> tuple[list[tuple[int, float]], list[float]]:
    import psutil

    process, session = psutil.Process(), opened.session
    prompt = np.arange(session.options.buckets[-1], dtype=np.int64) % session.spec.vocab_size
    # A sequence every 250 steps, each in the next slot, so that resets and all slots are part of it
    sequence = min(250, session.options.max_seq_len - len(prompt))
    rss_mb: list[tuple[int, float]] = [(0, process.memory_info().rss / 1e6)]
    step_ms: list[float] = []
    token_id, slot, breather = np.zeros(1, np.int64), 0, Breather()
    for i in range(n_steps):
        if i % sequence == 0:
            slot = (slot + 1) % session.options.n_slots
            session.kv.reset(slot)
            session.step(prompt, len(prompt), slot=slot)
            session.kv.commit(slot, len(prompt))
        if breather.pause():
            session.step(token_id, 1, slot=slot)  # neither counted nor committed
        started = time.perf_counter()
        logits = session.step(token_id, 1, slot=slot)
        step_ms.append((time.perf_counter() - started) * 1e3)
        session.kv.commit(slot, 1)
        token_id[0] = logits.argmax()
        if (i + 1) % sample_every == 0 or i + 1 == n_steps:
            rss_mb.append((i + 1, process.memory_info().rss / 1e6))
        if on_step:
            on_step(i + 1)
    return rss_mb, step_ms
