"""A target under load for hours: the same answers, the same memory, the same pace."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentkit.bench.figures import Check, machine, spread
from agentkit.bench.opened import open_warm
from agentkit.bench.overlap import Load, serve
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.lane import Lane
from agentkit.decoder.tokenizer import load_tokenizer
from agentkit.decoder.trace import Stage, StageTrace

MAX_GROWTH_MB = 8.0
"""What the resident set may grow by after the first window."""
N_CLIENTS = 4
ALONE, TOGETHER = Load(n_requests=8, n_clients=1), Load(n_requests=8, n_clients=N_CLIENTS)
"""The same requests one by one and four at once, by turns; all answers must be those of the first round."""

Window = dict[str, Any]


def soak_bench(
    checkpoint: Path, *, cache_dir: Path, target: str, minutes: float, n_windows: int = 20, n_threads: int = 0,
    on_window: Callable[[Window], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Answer requests for that many minutes and look at each window of time by itself.

    Returns the windows with the milliseconds of decode steps (of requests one by one) and the resident set at their
    end, whether all answers were equal, and the growth of the resident set.
    """
    options = SessionOptions(max_seq_len=256, n_slots=N_CLIENTS, buckets=(1, 16, 32), n_threads=n_threads)
    opened, tokenizer = open_warm(checkpoint, target, options, cache_dir), load_tokenizer(checkpoint)
    lane, windows = Lane(target, opened.session, opened.pools), list[Window]()
    answers: set[tuple[tuple[int, ...], ...]] = set()
    began_s = time.monotonic()
    try:
        for number in range(1, n_windows + 1):
            end_s, step_ms, n_rounds = began_s + 60 * minutes * number / n_windows, list[float](), 0
            while n_rounds == 0 or time.monotonic() < end_s:
                trace = StageTrace(capacity=4000)
                answers.add(serve(lane, tokenizer, ALONE, trace=trace).token_ids)
                answers.add(serve(lane, tokenizer, TOGETHER).token_ids)
                step_ms += [
                    (s.end_s - s.start_s) * 1e3 for s in trace.spans() if s.stage is Stage.CORE and s.n_valid == 1
                ]
                n_rounds += 1
            windows.append(_window((time.monotonic() - began_s) / 60, n_rounds, step_ms, len(answers) == 1))
            if on_window:
                on_window(windows[-1])
    finally:
        opened.session.close()
    growth_mb = windows[-1]["rss_mb"] - windows[0]["rss_mb"]
    return {
        "machine": machine(),
        "checkpoint": checkpoint.name,
        "target": target,
        "minutes": minutes,
        "windows": windows,
        "are_answers_equal": len(answers) == 1,
        "growth_mb": growth_mb,
        "is_sound": len(answers) == 1 and growth_mb < MAX_GROWTH_MB,
        "checks": [Check("growth of the resident set", growth_mb, MAX_GROWTH_MB, unit="MB").as_dict()],
    }


def _window(minute: float, n_rounds: int, step_ms: list[float], is_equal: bool) -> Window:
    import psutil

    rss_mb = psutil.Process().memory_info().rss / 1e6
    return {"minute": minute, "n_rounds": n_rounds, "rss_mb": rss_mb, "are_answers_equal": is_equal, **spread(step_ms)}
