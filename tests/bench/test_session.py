from __future__ import annotations

from pathlib import Path

from agentkit.bench.session import MAX_GROWTH_MB, session_bench
from agentkit.decoder.backend import SessionOptions
from tests.support.tiny import write_gguf


def test_a_long_session_stays_flat_and_takes_nothing_from_sealed_pools(tmp_path: Path) -> None:
    options = SessionOptions(max_seq_len=256, n_slots=2, buckets=(1, 16), n_threads=1)

    result = session_bench(
        write_gguf(tmp_path / "tiny.gguf", kind="Q4_1", embed_kind="Q8_0"),
        cache_dir=tmp_path,
        options=options,
        n_steps=2000,
        sample_every=500,
    )

    assert [step for step, _ in result["rss_mb"]] == [0, 500, 1000, 1500, 2000]
    assert result["is_flat"], result["rss_mb"]
    assert result["growth_mb"] < MAX_GROWTH_MB
    assert result["step_ms"]["p50"] <= result["step_ms"]["p99"] <= result["step_ms"]["max"]
    assert all(pool["is_sealed"] for pool in result["pools"].values())
