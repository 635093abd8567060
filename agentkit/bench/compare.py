"""Races a target against a peer on the same checkpoint by turns, so that both meet the same noise of the machine."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentkit.bench.engines import LLAMA_CPP, Engine, open_engine
from agentkit.decoder.backend import SessionOptions
from agentkit.errors import BackendUnavailable

if TYPE_CHECKING:
    from rich.table import Table

N_PROMPT, N_DECODE = 128, 64
_SETTLE_S = 0.1
"""Lets the other engine's workers fall asleep before the clock starts."""


@dataclass(frozen=True)
class _Run:
    prefill_ms: float
    step_ms: tuple[float, ...]
    token_ids: tuple[int, ...]


def compare(
    checkpoint: Path, *, cache_dir: Path, peer: str = LLAMA_CPP, target: str = "cpu_onnx",
    precision: str | None = None, n_threads: int = 0, rounds: int = 7, on_round: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Measure greedy decode and a prefill of 128 tokens on both, in alternating order.

    `peer` is llama_cpp, onnxruntime_genai or another target. Returns medians over the rounds and ratios, of which above
    1 means that the target is faster. Raises BackendUnavailable if the peer is not installed.
    """
    if peer == target:
        raise BackendUnavailable(f"{peer}: the peer is the target itself; name another one")
    n_threads = n_threads or len(os.sched_getaffinity(0))
    options = SessionOptions(
        max_seq_len=512, n_slots=1, buckets=(1, N_PROMPT), n_threads=n_threads, precision=precision
    )
    with ExitStack() as stack:
        engines: dict[str, Engine] = {}
        for name in (peer, target):  # the peer first: if it is missing, nothing is compiled in vain
            engines[name] = stack.enter_context(closing(open_engine(name, checkpoint, options, cache_dir)))
        prompt = _prompt(engines[target])
        runs = _race(engines, prompt, rounds, on_round)
    return {
        "checkpoint": checkpoint.name,
        "precision": precision or "as stored",
        "target": target,
        "peer": peer,
        "n_threads": n_threads,
        "rounds": rounds,
        "n_prompt": N_PROMPT,
        "n_decode": N_DECODE,
        **_summary(runs[target], runs[peer]),
    }


def compare_table(result: dict[str, Any]) -> Table:
    """Lay a result of `compare` out for people."""
    from rich.table import Table

    target, peer = result["target"], result["peer"]
    title = f"{result['checkpoint']} ({result['precision']}), {result['n_threads']} threads, {result['rounds']} rounds"
    table = Table(title=title)
    for column in ("median of rounds", target, peer, f"{target} / {peer}"):
        table.add_column(column, justify="right")
    decode, prefill, ratio = result["decode_tok_s"], result["prefill_ms"], result["ratio"]
    table.add_row("decode, tokens/s", f"{decode['target']:.1f}", f"{decode['peer']:.1f}", f"{ratio['decode']:.2f} x")
    table.add_row(
        f"prefill of {result['n_prompt']}, ms",
        f"{prefill['target']:.1f}",
        f"{prefill['peer']:.1f}",
        f"{ratio['prefill']:.2f} x",
    )
    table.caption = f"the first {result['n_equal_tokens']} of {result['n_decode']} greedy tokens are equal"
    return table


def _prompt(engine: Engine) -> list[int]:
    """Let the model write its own prompt: text it knows, without a tokenizer."""
    token_ids = [1]
    token_id = engine.prefill([1] * N_PROMPT)
    while len(token_ids) < N_PROMPT:
        token_ids.append(token_id)
        token_id = engine.decode(token_id)
    return token_ids


def _race(
    engines: dict[str, Engine], prompt: list[int], rounds: int, on_round: Callable[[int], None] | None
) -> dict[str, list[_Run]]:
    for engine in engines.values():
        _measure(engine, prompt)  # not counted: caches and clocks warm up
    runs: dict[str, list[_Run]] = {name: [] for name in engines}
    for i in range(rounds):
        for name in list(engines)[:: 1 if i % 2 == 0 else -1]:
            runs[name].append(_measure(engines[name], prompt))
        if on_round:
            on_round(i + 1)
    return runs


def _measure(engine: Engine, prompt: list[int]) -> _Run:
    time.sleep(_SETTLE_S)
    started = time.perf_counter()
    token_id = engine.prefill(prompt)
    prefill_ms = (time.perf_counter() - started) * 1e3
    token_ids, step_ms = [token_id], []
    for _ in range(N_DECODE):
        started = time.perf_counter()
        token_id = engine.decode(token_id)
        step_ms.append((time.perf_counter() - started) * 1e3)
        token_ids.append(token_id)
    return _Run(prefill_ms, tuple(step_ms), tuple(token_ids))


def _summary(target: list[_Run], peer: list[_Run]) -> dict[str, Any]:
    sides = {"target": target, "peer": peer}
    prefill = {side: statistics.median(run.prefill_ms for run in runs) for side, runs in sides.items()}
    step = {side: statistics.median(statistics.median(run.step_ms) for run in runs) for side, runs in sides.items()}
    pairs = list(zip(target[0].token_ids, peer[0].token_ids, strict=True))[:N_DECODE]
    n_equal = next((i for i, (own, other) in enumerate(pairs) if own != other), len(pairs))
    return {
        "decode_tok_s": {side: 1e3 / ms for side, ms in step.items()},
        "prefill_ms": prefill,
        "ratio": {"decode": step["peer"] / step["target"], "prefill": prefill["peer"] / prefill["target"]},
        "n_equal_tokens": n_equal,
    }
