"""The AF lowering against the definition: every length and block edge, whole models, and what a chip would refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from agentkit.compiler.af_graph import BLOCK, HIDDEN, AttentionShape, build_attention, causal_mask, mask_inputs
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.memory_pool import Pools
from agentkit.errors import CheckpointError, PromptTooLong
from runtimes import onnx_af
from runtimes.reference import attend
from tests.runtimes.opened import open_reference
from tests.support.tiny import tiny_spec, write_gguf

TOLERANCE = {"f32": {"atol": 2e-5}}
"""f32 sums in another order, of values around 3."""
LOGITS = {"atol": 2e-5}
OPTIONS = SessionOptions(max_seq_len=128, n_slots=2, buckets=(1, 4, 16), n_threads=1)


def attention(shape: AttentionShape) -> Any:
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(build_attention(shape).SerializeToString(), settings)


class Case:
    """One attention with random rows; the cache behind `n_cached` holds what must never be seen."""

    def __init__(self, shape: AttentionShape, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.shape, self.session, self.causal = shape, attention(shape), causal_mask(shape)
        d, wide = shape.head_dim, 2 * shape.padded
        self.q = rng.standard_normal((shape.rows, shape.n_heads, d)).astype(np.float32)
        self.cache = np.zeros((shape.capacity, shape.n_kv_heads, wide), np.float32)
        self.new = np.zeros((shape.rows, shape.n_kv_heads, wide), np.float32)
        for rows in (self.cache, self.new):
            for start in (0, shape.padded):
                rows[..., start : start + d] = rng.standard_normal((len(rows), shape.n_kv_heads, d)) * 3

    def run(self, n_cached: int) -> np.ndarray:
        shape = self.shape
        mask = np.full((shape.capacity // BLOCK, 1, BLOCK), HIDDEN, np.float32)
        mask.reshape(-1)[:n_cached] = 0
        q = np.zeros((shape.n_heads, shape.rows, shape.padded), np.float32)
        q[..., : shape.head_dim] = self.q.transpose(1, 0, 2)
        inputs = {
            "q": q.reshape(shape.n_kv_heads, -1, shape.padded), "new": self.new, "cache": self.cache, "mask": mask,
            "causal": self.causal,
        }  # fmt: skip
        mixed = self.session.run(None, inputs)[0].reshape(shape.n_heads, shape.rows, shape.padded)
        return np.asarray(mixed[..., : shape.head_dim].transpose(1, 0, 2))

    def expected(self, n_cached: int) -> np.ndarray:
        shape, rows = self.shape, np.concatenate([self.cache[:n_cached], self.new])
        keys, values = rows[..., : shape.head_dim], rows[..., shape.padded : shape.padded + shape.head_dim]
        return attend(self.q, keys, values, np.arange(n_cached, n_cached + shape.rows))


def test_attention_is_exact_at_every_length_up_to_2048() -> None:
    case = Case(AttentionShape(n_heads=2, n_kv_heads=1, head_dim=16, rows=1, capacity=2048))
    edges = {edge + d for edge in range(0, 2048, BLOCK) for d in (-1, 0, 1)} | {2047}
    for n_cached in sorted({*range(0, 2048, 7), *edges} - {-1}):  # S = n_cached + 1
        np.testing.assert_allclose(
            case.run(n_cached), case.expected(n_cached), **TOLERANCE["f32"], err_msg=str(n_cached)
        )


@pytest.mark.parametrize("rows", [1, 4, 33])
@pytest.mark.parametrize(("n_heads", "n_kv_heads", "head_dim"), [(4, 2, 64), (9, 3, 16), (2, 2, 80)])
def test_attention_is_exact_for_grouped_and_padded_heads(
    rows: int, n_heads: int, n_kv_heads: int, head_dim: int
) -> None:
    case = Case(AttentionShape(n_heads, n_kv_heads, head_dim, rows, 96))
    for n_cached in (0, 1, 31, 32, 33, 96 - rows):
        np.testing.assert_allclose(case.run(n_cached), case.expected(n_cached), **TOLERANCE["f32"])


def test_rows_that_were_never_committed_change_nothing_whatever_they_hold() -> None:
    case = Case(AttentionShape(n_heads=2, n_kv_heads=1, head_dim=16, rows=1, capacity=64))
    before = case.run(33)
    case.cache[33:] = 1e9
    np.testing.assert_array_equal(case.run(33), before)


def test_scores_far_apart_do_not_overflow() -> None:
    case = Case(AttentionShape(n_heads=2, n_kv_heads=1, head_dim=16, rows=1, capacity=64))
    case.cache[:40] *= 100
    np.testing.assert_allclose(case.run(64), case.expected(64), rtol=1e-4, atol=1e-3)


def test_a_capacity_that_is_no_whole_number_of_blocks_is_refused() -> None:
    with pytest.raises(CheckpointError, match="capacity 100: the AF graph wants a multiple of 32"):
        AttentionShape(2, 1, 16, 1, 100)


def open_af(path: Path, options: SessionOptions = OPTIONS) -> onnx_af.OnnxAfSession:
    pools = Pools.from_sizes(onnx_af.BACKEND.plan(path, options))
    session = onnx_af.BACKEND.open(path, options, pools=pools, cache_dir=path.parent)
    assert all(pool["used_bytes"] == pool["n_bytes"] for pool in pools.describe().values())
    return session


@pytest.mark.parametrize("is_head_tied", [True, False])
def test_a_whole_model_agrees_with_the_reference_through_prefill_and_decode(tmp_path: Path, is_head_tied: bool) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", tiny_spec(is_head_tied=is_head_tied))
    session, reference = open_af(path), open_reference(path, OPTIONS)
    rng = np.random.default_rng(3)
    for n_valid, bucket in [(13, 16), (3, 4), *[(1, 1)] * 60]:
        padded = np.full(bucket, 7, np.int64)
        padded[:n_valid] = rng.integers(0, session.spec.vocab_size, n_valid)
        logits, expected = (s.step(padded, n_valid, slot=1).copy() for s in (session, reference))
        np.testing.assert_allclose(logits, expected, **LOGITS)
        for each in (session, reference):
            each.kv.commit(1, n_valid)
    assert expected.std() > 0.5


def test_a_step_past_the_capacity_is_refused_before_it_runs(tmp_path: Path) -> None:
    session = open_af(write_gguf(tmp_path / "tiny.gguf"))
    session.kv.commit(0, 127)
    with pytest.raises(PromptTooLong):
        session.step(np.zeros(4, np.int64), 1, slot=0)


def test_the_mask_grows_with_the_capacity_alone_and_has_one_shape_for_every_step() -> None:
    def elements(rows: int, capacity: int) -> dict[str, int]:
        given = mask_inputs(AttentionShape(4, 2, 64, rows, capacity))
        shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in given}
        assert all(min(shape) > 0 for shape in shapes.values()), shapes  # no dimension is left open
        return {name: int(np.prod(shape)) for name, shape in shapes.items()}

    assert elements(1, 2048)["mask"] == 2048
    assert elements(16, 2048)["mask"] == 2048  # not rows times capacity
    assert elements(16, 2048)["causal"] == elements(16, 512)["causal"]
