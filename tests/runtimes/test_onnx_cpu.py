from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agentkit.decoder.backend import Session, SessionOptions
from agentkit.decoder.memory_pool import Pools
from agentkit.errors import BackendUnavailable, PoolError, PromptTooLong, StepFailed
from runtimes.onnx_cpu import BACKEND
from tests.runtimes.opened import OPTIONS, open_onnx, open_reference
from tests.support.tiny import TINY, random_weights, tiny_spec, write_folder, write_gguf

# Largest difference of a logit to the reference on the same weights; the logits' standard deviation is 1. Below f32
# the kernels round their inputs to 8 bits per block, in 14 products one after the other.
TOLERANCE = {"f32": {"atol": 2e-5}, "int8": {"atol": 0.2}, "int4": {"atol": 0.2}}
PADDING_TOLERANCE = {"f32": {"atol": 2e-5}, "int8": {"atol": 2e-5}, "int4": {"atol": 2e-5}}
"""Padded prefill against single steps: the same kernels on the same rounded rows, summed in another order."""

FILES = {"f32": ("F32", "F32"), "int8": ("Q8_0", "Q8_0"), "int4": ("Q4_1", "Q8_0")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("onnx_cpu")


def checkpoint(folder: Path, precision: str, kind: str = "") -> Path:
    stored, embed = FILES[precision]
    path = folder / f"{kind or stored}.gguf"
    return path if path.exists() else write_gguf(path, kind=kind or stored, embed_kind=embed)


def random_ids(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, TINY.vocab_size, n)


def prefill(session: Session, token_ids: np.ndarray, bucket: int, slot: int) -> np.ndarray:
    padded = np.full(bucket, 7, np.int64)
    padded[: len(token_ids)] = token_ids
    logits = session.step(padded, len(token_ids), slot=slot).copy()
    session.kv.commit(slot, len(token_ids))
    return logits


def single_steps(session: Session, token_ids: np.ndarray, slot: int) -> np.ndarray:
    for token_id in token_ids:
        logits = session.step(np.array([token_id]), 1, slot=slot)
        session.kv.commit(slot, 1)
    return logits.copy()


@pytest.mark.parametrize(
    ("precision", "kind"),
    [("f32", ""), ("int8", ""), ("int8", "Q4_1"), ("int4", "Q4_0"), ("int4", "Q4_1"), ("int4", "F32"), ("int4", "F16")],
)
def test_prefill_and_64_greedy_steps_agree_with_the_reference(folder: Path, precision: str, kind: str) -> None:
    path = checkpoint(folder, precision, kind)
    session, reference = open_onnx(path, folder, precision=precision), open_reference(path, precision=precision)
    prompt = random_ids(21)

    logits, expected = prefill(session, prompt, 32, slot=1), prefill(reference, prompt, 32, slot=0)
    np.testing.assert_allclose(logits, expected, **TOLERANCE[precision])
    for _ in range(64):
        chosen = expected.argmax()
        expected = single_steps(reference, np.array([chosen]), slot=0)
        logits = single_steps(session, np.array([chosen]), slot=1)
        np.testing.assert_allclose(logits, expected, **TOLERANCE[precision])
    assert expected.std() > 0.5


@pytest.mark.parametrize("precision", ["f32", "int8", "int4"])
@pytest.mark.parametrize("bucket", OPTIONS.buckets)
@pytest.mark.parametrize("start", [0, 11])
def test_a_padded_prefill_equals_single_steps_for_every_bucket(
    folder: Path, precision: str, bucket: int, start: int
) -> None:
    session = open_onnx(checkpoint(folder, precision), folder, precision=precision)
    before, token_ids = random_ids(start, seed=1), random_ids(bucket)
    for slot in (0, 1):
        if start:
            single_steps(session, before, slot)

    for n_valid in sorted({1, bucket // 2 + 1, bucket}):
        prefilled = prefill(session, token_ids[:n_valid], bucket, slot=0)
        stepped = single_steps(session, token_ids[:n_valid], slot=1)
        np.testing.assert_allclose(prefilled, stepped, **PADDING_TOLERANCE[precision])
        session.kv.truncate(0, start)
        session.kv.truncate(1, start)


def test_gguf_and_safetensors_of_the_same_weights_give_equal_logits(tmp_path: Path) -> None:
    spec = tiny_spec(is_head_tied=False, rms_norm_eps=2.0**-17)
    weights = random_weights(spec)
    gguf = write_gguf(tmp_path / "tiny.gguf", spec, weights=weights)
    folder = write_folder(tmp_path / "tiny", spec, weights=weights)
    token_ids = random_ids(16)

    logits = [open_onnx(path, tmp_path / "cache").step(token_ids, 16, slot=0).copy() for path in (gguf, folder)]

    np.testing.assert_array_equal(logits[0], logits[1])


def test_slots_do_not_disturb_each_other(folder: Path) -> None:
    session = open_onnx(checkpoint(folder, "f32"), folder)
    alone = single_steps(session, random_ids(9), slot=0)
    session.kv.reset(0)

    for i, token_id in enumerate(random_ids(9)):
        logits = single_steps(session, np.array([token_id]), slot=0)
        single_steps(session, random_ids(2, seed=i), slot=1)

    np.testing.assert_array_equal(logits, alone)


def test_a_copied_prefix_goes_on_as_the_original(folder: Path) -> None:
    session = open_onnx(checkpoint(folder, "int4"), folder)
    prefill(session, random_ids(10), 16, slot=0)

    session.kv.copy(0, 1)

    tail = random_ids(5, seed=2)
    np.testing.assert_array_equal(single_steps(session, tail, 0), single_steps(session, tail, 1))


def test_the_plan_is_what_is_allocated_and_steps_allocate_nothing(folder: Path) -> None:
    path = checkpoint(folder, "int4")
    pools = Pools.from_sizes(BACKEND.plan(path, OPTIONS))

    session = BACKEND.open(path, OPTIONS, pools=pools, cache_dir=folder)
    pools.seal()

    assert all(pool["used_bytes"] == pool["n_bytes"] for pool in pools.describe().values())
    for bucket in OPTIONS.buckets:
        session.step(random_ids(bucket), bucket, slot=0)
    with pytest.raises(PoolError, match="sealed"):
        BACKEND.open(path, OPTIONS, pools=pools, cache_dir=folder)


def test_logits_are_one_view_that_the_next_step_overwrites(folder: Path) -> None:
    session = open_onnx(checkpoint(folder, "f32"), folder)

    first = session.step(np.array([1]), 1, slot=0)
    kept = first.copy()
    second = session.step(np.array([2]), 1, slot=0)

    assert np.shares_memory(first, second)
    assert not np.array_equal(first, kept)
    assert (first.shape, first.dtype) == ((TINY.vocab_size,), np.float32)


def test_a_bucket_that_does_not_fit_behind_the_committed_rows_is_refused(folder: Path) -> None:
    session = open_onnx(checkpoint(folder, "f32"), folder)
    session.kv.commit(0, 127)

    with pytest.raises(PromptTooLong, match="has 131 tokens, at most 128 fit"):
        session.step(random_ids(4), 1, slot=0)

    assert session.step(random_ids(1), 1, slot=0).any()


def test_malformed_steps_and_a_closed_session_are_step_failures(folder: Path) -> None:
    session = open_onnx(checkpoint(folder, "f32"), folder)

    with pytest.raises(StepFailed, match="wanted 0 to 319"):
        session.step(np.array([TINY.vocab_size]), 1, slot=0)
    session.close()
    session.close()
    with pytest.raises(StepFailed, match="session is closed"):
        session.step(np.array([1]), 1, slot=0)


def test_a_graph_that_onnx_runtime_refuses_is_named(folder: Path, tmp_path: Path) -> None:
    from agentkit.compiler.bundle import Bundle
    from runtimes.onnx_cpu import OnnxCpuSession

    path = checkpoint(folder, "f32")
    sizes = BACKEND.plan(path, OPTIONS)
    bad = tmp_path / "decoder.onnx"
    bad.write_bytes(b"no graph")

    with pytest.raises(BackendUnavailable, match=r"decoder\.onnx does not open: .*; delete its folder"):
        OnnxCpuSession(TINY, OPTIONS, sizes, Bundle(bad, {}), Pools.from_sizes(sizes))


def test_the_probe_says_what_was_found() -> None:
    probe = BACKEND.probe()

    assert probe.is_available
    assert "ONNX Runtime 1." in probe.detail
    assert probe.facts["n_cores"] >= 1


def test_more_slots_and_capacity_cost_cache_only(folder: Path) -> None:
    path = checkpoint(folder, "int4")

    small = BACKEND.plan(path, OPTIONS)
    large = BACKEND.plan(path, replace(OPTIONS, n_slots=4, max_seq_len=256))

    assert large.cache_bytes == 4 * small.cache_bytes
    assert large.weight_bytes == small.weight_bytes
    assert SessionOptions().buckets[0] == 1
