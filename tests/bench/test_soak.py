from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.bench import soak
from agentkit.bench.overlap import Served, serve
from agentkit.bench.soak import soak_bench
from tests.support.tiny import write_gguf


def test_every_window_says_pace_memory_and_whether_answers_are_equal(tmp_path: Path) -> None:
    path, seen = write_gguf(tmp_path / "tiny.gguf"), list[float]()

    result = soak_bench(
        path, cache_dir=tmp_path, target="reference", minutes=0.001, n_windows=2, n_threads=1,
        on_window=lambda window: seen.append(window["minute"]),
    )  # fmt: skip

    assert [window["minute"] for window in result["windows"]] == seen
    assert len(seen) == 2
    assert result["are_answers_equal"]
    assert all(window["p50"] <= window["p99"] <= window["max"] for window in result["windows"])
    assert all(window["rss_mb"] > 10 for window in result["windows"])


def test_an_answer_that_changes_is_not_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def drifting(*given: object, **options: object) -> Served:
        calls.append(1)
        served = serve(*given, **options)  # type: ignore[arg-type]
        return Served(served.token_ids[:-1], served.n_steps) if len(calls) == 3 else served

    monkeypatch.setattr(soak, "serve", drifting)
    path = write_gguf(tmp_path / "tiny.gguf")

    result = soak_bench(path, cache_dir=tmp_path, target="reference", minutes=0.001, n_windows=2, n_threads=1)

    assert not result["are_answers_equal"]
    assert not result["is_sound"]
    assert [window["are_answers_equal"] for window in result["windows"]] == [True, False]
