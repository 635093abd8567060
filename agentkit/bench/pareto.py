"""Latency, energy, memory and accuracy of every form of a model (rules A13, A16): choose by the table, not a figure."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agentkit.bench.energy import Meter, find_meter, metered
from agentkit.bench.figures import Check, machine, spread
from agentkit.bench.opened import open_warm
from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.compiler.quantise import rounds
from agentkit.decoder.backend import Session, SessionOptions
from agentkit.decoder.sensors import ROOT
from agentkit.errors import CheckpointError

EXACT: Final = "f32"
FORMS: Final = (EXACT, "int8", "int4")
MIN_AGREEMENT: Final = 0.95
"""Share of steps whose most likely token must be that of the exact form."""
MAX_RISE: Final = 0.02
"""What the perplexity may rise by, as a share, for a form to be chosen: speed is not to be bought with sense."""
N_TOKENS: Final = 1024
Logits = NDArray[np.float32]


def pareto_bench(
    checkpoint: Path, *, cache_dir: Path, target: str, n_threads: int = 0, n_tokens: int = N_TOKENS,
    text_ids: Sequence[int] = (), forms: Sequence[str] = FORMS, importance: str = "", root: Path = ROOT,
    on_form: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Run every precision over one text; the first of `forms` is the exact one.

    The text is `text_ids` and, where those are fewer than n_tokens, what the exact form writes on. Accuracy is the
    rise of the perplexity of `text_ids`, the share of equal most likely tokens and the mean divergence (KL, nats) of
    what comes next. Energy is read from the meters under `root`; without one, the time of the processor stands for it.
    With a calibration, `importance`, those forms that round weights are run by it as well.
    Forms that no other beats in latency, energy, memory and divergence at once are optimal; of those that are accurate
    enough, the one with the least latency times energy is chosen.
    """
    loaded = load_checkpoint(checkpoint)
    stored = loaded.precision
    options = SessionOptions(max_seq_len=-(-n_tokens // 32) * 32, n_slots=1, buckets=(1,), n_threads=n_threads)
    rows: list[dict[str, Any]] = []
    given = list(text_ids[: n_tokens + 1]) or [1]
    token_ids, n_given = list(given), len(given)
    exact: list[Logits] = []
    meter, source = find_meter(root)
    ways = [(form, "") for form in forms]
    ways += [(form, importance) for form in forms if importance and rounds(loaded, form)]
    for number, (form, calibration) in enumerate(ways, 1):
        row: dict[str, Any] = {"precision": form, "is_calibrated": bool(calibration)}
        way = replace(options, precision=form, importance=calibration)
        try:
            found, logits = _measure(checkpoint, cache_dir, target, way, token_ids, n_tokens, meter)
        except CheckpointError as err:  # its columns are no whole blocks, or the target has no such form
            rows.append({**row, "why_not": str(err)})
            continue
        exact = exact or logits
        accuracy = _accuracy(exact, logits, token_ids[1:n_given])
        rows.append({**row, "is_stored": form == stored, **found, **accuracy})
        if on_form:
            on_form(number)
    measured = [row for row in rows if "kl" in row]
    _mark_optimal(measured)
    _mark_chosen(measured)
    return {
        "machine": machine(), "checkpoint": checkpoint.name, "target": target, "n_tokens": n_tokens,
        "n_text_tokens": n_given - 1, "energy_from": source, "forms": rows,
        "checks": [check.as_dict() for check in _checks(measured, stored)],
    }  # fmt: skip


def _checks(rows: Sequence[dict[str, Any]], stored: str) -> Iterator[Check]:
    row = next(row for row in rows if row["is_stored"])
    yield Check(
        f"{stored}, most likely token as {rows[0]['precision']}'s", row["agreement"], MIN_AGREEMENT, is_upper=False
    )
    yield Check(f"{stored} is beaten by another form in everything", float(not row["is_optimal"]), 0)
    if (rise := row["perplexity_rise"]) is not None:
        note = f"± {row['perplexity_rise_error']:.2%}"
        yield Check(f"{stored}, rise of the perplexity", rise, MAX_RISE, note=note)


def _measure(
    checkpoint: Path, cache_dir: Path, target: str, options: SessionOptions, token_ids: list[int], n_tokens: int,
    meter: Meter | None,
) -> tuple[dict[str, Any], list[Logits]]:  # fmt: skip
    """Decode the text, which the first form writes on as it goes; return its figures and the logits of every step."""
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
            energy = _energy(session, token_ids[:n_tokens], meter)
            n_cache = session.kv.data.dtype.itemsize
    weight_mb = opened.pools.weight.used_bytes / 1e6
    return {"step_ms": spread(step_ms), "weight_mb": weight_mb, "cache_bytes_per_value": n_cache, **energy}, logits


def _energy(session: Session, token_ids: Sequence[int], meter: Meter | None) -> dict[str, Any]:
    """Decode the text over and over for as long as the meter needs; return what a token takes."""
    ids, n_done = np.array(token_ids, np.int64), 0
    until_s = time.perf_counter() + (meter.min_s if meter else 1.0)
    with metered(meter) as used:
        while n_done < 1 or time.perf_counter() < until_s:
            at = n_done % len(ids)
            if at == 0:
                session.kv.reset(0)
            session.step(ids[at : at + 1], 1, slot=0)
            session.kv.commit(0, 1)
            n_done += 1
    joules = None if used.joules is None else used.joules / n_done
    return {"joules_per_token": joules, "cpu_s_per_token": used.cpu_s / n_done}


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


def _accuracy(exact: Sequence[Logits], logits: Sequence[Logits], following: Sequence[int]) -> dict[str, float | None]:
    """`following`: the token that the text itself goes on with after each of the first steps."""
    pairs = list(zip(exact, logits, strict=True))
    found: dict[str, float | None] = {
        "agreement": float(np.mean([a.argmax() == b.argmax() for a, b in pairs])),
        "kl": float(np.mean([divergence(a, b) for a, b in pairs])),
        "perplexity": None, "perplexity_rise": None, "perplexity_rise_error": None,
    }  # fmt: skip
    if not following:
        return found
    exact_nats, nats = (_surprise(rows, following) for rows in (exact, logits))
    more = nats - exact_nats  # by the same tokens: their difference varies far less than they do
    rise, error = float(np.expm1(more.mean())), float(more.std() / len(more) ** 0.5)
    return {
        **found, "perplexity": float(np.exp(nats.mean())), "perplexity_rise": rise, "perplexity_rise_error": error,
    }  # fmt: skip


def _surprise(logits: Sequence[Logits], following: Sequence[int]) -> NDArray[np.float64]:
    rows = zip(logits, following, strict=False)
    return np.array([-_log_softmax(row.astype(np.float64))[token_id] for row, token_id in rows])


def divergence(exact: Logits, other: Logits) -> float:
    """Return the Kullback-Leibler divergence of two rows of logits, in nats."""
    p, q = (_log_softmax(row.astype(np.float64)) for row in (exact, other))
    return float(np.sum(np.exp(p) * (p - q)))


def _log_softmax(row: NDArray[np.float64]) -> NDArray[np.float64]:
    moved = row - row.max()
    logged: NDArray[np.float64] = moved - np.log(np.exp(moved).sum())
    return logged


def _mark_optimal(rows: Sequence[dict[str, Any]]) -> None:
    points = [(row["step_ms"]["p50"], energy_of(row), row["weight_mb"], row["kl"]) for row in rows]
    for row, point in zip(rows, points, strict=True):
        beaten = (all(a <= b for a, b in zip(o, point, strict=True)) and o != point for o in points)
        row["is_optimal"] = not any(beaten)


def _mark_chosen(rows: Sequence[dict[str, Any]]) -> None:
    """Among optimal forms that are accurate enough, the least latency times energy."""
    fit = [
        row
        for row in rows
        if row["is_optimal"] and row["agreement"] >= MIN_AGREEMENT and (row["perplexity_rise"] or 0) <= MAX_RISE
    ]
    best = min(fit, key=lambda row: row["step_ms"]["p50"] * energy_of(row), default=None)
    for row in rows:
        row["is_chosen"] = row is best


def energy_of(row: Mapping[str, Any]) -> float:
    """Return joules per token, or seconds of the processor where there is no meter; one kind for all rows of a run."""
    joules: float | None = row["joules_per_token"]
    return float(row["cpu_s_per_token"]) if joules is None else joules
