from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.memory_pool import Pools
from agentkit.errors import BackendUnavailable, CheckpointError, PromptTooLong, StepFailed
from runtimes.reference import BACKEND, attend, rms_norm, rotate, silu
from tests.runtimes.opened import OPTIONS, open_reference
from tests.support.tiny import TINY, random_weights, tiny_spec, write_folder, write_gguf


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("reference") / "tiny.gguf")


def test_rms_norm_makes_the_root_mean_square_one() -> None:
    hidden = np.array([[3.0, -4.0]], np.float32)

    normed = rms_norm(hidden, np.array([1, 2], np.float32), eps=0.0)

    np.testing.assert_allclose(normed, [[3 / 12.5**0.5, -8 / 12.5**0.5]], rtol=1e-6)


def test_rotation_turns_element_pairs_by_position_times_frequency() -> None:
    heads = np.array([[[1.0, 0.0, 0.0, 1.0]]], np.float32)  # pairs (0, 2) and (1, 3)

    turned = rotate(heads, np.array([3]), theta=100.0)[0, 0]

    slow = 3 * 100.0**-0.5
    np.testing.assert_allclose(turned, [np.cos(3), -np.sin(slow), np.sin(3), np.cos(slow)], atol=1e-6)


def test_scores_depend_on_the_distance_of_positions_only() -> None:
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((2, 1, 1, 16)).astype(np.float32)

    def score(at: int, to: int) -> float:
        turned = rotate(q, np.array([at]), 10000.0), rotate(k, np.array([to]), 10000.0)
        return float((turned[0] * turned[1]).sum())

    assert score(10, 7) == pytest.approx(score(203, 200), abs=1e-4)
    assert score(10, 7) != pytest.approx(score(10, 8), abs=1e-2)


def test_a_query_sees_rows_up_to_its_own_and_heads_share_their_group() -> None:
    keys = np.zeros((3, 1, 4), np.float32)
    values = np.arange(3, dtype=np.float32).reshape(3, 1, 1).repeat(4, axis=2)
    q = np.ones((2, 2, 4), np.float32)

    mixed = attend(q, keys, values, np.array([0, 2]))

    np.testing.assert_allclose(mixed[:, :, 0], [[0, 0], [1, 1]])


def test_silu_survives_large_negative_numbers() -> None:
    with np.errstate(all="raise"):
        np.testing.assert_allclose(silu(np.array([-200, 0, 1], np.float32)), [0, 0, 0.7310586], atol=1e-6)


def test_a_padded_prefill_equals_single_steps(path: Path) -> None:
    session = open_reference(path)
    token_ids = np.random.default_rng(0).integers(0, TINY.vocab_size, 32)

    prefilled = session.step(token_ids, 21, slot=0).copy()
    for i in range(21):
        stepped = session.step(token_ids[i : i + 1], 1, slot=1)
        session.kv.commit(1, 1)

    np.testing.assert_allclose(prefilled, stepped, atol=1e-5)
    np.testing.assert_allclose(session.kv.keys(1, 0)[:21], session.kv.keys(1, 1)[:21], atol=1e-5)


@pytest.mark.parametrize("is_head_tied", [True, False])
def test_both_file_formats_give_equal_logits(tmp_path: Path, is_head_tied: bool) -> None:
    spec = tiny_spec(is_head_tied=is_head_tied, rms_norm_eps=2.0**-17)
    weights = random_weights(spec)
    gguf = open_reference(write_gguf(tmp_path / "tiny.gguf", spec, weights=weights))
    folder = open_reference(write_folder(tmp_path / "tiny", spec, weights=weights))
    token_ids = np.arange(16)

    np.testing.assert_array_equal(gguf.step(token_ids, 16, slot=0), folder.step(token_ids, 16, slot=0))


def test_the_plan_is_what_is_allocated(path: Path, tmp_path: Path) -> None:
    pools = Pools.from_sizes(BACKEND.plan(path, OPTIONS))

    session = BACKEND.open(path, OPTIONS, pools=pools, cache_dir=tmp_path)

    assert all(pool["used_bytes"] == pool["n_bytes"] for pool in pools.describe().values())
    pools.seal()
    session.step(np.array([1]), 1, slot=0)


def test_malformed_steps_are_refused_and_change_nothing(path: Path) -> None:
    session = open_reference(path)
    session.kv.commit(0, 100)
    ids = np.zeros(32, np.int64)

    with pytest.raises(StepFailed, match=r"step of 5 rows: wanted one of \(1, 4, 16, 32\)"):
        session.step(ids[:5], 5, slot=0)
    with pytest.raises(StepFailed, match="17 valid rows of 16"):
        session.step(ids[:16], 17, slot=0)
    with pytest.raises(StepFailed, match="wanted 0 to 319"):
        session.step(ids[:1] - 1, 1, slot=0)
    with pytest.raises(StepFailed, match="token ids 320 to 320"):
        session.step(ids[:1] + TINY.vocab_size, 1, slot=0)
    with pytest.raises(PromptTooLong, match="has 132 tokens, at most 128 fit"):
        session.step(ids, 3, slot=0)
    assert session.kv.length(0) == 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (SessionOptions(max_seq_len=513), "max_seq_len 513: the model has 512 positions"),
        (SessionOptions(max_seq_len=64, buckets=(16, 1)), "wanted ascending lengths that begin with 1"),
        (SessionOptions(max_seq_len=64, n_slots=0), "n_slots 0"),
    ],
)
def test_options_that_do_not_fit_the_model_are_refused(path: Path, options: SessionOptions, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        BACKEND.plan(path, options)


def test_another_precision_than_f32_is_not_offered(path: Path, tmp_path: Path) -> None:
    options = SessionOptions(max_seq_len=64, buckets=(1,), precision="int4")
    pools = Pools.from_sizes(BACKEND.plan(path, options))

    with pytest.raises(BackendUnavailable, match="precision 'int4' is not offered"):
        BACKEND.open(path, options, pools=pools, cache_dir=tmp_path)


def test_quantised_files_are_read_as_f32(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", kind="Q4_1")
    exact = load_checkpoint(path).tensor("layers.0.q")

    assert np.unique(exact[0, :32]).size <= 16
    assert (
        BACKEND.plan(path, OPTIONS).weight_bytes
        == BACKEND.plan(write_gguf(tmp_path / "f32.gguf"), OPTIONS).weight_bytes
    )
