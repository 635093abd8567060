from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.bench.roofline import LENGTHS, STARTS, n_products, plot, read_bandwidth, roofline_bench
from tests.support.tiny import TINY, tiny_spec, write_gguf


def test_steps_are_set_against_what_memory_gives(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", tiny_spec(max_seq_len=2048))
    seen: list[int] = []

    result = roofline_bench(path, cache_dir=tmp_path, target="cpu_onnx", n_threads=1, on_point=seen.append)

    assert seen == list(range(1, len(LENGTHS) + len(STARTS) + 1))
    assert [point["n_tokens"] for point in result["steps"]] == list(LENGTHS)
    assert [point["start"] for point in result["decode"]] == list(STARTS)
    assert result["bandwidth_share"] == pytest.approx(result["steps"][0]["gb_s"] / result["read_gb_s"])
    pytest.importorskip("matplotlib", reason="plots are an optional dependency")
    plot(result, tmp_path / "out" / "roofline.png")
    assert (tmp_path / "out" / "roofline.png").read_bytes()[:4] == b"\x89PNG"


def test_products_are_counted_as_the_model_has_them() -> None:
    assert n_products(TINY) == 2 * (64 * 64 + 2 * 64 * 32 + 64 * 64 + 3 * 64 * 96)
    assert read_bandwidth(1) > 1e8
