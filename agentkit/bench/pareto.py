"""Latency, memory and accuracy of every form of a model (rules A13, A16): choose by the table, not by one figure."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agentkit.bench.figures import Check, machine, spread
from agentkit.bench.opened import open_warm
from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.decoder.backend import SessionOptions
from agentkit.errors import CheckpointError

EXACT: Final = "f32"
FORMS: Final = (EXACT, "int8", "int4")
MIN_AGREEMENT: Final = 0.95
"""Share of steps whose most likely token must be that of the exact form."""
N_TOKENS: Final = 128
Logits = NDArray[np.float32]


def pareto_bench(
    checkpoint: Path, *, cache_dir: Path, target: str, n_threads: int = 0, n_tokens: int = N_TOKENS,
    forms: Sequence[str] = FORMS, on_form: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Run every precision over the text that the exact one writes; the first of `forms` is the exact one.

    Accuracy is the share of equal most likely tokens and the mean divergence (KL, nats) of what comes next. Forms that
    no other beats in latency, memory and divergence at once are marked as optimal.
    """
    stored = load_checkpoint(checkpoint).precision
    options = SessionOptions(max_seq_len=-(-n_tokens // 32) * 32, n_slots=1, buckets=(1,), n_threads=n_threads)
    rows: list[dict[str, Any]] = []
    token_ids: list[int] = [1]
    exact: list[Logits] = []
    for number, form in enumerate(forms, 1):
        try:
            found, logits = _measure(
                checkpoint, cache_dir, target, replace(options, precision=form), token_ids, n_tokens
            )
        except CheckpointError as err:  # its columns are no whole blocks, or the target has no such form
            rows.append({"precision": form, "why_not": str(err)})
            continue
        exact = exact or logits
        rows.append({"precision": form, "is_stored": form == stored, **found, **_accuracy(exact, logits)})
        if on_form:
            on_form(number)
    _mark_optimal([row for row in rows if "kl" in row])
    chosen = next(row for row in rows if row.get("is_stored"))
    checks = [
        Check(f"{stored}, most likely token as {forms[0]}'s", chosen["agreement"], MIN_AGREEMENT, is_upper=False),
        Check(f"{stored} is beaten by another form in everything", float(not chosen["is_optimal"]), 0),
    ]
    return {
        "machine": machine(), "checkpoint": checkpoint.name, "target": target, "n_tokens": n_tokens, "forms": rows,
        "checks": [check.as_dict() for check in checks],
    }  # fmt: skip


def _measure(
    checkpoint: Path, cache_dir: Path, target: str, options: SessionOptions, token_ids: list[int], n_tokens: int
) -> tuple[dict[str, Any], list[Logits]]:
    """Decode the text, which the first form writes as it goes; return its figures and the logits of every step."""
    with _only_for_now(checkpoint, options.precision, cache_dir):
        opened = open_warm(checkpoint, target, options, cache_dir)
        session, step_ms, logits = opened.session, list[float](), list[Logits]()
        with closing(session):
            for index in range(n_tokens):
                started_s = time.perf_counter()
                found = session.step(np.array(token_ids[index : index + 1], np.int64), 1, slot=0)
                step_ms.append((time.perf_counter() - started_s) * 1e3)
                session.kv.commit(0, 1)
                logits.append(found.copy())
                if len(token_ids) == index + 1:
                    token_ids.append(int(found.argmax()))
            n_cache = session.kv.data.dtype.itemsize
    weight_mb = opened.pools.weight.used_bytes / 1e6
    return {"step_ms": spread(step_ms), "weight_mb": weight_mb, "cache_bytes_per_value": n_cache}, logits


@contextmanager
def _only_for_now(checkpoint: Path, precision: str | None, cache_dir: Path) -> Iterator[None]:
    """Delete what is compiled meanwhile: f32 is four times the size and nobody will run it again."""
    pattern = f"{checkpoint.resolve().stem}-{precision}-*"
    before = set(cache_dir.glob(pattern))
    try:
        yield
    finally:
        for made in set(cache_dir.glob(pattern)) - before:
            shutil.rmtree(made) if made.is_dir() else made.unlink()


def _accuracy(exact: Sequence[Logits], logits: Sequence[Logits]) -> dict[str, float]:
    pairs = list(zip(exact, logits, strict=True))
    return {
        "agreement": float(np.mean([a.argmax() == b.argmax() for a, b in pairs])),
        "kl": float(np.mean([divergence(a, b) for a, b in pairs])),
    }


def divergence(exact: Logits, other: Logits) -> float:
    """Return the Kullback-Leibler divergence of two rows of logits, in nats."""
    p, q = (_log_softmax(row.astype(np.float64)) for row in (exact, other))
    return float(np.sum(np.exp(p) * (p - q)))


def _log_softmax(row: NDArray[np.float64]) -> NDArray[np.float64]:
    moved = row - row.max()
    logged: NDArray[np.float64] = moved - np.log(np.exp(moved).sum())
    return logged


def _mark_optimal(rows: Sequence[dict[str, Any]]) -> None:
    points = [(row["step_ms"]["p50"], row["weight_mb"], row["kl"]) for row in rows]
    for row, point in zip(rows, points, strict=True):
        beaten = (all(a <= b for a, b in zip(o, point, strict=True)) and o != point for o in points)
        row["is_optimal"] = not any(beaten)
