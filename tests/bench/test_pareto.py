from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentkit.bench.pareto import _mark_optimal, divergence, pareto_bench
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


def test_divergence_is_zero_for_equal_rows_and_positive_for_others() -> None:
    row = np.array([1.0, 2.0, 3.0], np.float32)
    assert divergence(row, row + 5) == pytest.approx(0, abs=1e-12)
    assert divergence(row, row[::-1]) > 0.1


def test_a_form_that_another_beats_in_everything_is_not_optimal() -> None:
    def form(ms: float, mb: float, kl: float) -> dict[str, object]:
        return {"step_ms": {"p50": ms}, "weight_mb": mb, "kl": kl}

    rows = [form(4, 400, 0), form(3, 100, 0.01), form(3.5, 150, 0.02), form(2, 50, 0.5)]
    _mark_optimal(rows)
    assert [row["is_optimal"] for row in rows] == [True, True, False, True]
