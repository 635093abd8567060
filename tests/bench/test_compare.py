from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from agentkit.bench.compare import N_DECODE, compare, compare_table
from agentkit.decoder.backend import SessionOptions
from agentkit.errors import BackendUnavailable
from tests.support.tiny import write_folder, write_gguf


def test_two_targets_race_by_turns_on_the_same_tokens(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf")
    seen: list[int] = []

    result = compare(path, cache_dir=tmp_path, peer="reference", rounds=2, n_threads=1, on_round=seen.append)

    assert seen == [1, 2]
    assert (result["target"], result["peer"], result["n_threads"]) == ("cpu_onnx", "reference", 1)
    decode, prefill = result["decode_tok_s"], result["prefill_ms"]
    assert result["ratio"]["decode"] == pytest.approx(decode["target"] / decode["peer"])
    assert result["ratio"]["prefill"] == pytest.approx(prefill["peer"] / prefill["target"])
    assert result["n_equal_tokens"] == N_DECODE
    assert compare_table(result).row_count == 2


def test_a_peer_that_is_not_installed_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)

    with pytest.raises(BackendUnavailable, match=r"llama_cpp: cannot be imported .*pip install llama-cpp-python"):
        compare(write_gguf(tmp_path / "tiny.gguf"), cache_dir=tmp_path)
    with pytest.raises(BackendUnavailable, match="npu_none: no such target is installed"):
        compare(tmp_path / "tiny.gguf", cache_dir=tmp_path, peer="npu_none")
    with pytest.raises(BackendUnavailable, match="the peer is the target itself"):
        compare(tmp_path / "tiny.gguf", cache_dir=tmp_path, peer="cpu_onnx")


def test_llama_cpp_is_not_asked_to_read_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="the peer is an optional dependency")

    with pytest.raises(BackendUnavailable, match=r"wanted a \.gguf file"):
        compare(write_folder(tmp_path / "tiny"), cache_dir=tmp_path)


def test_onnxruntime_genai_runs_the_same_graph_in_its_own_loop_and_leaves_no_file(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime_genai", reason="the peer is an optional dependency")
    path = write_gguf(tmp_path / "tiny.gguf", kind="Q4_1", embed_kind="Q8_0")

    result = compare(path, cache_dir=tmp_path / "cache", peer="onnxruntime_genai", rounds=2, n_threads=1)

    assert result["n_equal_tokens"] == N_DECODE
    assert result["decode_tok_s"]["peer"] > 0
    assert not list((tmp_path / "cache").glob("genai-*"))


def test_onnxruntime_genai_goes_on_behind_an_end_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime_genai", reason="the peer is an optional dependency")
    from agentkit.bench import genai

    path, options = write_gguf(tmp_path / "tiny.gguf"), SessionOptions(max_seq_len=64, n_slots=1, n_threads=1)

    def decode() -> list[int]:
        engine = genai.GenAi(path, options, tmp_path)
        token_ids = [engine.prefill([3, 4, 5])]
        for _ in range(8):
            token_ids.append(engine.decode(token_ids[-1]))
        engine.close()
        return token_ids

    expected, config = decode(), genai._config

    def with_end(*given: Any) -> dict[str, Any]:
        made = config(*given)
        return {**made, "model": {**made["model"], "eos_token_id": expected[0]}}

    monkeypatch.setattr(genai, "_config", with_end)
    assert decode() == expected
