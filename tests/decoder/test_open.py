from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from agentkit.decoder.backend import Backend, PoolSizes, Probe, Session, SessionOptions
from agentkit.decoder.decoder import Prompt
from agentkit.decoder.memory_pool import Pools
from agentkit.decoder.open import open_decoder
from agentkit.errors import BackendUnavailable, CheckpointError, PoolError
from runtimes.reference import BACKEND
from tests.support.sessions import OPTIONS, RecordingSession, fail_from
from tests.support.tiny import write_folder


@dataclass
class Breaking:
    """The reference target, failing from some step on."""

    first_failure: int
    name: str = "breaking"
    precision: str | None = None

    def probe(self) -> Probe:
        return BACKEND.probe()

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        self.precision = options.precision
        return BACKEND.plan(checkpoint, options)

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> Session:
        session = BACKEND.open(checkpoint, OPTIONS, pools=pools, cache_dir=cache_dir)
        return RecordingSession(session, on_step=fail_from(self.first_failure))


BACKENDS: dict[str, Backend] = {"reference": BACKEND}


def test_pools_are_planned_filled_and_sealed(tiny_gguf: Path, tmp_path: Path) -> None:
    decoder = open_decoder([("reference", "f32")], tiny_gguf, OPTIONS, tmp_path, backends=BACKENDS)
    status = decoder.status()
    for pool in ("weight", "cache", "temp"):
        assert status["pools"][pool]["is_sealed"]
        assert status["pools"][pool]["used_bytes"] == status["pools"][pool]["n_bytes"]
    assert set(status["warm_ms"]) == {"1", "4", "16", "32"}
    lane_pools = decoder._targets.current().pools
    assert lane_pools is not None
    with pytest.raises(PoolError, match="sealed"):
        lane_pools.temp.alloc("late", (1,), "f4")


def test_a_hugging_face_folder_opens_too(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    decoder = open_decoder([("reference", None)], folder, OPTIONS, tmp_path, backends=BACKENDS)
    assert decoder.generate(Prompt("", "turn on"), max_tokens=3).n_sampled == 3


def test_the_fallback_is_opened_sealed_and_told(tiny_gguf: Path, tmp_path: Path) -> None:
    breaking = Breaking(first_failure=15)
    decoder = open_decoder(
        [("breaking", "int8"), ("reference", None)],
        tiny_gguf,
        OPTIONS,
        tmp_path,
        backends={**BACKENDS, "breaking": breaking},
    )
    assert breaking.precision == "int8"
    assert decoder.status()["target"] == "breaking"
    generation = decoder.generate(Prompt("", "turn on the light"), max_tokens=10)
    assert generation.target == "reference"
    assert "error 42" in str(generation.fallback_reason)
    assert decoder.status()["pools"]["cache"]["is_sealed"]


def test_an_unknown_target_is_named(tiny_gguf: Path, tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="npu_x: no such target is installed"):
        open_decoder([("npu_x", None)], tiny_gguf, OPTIONS, tmp_path, backends=BACKENDS)


def test_a_missing_checkpoint_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"none\.gguf: no such tokenizer or checkpoint"):
        open_decoder([("reference", None)], tmp_path / "none.gguf", OPTIONS, tmp_path, backends=BACKENDS)


def test_options_that_the_model_cannot_have_are_refused(tiny_gguf: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="max_seq_len"):
        open_decoder([("reference", None)], tiny_gguf, SessionOptions(max_seq_len=9999), tmp_path, backends=BACKENDS)
