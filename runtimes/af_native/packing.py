"""Packs matrices into the order of bytes that the kernels read; docs/kernels.md draws it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import BLOCK, Checkpoint, QuantBlocks, Tensor
from agentkit.compiler.quantise import stack
from agentkit.errors import CheckpointError
from runtimes.af_native.layout import TILE, Matrix, Packed, round_up

Bytes = NDArray[np.uint8]
GREATEST = float(np.finfo(np.float16).max)


def pack_matrix(checkpoint: Checkpoint, matrix: Matrix) -> Bytes:
    """Return the bytes of a matrix as [n_tiles, tile_bytes]. Raises CheckpointError if a scale is not finite in f16."""
    parts = [_pack_one(checkpoint, name, matrix) for name in matrix.names]
    if matrix.is_interleaved:
        return np.stack(parts, axis=1).reshape(matrix.n_tiles, matrix.tile_bytes)
    if len(parts) == 1:
        return parts[0]
    return _stacked(checkpoint, matrix)


def _pack_one(checkpoint: Checkpoint, name: str, matrix: Matrix) -> Bytes:
    return _tiles(checkpoint, (name,), matrix, to_rows=BLOCK if matrix.is_interleaved else TILE)


def _stacked(checkpoint: Checkpoint, matrix: Matrix) -> Bytes:
    return _tiles(checkpoint, matrix.names, matrix, to_rows=TILE)


def _tiles(checkpoint: Checkpoint, names: tuple[str, ...], matrix: Matrix, *, to_rows: int) -> Bytes:
    if matrix.form is Packed.F32:
        dense = np.concatenate([checkpoint.tensor(name) for name in names])
        parts = [_columns_of_tiles(dense, to_rows)]
    else:
        parts = _quantised_parts(stack(checkpoint, names, matrix.read_as), matrix, to_rows)
    n_tiles = len(parts[0])
    tiles = np.zeros((n_tiles, matrix.tile_bytes), np.uint8)
    at = 0
    for part in parts:
        raw = np.ascontiguousarray(part).view(np.uint8).reshape(n_tiles, -1)
        tiles[:, at : at + raw.shape[1]] = raw
        at += raw.shape[1]
    return tiles


def _columns_of_tiles(dense: Tensor, to_rows: int) -> Tensor:
    padded = _padded(dense, to_rows, BLOCK)
    return padded.reshape(-1, TILE, padded.shape[1]).swapaxes(1, 2)  # [n_tiles, columns, 16] f32


def _quantised_parts(blocks: QuantBlocks, matrix: Matrix, to_rows: int) -> list[NDArray[Any]]:
    parts: list[NDArray[Any]] = [_codes(_padded(blocks.codes, to_rows, BLOCK), matrix.form)]
    parts.append(_per_block(blocks.scale, to_rows, matrix))
    if matrix.form is Packed.INT4_MIN:
        parts.append(_per_block(blocks.minimum, to_rows, matrix))
    return parts


def _codes(codes: NDArray[np.uint8], form: Packed) -> NDArray[np.uint8]:
    rows, columns = codes.shape
    groups = codes.reshape(rows // TILE, TILE, columns // BLOCK, 8, 4).transpose(0, 2, 3, 1, 4)
    if form is Packed.INT8:
        return groups
    halves: NDArray[np.uint8] = groups[:, :, :4] | (groups[:, :, 4:] << np.uint8(4))
    return halves


def _per_block(values: Tensor, to_rows: int, matrix: Matrix) -> NDArray[np.float16]:
    if not np.abs(values).max() <= GREATEST:
        raise CheckpointError(f"{matrix.names[0]}: a scale is not finite in 16 bits; take precision f32")
    padded = _padded(values, to_rows, 1)
    return padded.reshape(-1, TILE, padded.shape[1]).swapaxes(1, 2).astype(np.float16)  # [n_tiles, n_blocks, 16] f16


def _padded(values: NDArray[Any], to_rows: int, to_columns: int) -> NDArray[Any]:
    rows, columns = values.shape
    more = (0, round_up(rows, to_rows) - rows), (0, round_up(columns, to_columns) - columns)
    return np.pad(values, more) if any(after for _, after in more) else values
