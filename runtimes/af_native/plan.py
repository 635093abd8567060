"""What a session takes, worked out from the model's shape before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike, NDArray

from agentkit.compiler.checkpoint import BLOCK, Checkpoint
from agentkit.compiler.quantise import check_precision
from agentkit.decoder.backend import DecoderSpec, PoolSizes, SessionOptions
from agentkit.decoder.checks import check_options
from agentkit.decoder.kv_cache import Layout as CacheLayout
from agentkit.decoder.kv_cache import cache_bytes, padded_head_dim
from agentkit.decoder.memory_pool import align, aligned_bytes
from runtimes.af_native.cores import Placement, place_threads
from runtimes.af_native.layout import TILE, Layout, round_up
from runtimes.af_native.library import MAX_PARTS

CACHES: dict[str, tuple[CacheLayout, DTypeLike]] = {
    "f16": (CacheLayout.PACKED, np.float16),
    "int8": (CacheLayout.BLOCKS, np.uint8),
}
"""How K and V can be kept; in the order of the library's numbers."""
SEGMENT = 128
"""Cache rows that one thread attends to at once; as in src/kernels.hpp."""
OWN_BYTES = 88
"""Of the struct that describes one thread's part of the scratch memory."""
MORE_BUCKETS = (*range(8, 64, 8), 64, 96, 128, 192)
"""Steps of any length are one path here, so more lengths cost nothing and spare steps."""


@dataclass(frozen=True)
class Plan:
    """How one checkpoint is opened with one set of options."""

    precision: str
    layout: Layout
    sizes: PoolSizes
    scratch_bytes: int
    placement: Placement
    cache: str

    @classmethod
    def of(cls, checkpoint: Checkpoint, options: SessionOptions, cache: str | None) -> Plan:
        spec = checkpoint.spec
        check_options(spec, options)
        precision = check_precision(checkpoint, options.precision)
        layout = Layout.of(checkpoint, precision)
        placement = place_threads(options)
        cache = cache_of(precision, cache)
        scratch = scratch_bytes(
            spec, options, is_f32=precision == "f32", is_int8_cache=cache == "int8", n_threads=placement.n_threads
        )
        temp = (logits_shape(spec, options), rope_shape(spec, options))
        sizes = PoolSizes(
            weight_bytes=align(layout.n_bytes),
            cache_bytes=cache_bytes(spec, options, *CACHES[cache]),
            temp_bytes=align(scratch) + sum(aligned_bytes(shape, np.float32) for shape in temp),
        )
        return cls(precision, layout, sizes, scratch, placement, cache)


def cache_of(precision: str, asked: str | None) -> str:
    """Name the form that K and V are kept in: what was asked for, else as exact as the weights are."""
    return asked or ("f16" if precision == "f32" else "int8")


def more_buckets(options: SessionOptions) -> SessionOptions:
    """Add lengths between those asked for."""
    largest = options.buckets[-1]
    return replace(options, buckets=tuple(sorted({*options.buckets, *(n for n in MORE_BUCKETS if n < largest)})))


def max_parts_of(options: SessionOptions) -> int:
    """Sequences that may share a step: a slot has one at most."""
    return min(MAX_PARTS, options.n_slots)


def max_rows_of(options: SessionOptions) -> int:
    """Rows of all sequences of a step."""
    return max(options.buckets[-1], max_parts_of(options))


def scratch_bytes(
    spec: DecoderSpec, options: SessionOptions, *, is_f32: bool, is_int8_cache: bool, n_threads: int
) -> int:
    """Compute what the library's engine works in; it carves the same pieces in src/engine.cpp."""
    rows, q_size, padded = max_rows_of(options), spec.n_heads * spec.head_dim, padded_head_dim(spec.head_dim)
    group, n_parts = spec.n_heads // spec.n_kv_heads, max_parts_of(options)
    hidden, mixed = round_up(spec.hidden_size, BLOCK), round_up(q_size, BLOCK)
    qkv = round_up(q_size + 2 * spec.n_kv_heads * spec.head_dim, TILE)
    widest, queries = max(hidden, mixed), max(16 * group, spec.n_heads)

    def activations(n_rows: int, columns: int) -> int:
        n = n_rows * round_up(columns, BLOCK)
        return align(4 * n) if is_f32 else align(n) + 2 * align(4 * n // BLOCK)

    shared = align(4 * rows * hidden) + align(4 * rows * qkv) + align(4 * rows * mixed)
    shared += activations(rows, widest) + activations(rows, spec.ffn_size)
    n_segments = round_up(options.max_seq_len, SEGMENT) // SEGMENT
    shared += align(4 * round_up(spec.n_heads * (2 + padded), 16) * n_segments * n_parts)
    shared += align(OWN_BYTES * n_threads)
    tile = queries * (padded // 4 + 2 * padded // BLOCK)
    if not is_int8_cache:
        tile = 2 * BLOCK * padded + queries * (BLOCK + 1)
    own = align(4 * widest) + align(4 * queries * padded) + align(4 * queries * (2 + padded))
    return shared + n_threads * (own + align(4 * tile) + activations(n_parts, widest))


def rope_table(spec: DecoderSpec, n_positions: int) -> NDArray[np.float32]:
    """Return cosines, then sines, of each position's angles as [n_positions, head_dim]."""
    frequencies = spec.rope_theta ** (-np.arange(0, spec.head_dim, 2) / spec.head_dim)
    angles = np.arange(n_positions)[:, None] * frequencies[None, :]  # [n_positions, head_dim / 2] f64
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def rope_shape(spec: DecoderSpec, options: SessionOptions) -> tuple[int, ...]:
    """Of the table of angles."""
    return options.max_seq_len, spec.head_dim


def logits_shape(spec: DecoderSpec, options: SessionOptions) -> tuple[int, ...]:
    """Of the results of one pass."""
    return max_parts_of(options), round_up(spec.vocab_size, TILE)
