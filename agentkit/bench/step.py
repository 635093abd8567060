"""The second level (rule A12): each decode step from an empty cache to a full one, and what the host adds."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from agentkit.bench.figures import Check, machine, spread
from agentkit.bench.opened import open_warm
from agentkit.bench.overlap import Load, serve
from agentkit.bench.plain import PlainLoop
from agentkit.bench.priority import Breather
from agentkit.decoder.backend import Session, SessionOptions
from agentkit.decoder.lane import Lane
from agentkit.decoder.tokenizer import load_tokenizer
from agentkit.decoder.trace import StageTrace

MAX_MEAN_MS, MAX_P99_MS, SPIKE_MS = 5.0, 8.0, 15.0
MAX_JITTER, MAX_RISE, MAX_FIRST, MAX_HOST_MS = 1.6, 1.35, 1.3, 0.25
_EDGE = 64
"""Steps at either end whose medians are compared."""
_PLAIN_EVERY = 128
"""Steps between two turns of the plain loop."""


def step_bench(
    checkpoint: Path, *, cache_dir: Path, target: str = "cpu_onnx", options: SessionOptions | None = None,
    n_steps: int | None = None, trace: StageTrace | None = None, on_step: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Decode through one sequence as long as the cache, then drive the whole pipeline for the host's share."""
    options = options or SessionOptions(n_slots=2)
    opened = open_warm(checkpoint, target, options, cache_dir)
    lane, plain = Lane(target, opened.session, opened.pools), PlainLoop()
    try:
        step_ms = _decode(opened.session, min(n_steps or options.max_seq_len, options.max_seq_len), plain, on_step)
        host = _host_share(checkpoint, lane, trace)
    finally:
        opened.session.close()
    figures, edge = spread(step_ms), min(_EDGE, len(step_ms) // 2)
    steady_ms, last_ms = float(np.median(step_ms[:edge])), float(np.median(step_ms[-edge:]))
    n_spikes = sum(ms > SPIKE_MS for ms in step_ms)
    checks = [
        Check("step, mean", figures["mean"], MAX_MEAN_MS, unit="ms"),
        Check("step, P99", figures["p99"], MAX_P99_MS, unit="ms"),
        Check(f"steps above {SPIKE_MS:g} ms", n_spikes, 0),
        Check("P99 / P50", figures["p99"] / figures["p50"], MAX_JITTER, note=_beside(plain)),
        Check(f"step at {len(step_ms)} rows / at the first {edge}", last_ms / steady_ms, MAX_RISE),
        Check("first step after warm-up / steady", step_ms[0] / steady_ms, MAX_FIRST),
        Check("host per step (pre, post, scheduling)", host["host_ms"], MAX_HOST_MS, unit="ms"),
    ]
    return {
        "machine": machine(),
        "checkpoint": checkpoint.name,
        "target": target,
        "n_steps": len(step_ms),
        "open_s": opened.open_s,
        "first_step_ms": opened.first_step_ms,
        "step_ms": figures,
        "steps_ms": [round(ms, 4) for ms in step_ms],
        "spike_ms": SPIKE_MS,
        "plain_ms": spread(plain.ms) if plain.ms else None,
        "host": host,
        "checks": [check.as_dict() for check in checks],
    }


def _beside(plain: PlainLoop) -> str:
    return "" if plain.jitter is None else f"{plain.jitter:.2f} for a plain loop on one thread, by turns with the steps"


def _decode(
    session: Session, n_steps: int, plain: PlainLoop, on_step: Callable[[int], None] | None
) -> list[float]:  # fmt: skip
    """Time every step of one sequence, and the plain loop by turns with them."""
    step_ms: list[float] = []
    token_id, breather = np.ones(1, np.int64), Breather()
    session.kv.reset(0)
    for index in range(n_steps):
        is_turn = index % _PLAIN_EVERY == _PLAIN_EVERY // 2
        if is_turn:
            plain.turn(float(np.median(step_ms)))
        if breather.pause() or is_turn:
            session.step(token_id, 1, slot=0)  # neither counted nor committed
        started_s = time.perf_counter()
        logits = session.step(token_id, 1, slot=0)
        step_ms.append((time.perf_counter() - started_s) * 1e3)
        session.kv.commit(0, 1)
        token_id[0] = logits.argmax()
        if on_step:
            on_step(index + 1)
    session.kv.reset(0)
    return step_ms


def _host_share(checkpoint: Path, lane: Lane, trace: StageTrace | None) -> dict[str, float]:
    """Run one request after the other through the stages; what is not core-step is the host's."""
    tokenizer, spans = load_tokenizer(checkpoint), trace or StageTrace()
    load = Load(n_requests=4, n_clients=1, n_prompt=32, n_tokens=48)
    serve(lane, tokenizer, load)  # not counted: caches warm up
    started_s = time.perf_counter()
    served = serve(lane, tokenizer, load, trace=spans)
    total_ms = (time.perf_counter() - started_s) * 1e3
    stages = dict.fromkeys(("pre", "core", "post"), 0.0)
    for span in spans.spans():
        stages[span.stage.name.lower()] += (span.end_s - span.start_s) * 1e3
    per_step = {f"{stage}_ms": ms / served.n_steps for stage, ms in stages.items()}
    return {**per_step, "host_ms": (total_ms - stages["core"]) / served.n_steps, "n_steps": served.n_steps}
