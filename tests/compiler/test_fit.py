"""Rounding by what counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agentkit.compiler.checkpoint import QuantBlocks, Tensor
from agentkit.compiler.fit import fit4, fit8
from agentkit.compiler.quantise import quantise4, quantise8

MATRICES = arrays(np.float32, (3, 64), elements=st.floats(-8, 8, width=32))
WEIGHTS = arrays(np.float32, 64, elements=st.floats(2**-10, 1024, width=32))


def error(blocks: QuantBlocks, matrix: Tensor, weight: Tensor) -> Tensor:
    """Weighted squared error of each block."""
    off = (blocks.dequantise().astype(np.float64) - matrix) ** 2 * weight
    total: Tensor = off.reshape(len(matrix), -1, 32).sum(axis=-1)
    return total


@given(matrix=MATRICES, weight=WEIGHTS)
@example(matrix=np.full((3, 64), 2.7e-42, np.float32), weight=np.ones(64, np.float32))
@example(matrix=np.full((3, 64), -3.0, np.float32), weight=np.ones(64, np.float32))
def test_8_bits_by_weight_never_lose_more_than_plain_rounding(matrix: Tensor, weight: Tensor) -> None:
    plain, fitted = quantise8(matrix), fit8(matrix, weight)

    assert fitted.codes.min() >= 1
    assert np.isfinite(fitted.scale).all()
    assert (fitted.scale > 0).all()
    np.testing.assert_array_equal(fitted.minimum, np.float32(-128) * fitted.scale)
    assert (error(fitted, matrix, weight) <= error(plain, matrix, weight) * 1.01 + 1e-6).all()


@given(matrix=MATRICES, weight=WEIGHTS)
@example(matrix=np.zeros((3, 64), np.float32), weight=np.ones(64, np.float32))
@example(matrix=np.full((3, 64), 5.0, np.float32), weight=np.ones(64, np.float32))
def test_4_bits_by_weight_stay_in_range_whatever_comes(matrix: Tensor, weight: Tensor) -> None:
    fitted = fit4(matrix, weight)

    assert fitted.codes.max() <= 15
    assert np.isfinite(fitted.dequantise()).all()
    assert (fitted.scale > 0).all()
    widest = np.ptp(matrix.reshape(3, -1, 32), axis=-1).max()
    assert np.abs(fitted.dequantise() - matrix).max() <= widest + 1e-5


def test_4_bits_by_weight_lose_far_less_of_what_counts() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((64, 256)).astype(np.float32)
    weight = np.exp(2 * rng.standard_normal(256)).astype(np.float32)

    plain, fitted = quantise4(matrix), fit4(matrix, weight)

    assert error(fitted, matrix, weight).sum() < 0.5 * error(plain, matrix, weight).sum()


@pytest.mark.parametrize("fit", [fit4, fit8])
def test_a_matrix_that_is_on_a_grid_already_stays_as_it_is(fit: object) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 16, (8, 64)).astype(np.float32)
    codes[:, ::32], codes[:, 1::32] = 0, 15
    matrix = (codes - 8) * np.float32(0.25) if fit is fit4 else np.float32(0.01) * (codes * 16 - 127).clip(-127, 127)

    blocks = fit(matrix, None)  # type: ignore[operator]

    np.testing.assert_allclose(blocks.dequantise(), matrix, atol=1e-5)
