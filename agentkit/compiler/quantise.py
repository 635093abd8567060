"""Which form each matrix takes in a compiled graph, and the packing that ONNX Runtime's MatMulNBits reads.

Weights that are stored in blocks of 32 keep their codes and scales; nothing is rounded a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from agentkit.artifact import PRECISIONS
from agentkit.compiler.checkpoint import (
    BLOCK,
    BLOCK_KINDS,
    FLOAT_KINDS,
    Checkpoint,
    QuantBlocks,
    Tensor,
    tensor_shapes,
)
from agentkit.compiler.fit import fit4, fit8
from agentkit.errors import CheckpointError

PARTS = {"qkv": ("q", "k", "v"), "o": ("o",), "gate_up": ("gate", "up"), "down": ("down",)}
"""Matrices of a layer that are stacked into one, because they read the same input."""


class Form(StrEnum):
    """How one (stacked) matrix is run."""

    DENSE = "dense"
    """f32."""
    INT8 = "int8"
    """weight = scale * (code - 128)."""
    INT4 = "int4"
    """weight = scale * (code - 8)."""
    INT4_ZERO = "int4_zero"
    """weight = scale * (code - zero), zero is a code."""
    INT4_MINIMUM = "int4_minimum"
    """weight = scale * (code - 8) + rest, the rest per block in f32."""


def check_precision(checkpoint: Checkpoint, precision: str | None) -> str:
    """Return the precision to run, by default the checkpoint's own. Raises CheckpointError."""
    chosen = precision or checkpoint.precision
    if chosen not in PRECISIONS:
        raise CheckpointError(f"precision {chosen!r} is not offered; choose one of {', '.join(PRECISIONS)}")
    spec = checkpoint.spec
    for columns in (spec.hidden_size, spec.n_heads * spec.head_dim, spec.ffn_size):
        if chosen != "f32" and columns % BLOCK != 0:
            raise CheckpointError(
                f"{checkpoint.path}: a matrix has {columns} columns, {chosen} wants a multiple of {BLOCK}; take f32"
            )
    return chosen


def choose_form(checkpoint: Checkpoint, names: Sequence[str], precision: str) -> Form:
    """Choose the form of stacked matrices: as stored if that fits the precision, else the nearest."""
    kinds = {checkpoint.kind(name) for name in names}
    if precision == "f32":
        return Form.DENSE
    if precision == "int8" or not kinds <= {"Q4_0", "Q4_1", *FLOAT_KINDS}:
        return Form.INT8
    if kinds == {"Q4_0"}:
        return Form.INT4
    # A minimum is no multiple of the scale. Rounding it to one, or fitting 4 bits again, moves the logits of a
    # 135 M model by KL 0.2-0.3 (top token equal in 72 %); kept apart in f32 it is exact and costs 16 % of the speed.
    # Floats that a calibration is there for take it too: with a free minimum the weighted fit loses half as much.
    return Form.INT4_MINIMUM if kinds <= set(BLOCK_KINDS) or checkpoint.importance else Form.INT4_ZERO


def rounds(checkpoint: Checkpoint, precision: str) -> bool:
    """Tell whether any matrix of the checkpoint is rounded for that precision."""
    if precision == "f32":
        return False
    names = (name for name, shape in tensor_shapes(checkpoint.spec).items() if len(shape) == 2)
    return any(not _keeps_codes(checkpoint, name, _form_of(checkpoint, name, precision)) for name in names)


def _keeps_codes(checkpoint: Checkpoint, name: str, form: Form) -> bool:
    kind = checkpoint.kind(name)
    return kind == "Q8_0" if form is Form.INT8 else form is not Form.INT4_ZERO and kind in BLOCK_KINDS


def _form_of(checkpoint: Checkpoint, name: str, precision: str) -> Form:
    return Form.INT8 if name in ("embed", "head") else choose_form(checkpoint, _stacked_with(name), precision)


def stack(checkpoint: Checkpoint, names: Sequence[str], form: Form) -> QuantBlocks:
    """Read matrices into one, rows below rows, in a quantised form."""
    parts = [_in_form(checkpoint, name, form) for name in names]
    return QuantBlocks(
        parts[0].n_bits,
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.scale for part in parts]),
        np.concatenate([part.minimum for part in parts]),
    )


def _in_form(checkpoint: Checkpoint, name: str, form: Form) -> QuantBlocks:
    if _keeps_codes(checkpoint, name, form):
        return checkpoint.blocks(name)
    matrix, weight = checkpoint.tensor(name), checkpoint.weight_of_columns(name)
    if form is Form.INT8:
        return quantise8(matrix) if weight is None else fit8(matrix, weight)
    return fit4(matrix, weight) if form is Form.INT4_MINIMUM else quantise4(matrix)


def run_tensor(checkpoint: Checkpoint, name: str, precision: str) -> Tensor:
    """Return a tensor as a graph of that precision runs it, in f32."""
    if precision == "f32" or len(checkpoint.shape(name)) == 1:
        return checkpoint.tensor(name)
    return stack(checkpoint, [name], _form_of(checkpoint, name, precision)).dequantise()


def _stacked_with(name: str) -> list[str]:
    prefix, _, part = name.rpartition(".")
    return [f"{prefix}.{member}" for group in PARTS.values() if part in group for member in group]


def quantise8(matrix: Tensor) -> QuantBlocks:
    """Round to 8 bits around 128, one scale per block."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    scale = _no_zeros(np.abs(blocks).max(axis=-1) / np.float32(127))
    codes = np.rint(blocks / scale[..., None]) + 128
    return QuantBlocks(8, codes.astype(np.uint8).reshape(matrix.shape), scale, np.float32(-128) * scale)


def quantise4(matrix: Tensor) -> QuantBlocks:
    """Round to 4 bits between the least and the greatest of each block; 0 stays exactly 0."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    low, high = np.minimum(blocks.min(axis=-1), 0), np.maximum(blocks.max(axis=-1), 0)
    scale = _no_zeros((high - low) / np.float32(15))
    zero = np.rint(-low / scale)
    codes = np.clip(np.rint(blocks / scale[..., None]) + zero[..., None], 0, 15)
    return QuantBlocks(4, codes.astype(np.uint8).reshape(matrix.shape), scale, -zero * scale)


def _no_zeros(scale: Tensor) -> Tensor:
    # a subnormal scale has too few bits to divide by; a block that small is all zeros
    return np.where(scale >= np.finfo(np.float32).tiny, scale, np.float32(1)).astype(np.float32)


def pack_codes(blocks: QuantBlocks) -> NDArray[np.uint8]:
    """Return the codes as [rows, n_blocks, bytes per block]: of each byte the low half comes first."""
    codes = blocks.codes.reshape(len(blocks.codes), -1, BLOCK)
    return codes if blocks.n_bits == 8 else _pairs(codes)


def pack_zeros(blocks: QuantBlocks) -> NDArray[np.uint8]:
    """Return the 4-bit codes that stand for 0, two per byte, each row padded to whole bytes."""
    zeros = np.rint(-blocks.minimum / blocks.scale).astype(np.uint8)
    zeros = np.pad(zeros, ((0, 0), (0, zeros.shape[1] % 2)))
    return _pairs(zeros)


def _pairs(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    paired: NDArray[np.uint8] = codes[..., 0::2] | (codes[..., 1::2] << np.uint8(4))
    return paired


def block_rest(blocks: QuantBlocks) -> Tensor:
    """Return what each block adds to scale * (code - 8), as [n_blocks, rows]."""
    return np.ascontiguousarray((blocks.minimum + np.float32(8) * blocks.scale).T)
