"""The first level of validation (rule A12): how well one layer uses the machine, and which attention wins."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentkit.bench.attention import BLOCKWISE, LENGTHS, attention_bench
from agentkit.bench.counters import miss_rate
from agentkit.bench.figures import Check, machine
from agentkit.bench.opened import open_warm
from agentkit.decoder.backend import Session, SessionOptions
from agentkit.planner.host import measure_bandwidth

MIN_BANDWIDTH_SHARE, MAX_MISS_RATE, MAX_RISE, MAX_GROWTH_US = 0.85, 0.15, 1.35, 300.0
_N_STEPS, _N_REPEATS = 60, 9


def layer_bench(
    checkpoint: Path, *, cache_dir: Path, target: str = "cpu_onnx", options: SessionOptions | None = None,
    lengths: Sequence[int] = LENGTHS, on_length: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Measure bandwidth use and cache misses of a decode step, and one attention in every form and on the target.

    Bandwidth is what a step reads of the weights, per second, of what plain copying moves on the same cores.
    """
    options = options or SessionOptions(n_slots=1, buckets=(1, 16))
    n_threads = options.n_threads or machine()["n_cores"]
    opened = open_warm(checkpoint, target, options, cache_dir)
    try:
        step_s = min(_step_s(opened.session) for _ in range(5))
        misses, note = miss_rate(lambda: _step_s(opened.session))
        spec, rows = opened.session.spec, [n for n in lengths if n <= opened.session.kv.capacity]
        growth_us = _growth_us(opened.session, rows)
        n_bytes = _read_bytes(opened.pools.describe()["weight"]["used_bytes"], opened.session)
    finally:
        opened.session.close()
    peak = measure_bandwidth(n_threads)
    attention = attention_bench(spec, lengths=lengths, on_length=on_length)
    share = n_bytes / step_s / peak
    checks = [
        Check("bandwidth use of a decode step", share, MIN_BANDWIDTH_SHARE, is_upper=False),
        Check("cache miss rate", misses, MAX_MISS_RATE, note=note),
        Check("AF attention, slowest / quickest length", attention["flatness"][BLOCKWISE], MAX_RISE),
        Check(f"a layer of a step at {rows[-1]} rows longer than at {rows[0]}", growth_us[-1], MAX_GROWTH_US, unit="µs",
              note=f"on {target}, from whole steps"),
    ]  # fmt: skip
    return {
        "machine": machine(),
        "checkpoint": checkpoint.name,
        "target": target,
        "n_threads": n_threads,
        "step_ms": step_s * 1e3,
        "read_mb": n_bytes / 1e6,
        "bandwidth_gb_s": {"used": n_bytes / step_s / 1e9, "peak": peak / 1e9},
        "attention": attention,
        "growth": {"lengths": rows, "us": growth_us},
        "winner": min(attention["us"], key=lambda name: sum(attention["us"][name])),
        "checks": [check.as_dict() for check in checks],
    }


def _step_s(session: Session) -> float:
    """Median time of a decode step."""
    took, token_id = [], np.array([7], np.int64)
    session.kv.reset(0)
    for _ in range(_N_STEPS):
        started_s = time.perf_counter()
        session.step(token_id, 1, slot=0)
        took.append(time.perf_counter() - started_s)
        session.kv.commit(0, 1)
    return float(np.median(took))


def _growth_us(session: Session, lengths: Sequence[int]) -> list[float]:
    """How many µs longer a layer of a decode step takes with so many rows in the cache than with the fewest.

    The lengths take turns and the least time of each counts, because the machine's noise only ever adds.
    """
    token_id, best_s = np.array([7], np.int64), dict.fromkeys(lengths, float("inf"))
    for _ in range(_N_REPEATS):
        for n_rows in lengths:
            session.kv.reset(0)
            session.kv.commit(0, n_rows - 1)  # the rows' values do not matter to the time
            session.step(token_id, 1, slot=0)
            started_s = time.perf_counter()
            session.step(token_id, 1, slot=0)
            best_s[n_rows] = min(best_s[n_rows], time.perf_counter() - started_s)
    return [(best_s[n] - best_s[lengths[0]]) / session.spec.n_layers * 1e6 for n in lengths]


def _read_bytes(n_weights: int | bool, session: Session) -> float:
    """What one step reads: every weight but the embedding table, of which it takes a row."""
    spec = session.spec
    n_table = spec.vocab_size * spec.hidden_size if spec.is_head_tied else 0
    return float(n_weights) - n_table
