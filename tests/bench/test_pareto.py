from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentkit.bench.pareto import _mark_chosen, _mark_optimal, divergence, pareto_bench
from agentkit.calibrate import observe
from agentkit.compiler.importance import save_importance
from tests.support.sessions import open_reference
from tests.support.tiny import write_gguf


@pytest.mark.parametrize("target", ["cpu_onnx", "af_native"])
def test_every_form_is_set_beside_the_exact_one(tmp_path: Path, cache_with_library: Path, target: str) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", kind="F32", embed_kind="F32")
    result = pareto_bench(path, cache_dir=cache_with_library, target=target, n_threads=1, n_tokens=24)
    exact, int8, int4 = result["forms"]
    assert (exact["agreement"], exact["kl"]) == (1, 0)
    assert exact["kl"] < int8["kl"] < int4["kl"]
    assert exact["weight_mb"] > int8["weight_mb"] > int4["weight_mb"]
    assert exact["is_stored"]
    assert int4["is_optimal"]  # nothing is smaller
    assert int8["cache_bytes_per_value"] == {"cpu_onnx": 4, "af_native": 1}[target]
    assert list(cache_with_library.glob("tiny-*")) == []


def test_forms_that_round_are_run_by_a_calibration_as_well(tmp_path: Path, cache_with_library: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", kind="Q4_1", embed_kind="Q8_0")
    calibration = tmp_path / "a.npz"
    save_importance(calibration, observe(path, [(1, 7, 9, 30)]))

    result = pareto_bench(
        path, cache_dir=cache_with_library, target="cpu_onnx", n_threads=1, n_tokens=8, importance=str(calibration)
    )

    ways = [(row["precision"], row["is_calibrated"]) for row in result["forms"]]
    assert ways == [("f32", False), ("int8", False), ("int4", False), ("int8", True)]  # 4 bits are run as stored


def test_divergence_is_zero_for_equal_rows_and_positive_for_others() -> None:
    row = np.array([1.0, 2.0, 3.0], np.float32)
    assert divergence(row, row + 5) == pytest.approx(0, abs=1e-12)
    assert divergence(row, row[::-1]) > 0.1


def row(ms: float, mj: float, mb: float, kl: float, *, rise: float | None = 0.0) -> dict[str, Any]:
    return {
        "step_ms": {"p50": ms}, "joules_per_token": mj / 1e3, "cpu_s_per_token": 0.0, "weight_mb": mb, "kl": kl,
        "agreement": 0.99, "perplexity_rise": rise,
    }  # fmt: skip


def test_a_form_that_another_beats_in_everything_is_not_optimal() -> None:
    rows = [row(4, 9, 400, 0), row(3, 5, 100, 0.01), row(3.5, 6, 150, 0.02), row(2, 4, 50, 0.5)]
    _mark_optimal(rows)
    assert [row["is_optimal"] for row in rows] == [True, True, False, True]


def test_a_form_that_saves_energy_alone_is_optimal() -> None:
    rows = [row(3, 5, 100, 0.01), row(3.5, 4, 150, 0.02)]
    _mark_optimal(rows)
    assert [row["is_optimal"] for row in rows] == [True, True]


def test_the_quickest_form_is_not_chosen_if_it_has_lost_its_sense() -> None:
    rows = [row(4.1, 3.8, 400, 0), row(3.7, 2.9, 100, 0.01, rise=0.009), row(3.2, 2.1, 50, 0.5, rise=0.085)]
    _mark_optimal(rows)
    _mark_chosen(rows)
    assert [row["is_chosen"] for row in rows] == [False, True, False]


def test_of_accurate_forms_the_one_with_least_latency_times_energy_is_chosen() -> None:
    rows = [row(2, 9, 100, 0.01), row(3, 5, 100, 0.01), row(6, 4, 100, 0.01)]
    _mark_optimal(rows)
    _mark_chosen(rows)
    assert [row["is_chosen"] for row in rows] == [False, True, False]


def test_nothing_is_chosen_where_nothing_is_accurate() -> None:
    rows = [row(2, 9, 100, 0.01, rise=0.5)]
    _mark_optimal(rows)
    _mark_chosen(rows)
    assert not rows[0]["is_chosen"]


def test_energy_is_read_from_the_board_and_else_the_processors_time_stands_for_it(
    tmp_path: Path, cache_with_library: Path
) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", kind="F32", embed_kind="F32")
    rail = tmp_path / "sys/class/hwmon/hwmon0/power1_input"
    rail.parent.mkdir(parents=True)
    rail.write_text("4000000\n")

    def bench(root: Path) -> dict[str, Any]:
        return pareto_bench(
            path, cache_dir=cache_with_library, target="cpu_onnx", n_threads=1, n_tokens=8, forms=("f32",), root=root
        )

    metered, blind = bench(tmp_path / "sys"), bench(tmp_path / "none")

    assert metered["energy_from"] == "power of hwmon0.power1"
    assert 0 < metered["forms"][0]["joules_per_token"] < 4
    assert blind["energy_from"].startswith("no meter here")
    assert blind["forms"][0]["joules_per_token"] is None
    assert 0 < blind["forms"][0]["cpu_s_per_token"] < 1


def test_perplexity_is_of_the_text_alone_and_that_of_the_model_itself(tmp_path: Path, cache_with_library: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", kind="F32", embed_kind="F32")
    text_ids = [1, 5, 9, 5, 9, 5]

    result = pareto_bench(
        path, cache_dir=cache_with_library, target="cpu_onnx", n_threads=1, n_tokens=16, text_ids=text_ids
    )

    exact, int8, int4 = result["forms"]
    assert result["n_text_tokens"] == 5
    assert exact["perplexity"] == pytest.approx(_perplexity(path, text_ids), rel=1e-4)
    assert exact["perplexity_rise"] == 0
    assert 0 < abs(int8["perplexity_rise"]) < abs(int4["perplexity_rise"])


def _perplexity(path: Path, text_ids: list[int]) -> float:
    session = open_reference(path)
    nats = []
    for token_id, following in itertools.pairwise(text_ids):
        logits = session.step(np.array([token_id], np.int64), 1, slot=0).astype(np.float64)
        session.kv.commit(0, 1)
        nats.append(np.log(np.exp(logits).sum()) - logits[following])
    return float(np.exp(np.mean(nats)))
