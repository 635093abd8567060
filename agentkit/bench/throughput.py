"""Several requests at once: ways of driving the stages against each other (rules A1, A10, B9).

On a CPU the ways are timed by turns. On the simulated NPU time is virtual, so each way is run once and a ladder of
ways shows where the throughput comes from.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentkit.bench.figures import Check, machine
from agentkit.bench.opened import open_warm
from agentkit.bench.overlap import Load, serve
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.lane import Lane
from agentkit.decoder.steps import is_asynchronous
from agentkit.decoder.tokenizer import Tokenizer, load_tokenizer
from agentkit.decoder.trace import StageTrace
from agentkit.errors import BackendUnavailable

MIN_GAIN = 3.0
N_CLIENTS = 4


@dataclass(frozen=True)
class Mode:
    """One way of driving the stages."""

    name: str
    n_clients: int
    has_workers: bool = False
    n_in_flight: int | None = None
    """None = as many steps as the target takes."""


MODES = (
    Mode("one request after the other, in line", 1),
    Mode("four requests interleaved, in line", N_CLIENTS),
    Mode("four requests, a thread per stage", N_CLIENTS, has_workers=True),
)
ONE_STEP = Mode("four requests interleaved, one step at a time", N_CLIENTS, n_in_flight=1)
"""What a target that takes several steps at once is compared with."""


def throughput_bench(
    checkpoint: Path, *, cache_dir: Path, target: str = "cpu_onnx", n_threads: int = 0, rounds: int = 3,
    load: Load | None = None, trace: StageTrace | None = None, on_round: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Answer the same requests in every mode, by turns; the trace is of the second one."""
    options = SessionOptions(max_seq_len=256, n_slots=N_CLIENTS, buckets=(1, 16, 32), n_threads=n_threads)
    opened, load = open_warm(checkpoint, target, options, cache_dir), load or Load(n_requests=8)
    lane, tokenizer = Lane(target, opened.session, opened.pools), load_tokenizer(checkpoint)
    modes = (*MODES, ONE_STEP) if is_asynchronous(opened.session) else MODES
    took: dict[str, list[float]] = {mode.name: [] for mode in modes}
    try:
        answers = {_serve(lane, tokenizer, load, mode)[1] for mode in modes}  # not counted, but compared
        for number in range(rounds):
            for mode in modes[:: 1 if number % 2 == 0 else -1]:
                took[mode.name].append(_serve(lane, tokenizer, load, mode)[0])
            if on_round:
                on_round(number + 1)
        _serve(lane, tokenizer, replace(load, n_requests=N_CLIENTS), MODES[1], trace)
    finally:
        opened.session.close()
    qps = {name: load.n_requests / statistics.median(seconds) for name, seconds in took.items()}
    return {
        "machine": machine(),
        "checkpoint": checkpoint.name,
        "target": target,
        "requests": {"n": load.n_requests, "n_prompt": load.n_prompt, "n_tokens": load.n_tokens},
        "qps": qps,
        "fastest": max(qps, key=lambda name: qps[name]),
        "are_answers_equal": len(answers) == 1,
    }


def _serve(
    lane: Lane, tokenizer: Tokenizer, load: Load, mode: Mode, trace: StageTrace | None = None
) -> tuple[float, tuple[tuple[int, ...], ...]]:
    started_s = time.perf_counter()
    served = serve(
        lane, tokenizer, replace(load, n_clients=mode.n_clients), n_in_flight=mode.n_in_flight,
        has_workers=mode.has_workers, trace=trace,
    )  # fmt: skip
    return time.perf_counter() - started_s, served.token_ids


def ladder_bench(
    checkpoint: Path, *, cache_dir: Path, target: str = "npu_sim", n_threads: int = 0, load: Load | None = None,
    on_rung: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Answer the same requests on a simulated target, once for each rung of its ladder. Times are virtual."""
    options = SessionOptions(max_seq_len=256, n_slots=N_CLIENTS, buckets=(1, 16, 32), n_threads=n_threads)
    opened, load = open_warm(checkpoint, target, options, cache_dir), load or Load(n_requests=12)
    session: Any = opened.session
    if not hasattr(session, "ladder"):
        opened.session.close()
        raise BackendUnavailable(f"{target}: it has no ladder of ways; take npu_sim")
    lane, tokenizer = Lane(target, session, opened.pools), load_tokenizer(checkpoint)
    rungs, answers, events = [], set(), []
    try:
        for number, rung in enumerate(session.ladder, 1):
            session.restart(rung, has_events=True)
            served = serve(lane, tokenizer, load, n_in_flight=rung.n_in_flight)
            answers.add(served.token_ids)
            timeline = session.timeline
            seconds, events = timeline.host_us / 1e6, timeline.events
            rungs.append({
                "name": rung.name, "why": rung.why, "qps": load.n_requests / seconds,
                "ms_per_step": seconds / served.n_steps * 1e3,
                "busy": {name: us / timeline.host_us for name, us in timeline.busy_us.items()},
                "events": events,
            })  # fmt: skip
            if on_rung:
                on_rung(number)
    finally:
        session.close()
    gain = rungs[-1]["qps"] / rungs[0]["qps"]
    overlap = rungs[-2]["qps"] / rungs[0]["qps"]
    note = f"overlap alone gives {overlap:.1f}, the rest comes from passes over the weights that several steps share"
    check = Check("double-buffered / synchronous, four requests at once", gain, MIN_GAIN, is_upper=False, note=note)
    return {
        "machine": machine(),
        "checkpoint": checkpoint.name,
        "target": target,
        "clock": "virtual",
        "requests": {"n": load.n_requests, "n_prompt": load.n_prompt, "n_tokens": load.n_tokens},
        "rungs": rungs,
        "are_answers_equal": len(answers) == 1,
        "checks": [check.as_dict()],
    }
