"""The K/V cache: fixed capacity, several slots, and a length per slot that only four methods move.

The canonical order is [n_layers, n_slots, max_seq_len, n_kv_heads, 2 * head_dim padded to 64], K and V packed
(rules A3, A6). A target whose kernels want another order says so with `Layout`; only this file knows both.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from agentkit.decoder.backend import DecoderSpec, SessionOptions
from agentkit.decoder.memory_pool import Pool, aligned_bytes
from agentkit.errors import PromptTooLong


class Layout(StrEnum):
    """Order of the cache in memory."""

    PACKED = "packed"
    """[n_layers, n_slots, max_seq_len, n_kv_heads, 2 * padded head_dim]: canonical."""
    HEADS_FIRST = "heads_first"
    """[n_layers, n_slots, 2, n_kv_heads, max_seq_len, head_dim]: what ONNX Runtime's attention reads."""
    BLOCKS = "blocks"
    """[n_layers, n_slots, blocks of 32 rows, n_kv_heads, bytes]: K and V in 8 bits in an order of the target's own,
    each row with two scales per head in 16 bits."""


ROWS_PER_BLOCK = 32
SCALE_BYTES = 2
"""Of K or V of one head and row, in blocks."""


def padded_head_dim(head_dim: int) -> int:
    """Round up to the multiple of 64 that accelerators load in one go."""
    return -(-head_dim // 64) * 64


def cache_shape(spec: DecoderSpec, options: SessionOptions, layout: Layout) -> tuple[int, ...]:
    """Return the shape of the whole cache in that order."""
    if layout is Layout.BLOCKS:
        n_blocks = -(-options.max_seq_len // ROWS_PER_BLOCK)
        n_bytes = ROWS_PER_BLOCK * 2 * (padded_head_dim(spec.head_dim) + SCALE_BYTES)
        return (spec.n_layers, options.n_slots, n_blocks, spec.n_kv_heads, n_bytes)
    if layout is Layout.PACKED:
        row = (spec.n_kv_heads, 2 * padded_head_dim(spec.head_dim))
        return (spec.n_layers, options.n_slots, options.max_seq_len, *row)
    return (spec.n_layers, options.n_slots, 2, spec.n_kv_heads, options.max_seq_len, spec.head_dim)


def cache_bytes(spec: DecoderSpec, options: SessionOptions, layout: Layout, dtype: DTypeLike) -> int:
    """Compute what the cache will take from its pool."""
    return aligned_bytes(cache_shape(spec, options, layout), dtype)


def cache_facts(layout: Layout, dtype: DTypeLike) -> dict[str, int]:
    """Return what a probe tells the planner of a target's cache: bytes of values and scales, and what is rounded up."""
    step = 1 if layout is Layout.HEADS_FIRST else padded_head_dim(1)
    facts = {"cache_value_bytes": np.dtype(dtype).itemsize, "cache_head_dim_step": step}
    if layout is Layout.BLOCKS:
        facts |= {"cache_scale_bytes": SCALE_BYTES, "cache_block_rows": ROWS_PER_BLOCK}
    return facts


class KVCache:
    """Owns the rows and the lengths of all slots."""

    def __init__(
        self, pool: Pool, spec: DecoderSpec, options: SessionOptions, *, layout: Layout = Layout.PACKED,
        dtype: DTypeLike = np.float32,
    ):  # fmt: skip
        self.capacity, self.n_slots, self.layout = options.max_seq_len, options.n_slots, layout
        self._n_layers, self._head_dim = spec.n_layers, spec.head_dim
        self.data = pool.alloc("kv", cache_shape(spec, options, layout), dtype)  # see Layout
        self._lengths = [0] * options.n_slots

    def length(self, slot: int) -> int:
        """Return how many rows of the slot are committed."""
        self._check_slot(slot)
        return self._lengths[slot]

    def keys(self, layer: int, slot: int) -> NDArray[Any]:
        """View the K rows of one layer as [capacity, n_kv_heads, head_dim]. Raises ValueError for blocks."""
        self._check_viewable()
        if self.layout is Layout.PACKED:
            packed: NDArray[Any] = self.data[layer, slot, :, :, : self._head_dim]
            return packed
        keys: NDArray[Any] = self.data[layer, slot, 0].transpose(1, 0, 2)
        return keys

    def values(self, layer: int, slot: int) -> NDArray[Any]:
        """View the V rows of one layer as [capacity, n_kv_heads, head_dim]. Raises ValueError for blocks."""
        self._check_viewable()
        if self.layout is Layout.PACKED:
            start = self.data.shape[-1] // 2
            packed: NDArray[Any] = self.data[layer, slot, :, :, start : start + self._head_dim]
            return packed
        values: NDArray[Any] = self.data[layer, slot, 1].transpose(1, 0, 2)
        return values

    def rows(self, slot: int, n_rows: int) -> NDArray[Any]:
        """View the first n_rows rows of a slot, K and V of every layer, as [n_layers, n_rows, …].

        In blocks the axis is one of blocks: the last one may hold more rows, which count for nothing.
        """
        self._check_slot(slot)
        axis = 4 if self.layout is Layout.HEADS_FIRST else 2
        n = -(-n_rows // ROWS_PER_BLOCK) if self.layout is Layout.BLOCKS else n_rows
        rows: NDArray[Any] = np.moveaxis(self.data, axis, 2)[:, slot, :n]
        return rows

    def check_room(self, slot: int, n_rows: int) -> None:
        """Raise PromptTooLong unless n_rows fit behind the committed ones."""
        end = self.length(slot) + n_rows
        if end > self.capacity:
            raise PromptTooLong(n_tokens=end, max_tokens=self.capacity, what="the sequence in the cache")

    def commit(self, slot: int, n_rows: int) -> None:
        """Make the next n_rows readable. Raises PromptTooLong past the capacity."""
        if n_rows < 0:
            raise ValueError(f"commit: got {n_rows} rows, wanted 0 or more; use truncate to go back")
        self.check_room(slot, n_rows)
        self._lengths[slot] += n_rows

    def truncate(self, slot: int, n_rows: int) -> None:
        """Keep only the first n_rows committed rows."""
        if not 0 <= n_rows <= self.length(slot):
            raise ValueError(f"truncate: got {n_rows} rows, wanted 0 to {self.length(slot)}; rows above were never run")
        self._lengths[slot] = n_rows

    def reset(self, slot: int) -> None:
        """Forget the slot's sequence."""
        self.truncate(slot, 0)

    def copy(self, source: int, target: int, n_rows: int | None = None) -> None:
        """Make a slot's rows the first n_rows committed ones of another; None = all of them."""
        n_rows = self.length(source) if n_rows is None else n_rows
        self._check_slot(target)
        if not 0 <= n_rows <= self.length(source):
            raise ValueError(f"copy: got {n_rows} rows, wanted 0 to {self.length(source)}; rows above were never run")
        if source == target:
            self.truncate(target, n_rows)
            return
        self.rows(target, n_rows)[...] = self.rows(source, n_rows)
        self._lengths[target] = n_rows  # last: the target stays readable until its rows are whole

    def _check_viewable(self) -> None:
        if self.layout is Layout.BLOCKS:
            raise ValueError("cache in blocks: only its target reads single rows; open it with a cache of 16 bits")

    def _check_slot(self, slot: int) -> None:
        if not 0 <= slot < self.n_slots:
            raise IndexError(f"cache slot {slot}: wanted 0 to {self.n_slots - 1}; open the session with more slots")
