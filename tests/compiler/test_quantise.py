from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.compiler.quantise import (
    Form,
    block_rest,
    check_precision,
    choose_form,
    pack_codes,
    pack_zeros,
    quantise4,
    quantise8,
    run_tensor,
    stack,
)
from agentkit.errors import CheckpointError
from tests.support.tiny import tiny_spec, write_folder, write_gguf

QKV = ["layers.0.q", "layers.0.k", "layers.0.v"]
MATRICES = arrays(np.float32, (3, 64), elements=st.floats(-8, 8, width=32))


@given(matrix=MATRICES)
@example(matrix=np.full((3, 64), 2.7e-42, np.float32))
def test_rounding_to_8_bits_errs_by_half_a_step_at_most(matrix: np.ndarray) -> None:
    blocks = quantise8(matrix)

    step = np.repeat(blocks.scale, 32, axis=1)
    assert (np.abs(blocks.dequantise() - matrix) <= step * 0.501).all()
    assert blocks.codes.min() >= 1


@given(matrix=MATRICES)
@example(matrix=np.full((3, 64), 2.7e-42, np.float32))
def test_rounding_to_4_bits_keeps_zero_and_errs_by_a_step_at_most(matrix: np.ndarray) -> None:
    matrix[:, ::7] = 0
    blocks = quantise4(matrix)

    step = np.repeat(blocks.scale, 32, axis=1)
    assert (np.abs(blocks.dequantise() - matrix) <= step * 1.001).all()
    assert (blocks.dequantise()[:, ::7] == 0).all()
    assert blocks.codes.max() <= 15


def test_packed_codes_and_zeros_have_the_low_half_first() -> None:
    rng = np.random.default_rng(0)
    blocks = quantise4(rng.standard_normal((2, 96)).astype(np.float32))

    codes, zeros = pack_codes(blocks), pack_zeros(blocks)

    assert codes.shape == (2, 3, 16)
    assert codes[1, 2, 5] == blocks.codes[1, 74] | (blocks.codes[1, 75] << 4)
    assert zeros.shape == (2, 2)
    assert (zeros[0, 0] & 15, zeros[0, 0] >> 4, zeros[0, 1] >> 4) == (
        round(-blocks.minimum[0, 0] / blocks.scale[0, 0]),
        round(-blocks.minimum[0, 1] / blocks.scale[0, 1]),
        0,
    )


@pytest.mark.parametrize(
    ("kind", "precision", "form"),
    [
        ("Q4_0", "int4", Form.INT4),
        ("Q4_1", "int4", Form.INT4_MINIMUM),
        ("Q8_0", "int4", Form.INT8),
        ("F32", "int4", Form.INT4_ZERO),
        ("Q4_1", "int8", Form.INT8),
        ("Q4_1", "f32", Form.DENSE),
    ],
)
def test_the_form_is_the_stored_one_if_it_fits_the_precision(
    tmp_path: Path, kind: str, precision: str, form: Form
) -> None:
    checkpoint = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", kind=kind))

    assert choose_form(checkpoint, QKV, precision) is form


@pytest.mark.parametrize(("kind", "precision"), [("Q4_0", "int4"), ("Q4_1", "int4"), ("Q8_0", "int8")])
def test_stored_blocks_are_run_without_rounding_again(tmp_path: Path, kind: str, precision: str) -> None:
    checkpoint = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", kind=kind, embed_kind="Q8_0"))

    for name in (*QKV, "layers.1.gate", "layers.1.attn_norm", "embed", "head"):
        np.testing.assert_array_equal(run_tensor(checkpoint, name, precision), checkpoint.tensor(name))


def test_codes_around_8_and_a_rest_per_block_are_the_whole_matrix(tmp_path: Path) -> None:
    checkpoint = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", kind="Q4_1"))
    blocks = stack(checkpoint, QKV, Form.INT4_MINIMUM)

    around_8 = (blocks.codes.astype(np.float32) - 8) * np.repeat(blocks.scale, 32, axis=1)
    whole = around_8 + np.repeat(block_rest(blocks).T, 32, axis=1)

    np.testing.assert_allclose(whole, np.concatenate([checkpoint.tensor(name) for name in QKV]), atol=1e-6)


def test_a_precision_that_is_not_offered_or_does_not_fit_is_named(tmp_path: Path) -> None:
    checkpoint = load_checkpoint(write_folder(tmp_path / "tiny", tiny_spec(ffn_size=90)))

    with pytest.raises(CheckpointError, match="precision 'int3' is not offered; choose one of f32, int8, int4"):
        check_precision(checkpoint, "int3")
    with pytest.raises(CheckpointError, match="90 columns, int4 wants a multiple of 32"):
        check_precision(checkpoint, "int4")
    assert check_precision(checkpoint, None) == "f32"
