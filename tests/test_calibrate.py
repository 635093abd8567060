"""Calibration on the app's own prompts, through real tokenizers, tiers and targets."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agentkit.bench.opened import open_warm
from agentkit.calibrate import app_prompts, ensure_calibrated, observe
from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.config import App, load_app
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.tokenizer import load_tokenizer
from runtimes.reference import rms_norm
from tests.support.tiny import write_gguf

ROOT = Path(__file__).parents[1]
HOME_MODEL = ROOT / "models" / "home" / "home.Q8_0.gguf"


@pytest.fixture(scope="module")
def app() -> App:
    return load_app(ROOT / "apps" / "smart_home")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf", kind="F32", embed_kind="F32")


def test_the_prompts_are_those_that_the_home_model_gets_in_a_turn(app: App) -> None:
    tokenizer = load_tokenizer(HOME_MODEL)

    prompts = app_prompts(app, tokenizer)

    assert 90 <= len(prompts) <= 100
    assert prompts == app_prompts(app, tokenizer)
    texts = [tokenizer.decode(list(prompt)) for prompt in prompts]
    assert all("[home]" in text and "[user]" in text for text in texts)
    assert any("Kitchen" in text or "kitchen" in text for text in texts)


def test_mean_squares_are_of_what_each_matrix_reads(tiny: Path) -> None:
    prompt = (1, 7, 9, 30, 8)
    found = observe(tiny, [prompt])

    checkpoint = load_checkpoint(tiny)
    embedded = checkpoint.tensor("embed")[list(prompt)]
    normed = rms_norm(embedded, checkpoint.tensor("layers.0.attn_norm"), checkpoint.spec.rms_norm_eps)
    np.testing.assert_allclose(found.mean_squares["layers.0.q"], (normed**2).mean(axis=0), rtol=1e-5)
    assert sorted(found.mean_squares) == sorted(
        ["head", *(f"layers.{n}.{part}" for n in range(2) for part in ("q", "o", "gate", "down"))]
    )


def test_what_prompts_begin_with_in_common_counts_once(tiny: Path) -> None:
    shared = tuple(range(3, 43))
    together = observe(tiny, [(*shared, 50), (*shared, 60)]).mean_squares["layers.0.q"]

    checkpoint = load_checkpoint(tiny)
    embedded = checkpoint.tensor("embed")[[*shared, 50, 60]]
    normed = rms_norm(embedded, checkpoint.tensor("layers.0.attn_norm"), checkpoint.spec.rms_norm_eps)
    np.testing.assert_allclose(together, (normed**2).mean(axis=0), rtol=1e-5)


def test_padding_counts_for_nothing(tiny: Path) -> None:
    long = tuple(range(3, 132))  # 129 tokens: a step of 128 and one of 1
    odd = long[:77]  # padded to 80
    assert observe(tiny, [odd]).digest != observe(tiny, [long]).digest
    first, again = observe(tiny, [odd]), observe(tiny, [odd, odd[:5]])
    np.testing.assert_allclose(first.mean_squares["layers.1.down"], again.mean_squares["layers.1.down"], rtol=1e-4)


def test_a_prompt_longer_than_the_model_reads_is_read_as_far_as_it_goes(tiny: Path) -> None:
    assert observe(tiny, [tuple([5] * 512)]).digest == observe(tiny, [tuple([5] * 2000), ()]).digest


def test_an_app_without_plain_commands_is_told_that_nothing_is_calibrated(app: App, tiny: Path, tmp_path: Path) -> None:
    said: list[str] = []
    bare = replace(app, home=replace(app.home, devices=()))
    assert ensure_calibrated(bare, tiny, "int8", cache_dir=tmp_path, say=said.append) == ""
    assert "no plain command" in said[0]


def test_what_is_stored_as_it_runs_is_not_calibrated(app: App, tmp_path: Path) -> None:
    said: list[str] = []
    assert ensure_calibrated(app, HOME_MODEL, None, cache_dir=tmp_path, say=said.append) == ""
    assert (said, list(tmp_path.iterdir())) == ([], [])


def test_a_calibration_is_made_once_and_again_if_it_is_damaged_or_the_home_changes(
    app: App, tiny: Path, tmp_path: Path
) -> None:
    small = replace(app, home=replace(app.home, devices=app.home.devices[:3]))
    said: list[str] = []

    def calibrate(of: App) -> Path:
        return Path(ensure_calibrated(of, tiny, "int8", cache_dir=tmp_path / "cache", say=said.append))

    first = calibrate(small)
    content, n_said = first.read_bytes(), len(said)
    assert n_said == 2
    assert "prompts of smart_home" in said[0]
    assert calibrate(small) == first
    assert len(said) == n_said
    os.truncate(first, 10)
    assert calibrate(small).read_bytes() == content
    assert calibrate(replace(app, home=replace(app.home, devices=app.home.devices[3:5]))) != first


@pytest.mark.parametrize(("target", "precision"), [("cpu_onnx", "int8"), ("cpu_onnx", "int4"), ("af_native", "int4")])
def test_a_target_runs_the_calibrated_weights_beside_the_plain_ones(
    tiny: Path, cache_with_library: Path, target: str, precision: str, tmp_path: Path
) -> None:
    from agentkit.compiler.importance import save_importance

    token_ids = [1, 7, 9, 30, 8, 40, 41, 99]
    calibration = tmp_path / "a.npz"
    save_importance(calibration, observe(tiny, [tuple(token_ids)]))

    def run(target: str, precision: str | None, importance: str) -> np.ndarray:
        options = SessionOptions(
            max_seq_len=64, n_slots=1, buckets=(1,), n_threads=1, precision=precision, importance=importance
        )
        session = open_warm(tiny, target, options, cache_with_library).session
        rows = []
        for token_id in token_ids:
            rows.append(session.step(np.array([token_id], np.int64), 1, slot=0).copy())
            session.kv.commit(0, 1)
        session.close()
        return np.array(rows)

    exact = run("reference", None, "")
    plain, calibrated, again = (run(target, precision, path) for path in ("", str(calibration), ""))

    np.testing.assert_array_equal(plain, again)
    assert ((calibrated - exact) ** 2).mean() < ((plain - exact) ** 2).mean()
