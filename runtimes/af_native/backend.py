"""The native target behind the port: plans, builds, maps and runs."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import BLOCK, Checkpoint, load_checkpoint
from agentkit.compiler.quantise import check_precision
from agentkit.decoder.backend import DecoderSpec, Logits, PoolSizes, Probe, SessionOptions, TokenIds
from agentkit.decoder.checks import check_options, check_step
from agentkit.decoder.kv_cache import KVCache, cache_bytes, cache_facts, padded_head_dim
from agentkit.decoder.kv_cache import Layout as CacheLayout
from agentkit.decoder.memory_pool import Pools, align, aligned_bytes
from agentkit.errors import BackendUnavailable, StepFailed
from runtimes.af_native.artifact import Weights, ensure_packed
from runtimes.af_native.build import REMEDY, ensure_library, find_compiler
from runtimes.af_native.layout import TILE, Layout, Matrix, round_up
from runtimes.af_native.library import AfLayer, AfMatrix, AfModel, AfStep, Library

CACHE_DTYPE = np.float16
"""Half of f32 to read per token, and every instruction set here turns it into f32 while loading."""
SEGMENT = 128
"""Cache rows that one thread attends to at once; as in src/kernels.hpp."""
OWN_BYTES = 88
"""Of the struct that describes one thread's part of the scratch memory."""
MORE_BUCKETS = (*range(8, 64, 8), 64, 96, 128, 192)
"""Steps of any length are one path here, so more lengths cost nothing and spare steps."""
FAST_FLAGS = {"x86_64": {"avx2", "fma", "f16c"}, "aarch64": {"asimddp"}}
"""What the processor must have by family; without it the portable kernels run, slower than ONNX Runtime."""


class AfNative:
    """The native CPU target; offers f32, int8 and int4."""

    name = "af_native"

    def __init__(self, *, instruction_set: str | None = None, build_flags: tuple[str, ...] = ()):
        """`instruction_set` names one instead of the best; `build_flags` are added to the compiler's."""
        self._instruction_set, self._build_flags = instruction_set, build_flags

    def probe(self) -> Probe:
        """Look for a compiler, and for instructions that make it worth while."""
        machine = platform.machine()
        if self._instruction_set is None and not FAST_FLAGS.get(machine, {"-"}) <= processor_flags():
            return Probe(False, f"this {machine} processor lacks the instructions it is made for; cpu_onnx is faster")
        compiler = find_compiler()
        if compiler is None:
            return Probe(False, f"no C++ compiler to build it with; {REMEDY}")
        n_cores = len(os.sched_getaffinity(0))
        detail = f"C++ kernels for {machine} built by {compiler.title}, {n_cores} cores"
        cache = cache_facts(CacheLayout.PACKED, CACHE_DTYPE)
        return Probe(True, detail, {"compiler": compiler.title, "n_cores": n_cores, **cache})

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        """Compute the pool sizes of `open` from the checkpoint's header."""
        return _Plan.of(load_checkpoint(checkpoint), options).sizes

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> AfNativeSession:
        """Build the library and pack the weights if need be, then map them and start the threads."""
        loaded = load_checkpoint(checkpoint)
        plan = _Plan.of(loaded, options)
        library = Library(ensure_library(cache_dir, extra_flags=self._build_flags))
        instruction_set = self._instruction_set or library.instruction_sets()[0]
        weights = ensure_packed(loaded, plan.layout, plan.precision, library=library, cache_dir=cache_dir)
        pools.weight.reserve("mapped weights", align(weights.size))
        return AfNativeSession(loaded.spec, options, plan, weights, pools, library, instruction_set)


@dataclass(frozen=True)
class _Plan:
    precision: str
    layout: Layout
    sizes: PoolSizes
    scratch_bytes: int

    @classmethod
    def of(cls, checkpoint: Checkpoint, options: SessionOptions) -> _Plan:
        spec = checkpoint.spec
        check_options(spec, options)
        precision = check_precision(checkpoint, options.precision)
        layout = Layout.of(checkpoint, precision)
        scratch = scratch_bytes(spec, options, is_f32=precision == "f32")
        temp = (_logits_shape(spec), _rope_shape(spec, options))
        sizes = PoolSizes(
            weight_bytes=align(layout.n_bytes),
            cache_bytes=cache_bytes(spec, options, CacheLayout.PACKED, CACHE_DTYPE),
            temp_bytes=align(scratch) + sum(aligned_bytes(shape, np.float32) for shape in temp),
        )
        return cls(precision, layout, sizes, scratch)


def processor_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str]:
    """Return the features that the kernel names, empty where it names none."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    return {flag for line in lines if line.lower().startswith(("flags", "features")) for flag in line.split()}


def more_buckets(options: SessionOptions) -> SessionOptions:
    """Add lengths between those asked for."""
    largest = options.buckets[-1]
    return replace(options, buckets=tuple(sorted({*options.buckets, *(n for n in MORE_BUCKETS if n < largest)})))


def n_threads_of(options: SessionOptions) -> int:
    """Threads of a session: as asked for, by default one per core that this process may use."""
    return options.n_threads or len(os.sched_getaffinity(0))


def scratch_bytes(spec: DecoderSpec, options: SessionOptions, *, is_f32: bool) -> int:
    """Compute what the library's engine works in; it carves the same pieces in src/engine.cpp."""
    rows, q_size, padded = options.buckets[-1], spec.n_heads * spec.head_dim, padded_head_dim(spec.head_dim)
    group, n_threads = spec.n_heads // spec.n_kv_heads, n_threads_of(options)
    hidden, mixed = round_up(spec.hidden_size, BLOCK), round_up(q_size, BLOCK)
    qkv = round_up(q_size + 2 * spec.n_kv_heads * spec.head_dim, TILE)
    widest, queries = max(hidden, mixed), 16 * group

    def activations(n_rows: int, columns: int) -> int:
        n = n_rows * round_up(columns, BLOCK)
        return align(4 * n) if is_f32 else align(n) + 2 * align(4 * n // BLOCK)

    shared = align(4 * rows * hidden) + align(4 * rows * qkv) + align(4 * rows * mixed)
    shared += activations(rows, widest) + activations(rows, spec.ffn_size)
    n_segments = round_up(options.max_seq_len, SEGMENT) // SEGMENT
    shared += align(4 * round_up(spec.n_heads * (2 + padded), 16) * n_segments) + align(OWN_BYTES * n_threads)
    tile = 2 * BLOCK * padded + 16 * group * (BLOCK + 1)
    own = align(4 * widest) + align(4 * queries * padded) + align(4 * queries * (2 + padded))
    return shared + n_threads * (own + align(4 * tile) + activations(1, widest))


def rope_table(spec: DecoderSpec, n_positions: int) -> NDArray[np.float32]:
    """Return cosines, then sines, of each position's angles as [n_positions, head_dim]."""
    frequencies = spec.rope_theta ** (-np.arange(0, spec.head_dim, 2) / spec.head_dim)
    angles = np.arange(n_positions)[:, None] * frequencies[None, :]  # [n_positions, head_dim / 2] f64
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def _rope_shape(spec: DecoderSpec, options: SessionOptions) -> tuple[int, ...]:
    return options.max_seq_len, spec.head_dim


def _logits_shape(spec: DecoderSpec) -> tuple[int, ...]:
    return (round_up(spec.vocab_size, TILE),)


class AfNativeSession:
    """An opened model."""

    def __init__(
        self, spec: DecoderSpec, options: SessionOptions, plan: _Plan, weights: Weights, pools: Pools,
        library: Library, instruction_set: str,
    ):  # fmt: skip
        self.spec, self.options, self.sizes = spec, more_buckets(options), plan.sizes
        self.instruction_set = instruction_set
        self.kv = KVCache(pools.cache, spec, options, layout=CacheLayout.PACKED, dtype=CACHE_DTYPE)
        self._logits: Logits = pools.temp.alloc("logits", _logits_shape(spec), np.float32)
        self._rope = pools.temp.alloc("rope", _rope_shape(spec, options), np.float32)
        self._rope[...] = rope_table(spec, options.max_seq_len)
        self._scratch = pools.temp.alloc("scratch", (plan.scratch_bytes,), np.uint8)
        self._library, self._weights = library, weights
        self._model = self._describe(plan.layout)  # the engine points into it
        self._engine = library.open(self._model, instruction_set)
        if not self._engine:
            known = ", ".join(library.instruction_sets())
            raise BackendUnavailable(f"af_native: this processor has no {instruction_set}; it has {known}")
        self._step = AfStep(layer_stride=self.kv.data[0].size, logits=self._logits.ctypes.data)

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        """Run one step; padding costs nothing, because rows behind n_valid are not computed. See the port."""
        check_step(self, token_ids, n_valid, slot=slot)
        if not self._engine:
            raise StepFailed("af_native: the session is closed; open the model again")
        ids = np.ascontiguousarray(token_ids, np.int64)
        step = self._step
        step.token_ids, step.n_rows, step.start = ids.ctypes.data, n_valid, self.kv.length(slot)
        step.cache = self.kv.data[0, slot].ctypes.data
        self._library.step(self._engine, step)
        return self._logits[: self.spec.vocab_size]

    def read_weights_s(self) -> float:
        """Time a plain read of the mapped weights on the session's threads: no step can be faster."""
        n_threads = n_threads_of(self.options)
        return self._library.read_seconds(self._address(0), self._weights.size, n_threads, self.instruction_set)

    def scratch_bytes_of_library(self) -> int:
        """Return what the library itself says it works in."""
        return self._library.scratch_bytes(self._model)

    def close(self) -> None:
        """End the threads and let go of the weights; the pools own the buffers."""
        if self._engine:
            self._library.close(self._engine)
        self._engine = 0

    def _describe(self, layout: Layout) -> AfModel:
        spec = self.spec
        layers = (AfLayer * spec.n_layers)(*(self._layer(layout, f"layers.{i}") for i in range(spec.n_layers)))
        head = self._matrix(layout.matrices["head"])
        embed = head if spec.is_head_tied else self._matrix(layout.matrices["embed"])
        return AfModel(
            n_layers=spec.n_layers, hidden_size=spec.hidden_size, n_heads=spec.n_heads, n_kv_heads=spec.n_kv_heads,
            head_dim=spec.head_dim, ffn_size=spec.ffn_size, vocab_size=spec.vocab_size,
            padded_head_dim=padded_head_dim(spec.head_dim), max_rows=self.options.buckets[-1],
            n_threads=n_threads_of(self.options), rms_norm_eps=spec.rms_norm_eps,
            max_seq_len=self.options.max_seq_len, layers=layers,
            final_norm=self._address(layout.vectors["final_norm"].offset), embed=embed, head=head,
            rope=self._rope.ctypes.data, scratch=self._scratch.ctypes.data,
        )  # fmt: skip

    def _layer(self, layout: Layout, name: str) -> AfLayer:
        parts: dict[str, Any] = {
            part: self._matrix(layout.matrices[f"{name}.{part}"]) for part in ("qkv", "o", "gate_up", "down")
        }
        norms = {part: self._address(layout.vectors[f"{name}.{part}"].offset) for part in ("attn_norm", "ffn_norm")}
        return AfLayer(**parts, **norms)

    def _matrix(self, matrix: Matrix) -> AfMatrix:
        return AfMatrix(self._address(matrix.offset), matrix.n_tiles, matrix.n_blocks, matrix.form)

    def _address(self, offset: int) -> int:
        return int(self._weights.ctypes.data + offset)
