"""Rounds a matrix so that what counts is kept: scale and offset of each block with the least weighted error.

The plain rounding spans each block from its least to its greatest weight. Here narrower spans are tried as well; for
each, codes and line are fitted to one another in turns, and the best is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from agentkit.compiler.checkpoint import BLOCK, QuantBlocks, Tensor

SHARES_4: Final = (1.0, 0.9, 0.8, 0.7)
"""Spans that are tried, as shares of the whole one."""
SHARES_8: Final = (1.0, 0.98, 0.96, 0.94)
_TURNS: Final = 4
_ROWS: Final = 128
"""Rows at a time, so that what is computed between stays in the cache of the processor."""
Line = tuple[Tensor, Tensor, Tensor]
"""Codes [..., 32] f32, scale and minimum [...]."""


def fit4(matrix: Tensor, weight: Tensor | None) -> QuantBlocks:
    """Round to 4 bits and a minimum per block; `weight` is how much each column counts, [columns]."""
    return _by_rows(matrix, weight, 4, _line4)


def fit8(matrix: Tensor, weight: Tensor | None) -> QuantBlocks:
    """Round to 8 bits around 128; `weight` is how much each column counts, [columns]."""
    return _by_rows(matrix, weight, 8, _line8)


def _by_rows(matrix: Tensor, weight: Tensor | None, n_bits: int, fit: Callable[[Tensor, Tensor], Line]) -> QuantBlocks:
    columns = matrix.shape[1]
    by_block = np.ones(columns, np.float32) if weight is None else np.asarray(weight, np.float32)
    by_block = (by_block / by_block.mean()).reshape(-1, BLOCK)
    found = [
        fit(np.asarray(rows, np.float32).reshape(len(rows), -1, BLOCK), by_block)
        for rows in (matrix[at : at + _ROWS] for at in range(0, len(matrix), _ROWS))
    ]
    codes, scale, minimum = (np.concatenate(part) for part in zip(*found, strict=True))
    return QuantBlocks(n_bits, codes.astype(np.uint8).reshape(matrix.shape), scale, minimum)


def _line4(blocks: Tensor, weight: Tensor) -> Line:
    low, high = blocks.min(axis=-1), blocks.max(axis=-1)
    is_flat = high - low < 15 * np.finfo(np.float32).tiny  # of one value, which the minimum says alone
    best = None
    for share in SHARES_4:
        scale = np.where(is_flat, 1, (high - low) * np.float32(share / 15)).astype(np.float32)
        minimum = np.where(is_flat, low, (low + high) / 2 - np.float32(7.5) * scale).astype(np.float32)
        for _ in range(_TURNS):
            scale, minimum = _straight(_codes4(blocks, scale, minimum), blocks, weight, scale, minimum)
        best = _better(best, blocks, weight, (_codes4(blocks, scale, minimum), scale, minimum))
    assert best is not None
    return best[0]


def _line8(blocks: Tensor, weight: Tensor) -> Line:
    greatest, best = np.abs(blocks).max(axis=-1), None
    for share in SHARES_8:
        scale = _no_zeros(greatest * np.float32(share / 127))
        codes = np.clip(np.rint(blocks / scale[..., None]), -127, 127)
        square = np.einsum("rbi,rbi,bi->rb", codes, codes, weight)
        fitted = np.einsum("rbi,rbi,bi->rb", codes, blocks, weight) / np.maximum(square, np.finfo(np.float32).tiny)
        scale = np.where((square > 0) & (fitted > 0), fitted, scale).astype(np.float32)
        codes = np.clip(np.rint(blocks / scale[..., None]), -127, 127) + np.float32(128)
        best = _better(best, blocks, weight, (codes, scale, np.float32(-128) * scale))
    assert best is not None
    return best[0]


def _codes4(blocks: Tensor, scale: Tensor, minimum: Tensor) -> Tensor:
    codes: Tensor = np.clip(np.rint((blocks - minimum[..., None]) / scale[..., None]), 0, 15)
    return codes


def _straight(codes: Tensor, blocks: Tensor, weight: Tensor, scale: Tensor, minimum: Tensor) -> tuple[Tensor, Tensor]:
    """Lay the straight line of least weighted squares through codes and weights; keep the old one where it is none."""
    total = weight.sum(axis=-1)
    code = np.einsum("rbi,bi->rb", codes, weight) / total
    value = np.einsum("rbi,bi->rb", blocks, weight) / total
    apart = (codes - code[..., None]) * weight
    spread = np.einsum("rbi,rbi->rb", apart, codes)
    slope = np.einsum("rbi,rbi->rb", apart, blocks) / np.maximum(spread, np.finfo(np.float32).tiny)
    is_line = (spread > 0) & (slope > np.finfo(np.float32).tiny)
    return (
        np.where(is_line, slope, scale).astype(np.float32),
        np.where(is_line, value - slope * code, minimum).astype(np.float32),
    )


def _better(best: tuple[Line, Tensor] | None, blocks: Tensor, weight: Tensor, line: Line) -> tuple[Line, Tensor]:
    """Take the new line for those blocks whose weighted squared error it lessens."""
    codes, scale, minimum = line
    off = codes * scale[..., None] + minimum[..., None] - blocks
    error = np.einsum("rbi,rbi,bi->rb", off, off, weight)
    if best is None:
        return line, error
    (old_codes, old_scale, old_minimum), old_error = best
    is_less = error < old_error
    kept = (
        np.where(is_less[..., None], codes, old_codes),
        np.where(is_less, scale, old_scale),
        np.where(is_less, minimum, old_minimum),
    )
    return kept, np.where(is_less, error, old_error)


def _no_zeros(scale: Tensor) -> Tensor:
    # a subnormal scale has too few bits to divide by; a block that small is flat
    return np.where(scale >= np.finfo(np.float32).tiny, scale, np.float32(1)).astype(np.float32)
