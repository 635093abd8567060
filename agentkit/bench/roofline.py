"""Sets a target's steps against what memory gives: a decode step can be no faster than its weights are read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentkit.bench.opened import open_warm
from agentkit.decoder.backend import DecoderSpec, Session, SessionOptions
from agentkit.decoder.kv_cache import Layout
from agentkit.errors import BackendUnavailable

LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Tokens per step."""
STARTS = (0, 256, 512, 1024, 2046)
"""Rows in the cache before a decode step."""
_REPEATS = 15
_N_BYTES_READ = 128 << 20


def roofline_bench(
    checkpoint: Path, *, cache_dir: Path, target: str, n_threads: int = 0,
    on_point: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Time steps of several lengths, and decode steps behind several lengths of cache.

    Every figure is the best of some repeats, and with one thread it is the process's own time: the machine's noise
    only ever adds. Returns milliseconds, billions of
    multiplications a second and GB read a second, beside the read bandwidth measured in between.
    """
    n_threads = n_threads or len(os.sched_getaffinity(0))
    options = SessionOptions(max_seq_len=2048, n_slots=1, buckets=LENGTHS, n_threads=n_threads)
    opened = open_warm(checkpoint, target, options, cache_dir)
    session, weight_bytes = opened.session, opened.session.sizes.weight_bytes
    try:
        bandwidths = [_bandwidth(session, n_threads)]
        steps = []
        for length in LENGTHS:
            steps.append(_point(session, length, 0, n_threads))
            if on_point:
                on_point(len(steps))
        bandwidths.append(_bandwidth(session, n_threads))
        decode = []
        for start in STARTS:
            decode.append(_point(session, 1, start, n_threads))
            if on_point:
                on_point(len(steps) + len(decode))
        bandwidths.append(_bandwidth(session, n_threads))
    finally:
        session.close()
    return {
        "checkpoint": checkpoint.name,
        "target": target,
        "n_threads": n_threads,
        "weight_bytes": weight_bytes,
        "read_gb_s": max(bandwidths) / 1e9,
        "steps": steps,
        "decode": decode,
        "bandwidth_share": steps[0]["gb_s"] / (max(bandwidths) / 1e9),
        "longest_to_shortest": decode[-1]["ms"] / decode[0]["ms"],
    }


def n_products(spec: DecoderSpec) -> int:
    """Count the multiplications of a token's layers; the head runs once per step."""
    q_size, kv_size = spec.n_heads * spec.head_dim, spec.n_kv_heads * spec.head_dim
    layer = spec.hidden_size * (2 * q_size + 2 * kv_size + 3 * spec.ffn_size)
    return spec.n_layers * layer


def read_bandwidth(n_threads: int) -> float:
    """Read memory on all threads at once; return bytes per second, the best of some rounds."""
    blocks = [np.ones(_N_BYTES_READ, np.uint8) for _ in range(n_threads)]  # [bytes] u8
    best_s = float("inf")
    for _ in range(5):
        threads = [threading.Thread(target=_read, args=(block,)) for block in blocks]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        best_s = min(best_s, time.perf_counter() - started)
    return _N_BYTES_READ * n_threads / best_s


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the roofline and the steps' length as a PNG. Raises BackendUnavailable without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as err:
        raise BackendUnavailable(f"a plot needs matplotlib ({err}); run: pip install matplotlib") from err
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    roof, lengths = figure.subplots(1, 2)
    _draw_roof(roof, result)
    starts = [point["start"] for point in result["decode"]]
    lengths.plot(starts, [point["ms"] for point in result["decode"]], "o-")
    lengths.set(xlabel="rows in the cache", ylabel="ms per decode step", title="a step against the cache's length")
    lengths.set_ylim(bottom=0)
    lengths.grid(alpha=0.3)
    threads = "1 thread" if result["n_threads"] == 1 else f"{result['n_threads']} threads"
    figure.suptitle(f"{result['checkpoint']} on {result['target']}, {threads}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _draw_roof(axes: Any, result: dict[str, Any]) -> None:
    points = result["steps"]
    intensity = np.array([point["products_per_byte"] for point in points])
    reached = np.array([point["g_products_s"] for point in points])
    best = reached.max()
    span = np.geomspace(intensity.min() / 2, intensity.max() * 2, 100)
    roof = np.minimum(span * result["read_gb_s"], best)
    axes.loglog(span, roof, color="grey", label=f"{result['read_gb_s']:.0f} GB/s read, best {best:.0f} G/s")
    axes.loglog(intensity, reached, "o")
    for point, x, y in zip(points, intensity, reached, strict=True):
        axes.annotate(str(point["n_tokens"]), (x, y), textcoords="offset points", xytext=(4, -11), fontsize=8)
    axes.set(xlabel="multiplications per byte of weights", ylabel="10⁹ multiplications a second")
    axes.set_title("steps of 1 … 256 tokens under the roof")
    axes.grid(alpha=0.3, which="both")
    axes.legend(loc="lower right")


def _point(session: Session, n_tokens: int, start: int, n_threads: int) -> dict[str, Any]:
    weight_bytes = session.sizes.weight_bytes
    clock = time.process_time if n_threads == 1 else time.perf_counter
    session.kv.reset(0)
    session.kv.commit(0, start)  # the rows' values do not matter to the time
    token_ids = np.ones(n_tokens, np.int64)
    times = []
    for _ in range(_REPEATS if n_tokens < 64 else 5):
        time.sleep(0.005)
        session.step(token_ids, n_tokens, slot=0)  # wakes the threads
        started = clock()
        session.step(token_ids, n_tokens, slot=0)
        times.append(clock() - started)
    best_s = min(times)
    head = session.spec.vocab_size * session.spec.hidden_size
    products = n_products(session.spec) * n_tokens + head
    n_cached = session.kv.rows(0, start).nbytes if session.kv.layout is not Layout.HEADS_FIRST else 0
    return {
        "n_tokens": n_tokens,
        "start": start,
        "ms": best_s * 1e3,
        "g_products_s": products / best_s / 1e9,
        "products_per_byte": products / weight_bytes,
        "gb_s": (weight_bytes + n_cached) / best_s / 1e9,
    }


def _bandwidth(session: Session, n_threads: int) -> float:
    """Take the target's own plain read of its weights where it has one: NumPy's need not be the fastest."""
    read_s = getattr(session, "read_weights_s", None)
    if read_s is None:
        return read_bandwidth(n_threads)
    return float(session.sizes.weight_bytes / min(read_s() for _ in range(_REPEATS)))


def _read(block: NDArray[np.uint8]) -> None:
    block.max()
