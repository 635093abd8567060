"""The home model's own weights on every target for the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentkit.decoder.backend import Session, SessionOptions
from agentkit.decoder.tokenizer import load_tokenizer
from agentkit.understanding.pointer.format import Line, write_prompt
from runtimes import af_native, onnx_cpu
from tests.runtimes.opened import Open, open_on, open_reference

WEIGHTS = Path(__file__).parents[2] / "models" / "home" / "home.Q8_0.gguf"
OPTIONS = SessionOptions(max_seq_len=128, n_slots=1, buckets=(1, 64, 128), n_threads=2)
AREAS = ("Kitchen", "客厅")
DEVICES = (Line("light", ("Ceiling Light",), 0), Line("fan", ("风扇",), 1), Line("lock", ("front door",), None))
SAID = ("turn the ceiling light off", "把风扇打开", "is the front door locked", "what is the capital of peru")


def rows(session: Session) -> np.ndarray:
    """Logits [n_prompts, vocab_size] f32 behind each prompt."""
    tokenizer = load_tokenizer(WEIGHTS)
    found = []
    for said in SAID:
        ids = tokenizer.encode_prompt(write_prompt(AREAS, DEVICES, 0, said))
        padded = np.zeros(64 if len(ids) <= 64 else 128, np.int64)
        padded[: len(ids)] = ids
        session.kv.reset(0)
        found.append(session.step(padded, len(ids), slot=0).copy())
    return np.array(found)


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    return rows(open_reference(WEIGHTS, OPTIONS, "f32"))


@pytest.fixture(params=[onnx_cpu.BACKEND, af_native.BACKEND], ids=lambda backend: backend.name)
def opened(request: pytest.FixtureRequest) -> Open:
    if not request.param.probe().is_available:
        pytest.skip(request.param.probe().detail)
    return open_on(request.param)


def test_f32_is_the_reference(expected: np.ndarray, opened: Open, tmp_path: Path) -> None:
    np.testing.assert_allclose(rows(opened(WEIGHTS, tmp_path, OPTIONS, "f32")), expected, atol=2e-2)  # a cache in f16


def test_int8_as_shipped_says_the_same(expected: np.ndarray, opened: Open, tmp_path: Path) -> None:
    got = rows(opened(WEIGHTS, tmp_path, OPTIONS, None))
    assert got.argmax(-1).tolist() == expected.argmax(-1).tolist()
    wanted = np.exp(expected - np.logaddexp.reduce(expected, axis=-1, keepdims=True))
    log_got = got - np.logaddexp.reduce(got, axis=-1, keepdims=True)
    divergence = (wanted * (np.log(wanted + 1e-12) - log_got)).sum(-1)
    assert divergence.max() < 0.02
