"""The native target behind the port: plans, builds, maps and runs."""

from __future__ import annotations

import os
import platform
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import BLOCK, Checkpoint, load_checkpoint
from agentkit.compiler.quantise import check_precision
from agentkit.decoder.backend import DecoderSpec, Logits, Mask, PoolSizes, Probe, SessionOptions, TokenIds
from agentkit.decoder.checks import check_options, check_step
from agentkit.decoder.kv_cache import KVCache, cache_bytes, padded_head_dim
from agentkit.decoder.kv_cache import Layout as CacheLayout
from agentkit.decoder.memory_pool import Pools, align, aligned_bytes
from agentkit.errors import BackendUnavailable, StepCancelled, StepFailed
from runtimes.af_native.artifact import Weights, ensure_packed
from runtimes.af_native.build import REMEDY, ensure_library, find_compiler, find_prebuilt
from runtimes.af_native.cores import Placement, place_threads
from runtimes.af_native.layout import TILE, Layout, Matrix, round_up
from runtimes.af_native.library import MAX_PARTS, AfLayer, AfMatrix, AfModel, AfPart, AfStep, Library

CACHE_DTYPE = np.float16
"""Half of f32 to read per token, and every instruction set here turns it into f32 while loading."""
SEGMENT = 128
"""Cache rows that one thread attends to at once; as in src/kernels.hpp."""
OWN_BYTES = 88
"""Of the struct that describes one thread's part of the scratch memory."""
MORE_BUCKETS = (*range(8, 64, 8), 64, 96, 128, 192)
"""Steps of any length are one path here, so more lengths cost nothing and spare steps."""
ACTIVATIONS = {"silu": 0, "gelu": 1}
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
        if find_prebuilt() is not None:
            builder = "this package"
        elif (compiler := find_compiler()) is not None:
            builder = compiler.title
        else:
            return Probe(False, f"no C++ compiler to build it with; {REMEDY}")
        n_cores = len(os.sched_getaffinity(0))
        detail = f"C++ kernels for {machine} built by {builder}, {n_cores} cores"
        return Probe(True, detail, {"compiler": builder, "n_cores": n_cores})

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
    placement: Placement

    @classmethod
    def of(cls, checkpoint: Checkpoint, options: SessionOptions) -> _Plan:
        spec = checkpoint.spec
        check_options(spec, options)
        precision = check_precision(checkpoint, options.precision)
        layout = Layout.of(checkpoint, precision)
        placement = place_threads(options)
        scratch = scratch_bytes(spec, options, is_f32=precision == "f32", n_threads=placement.n_threads)
        temp = (_logits_shape(spec, options), _rope_shape(spec, options))
        sizes = PoolSizes(
            weight_bytes=align(layout.n_bytes),
            cache_bytes=cache_bytes(spec, options, CacheLayout.PACKED, CACHE_DTYPE),
            temp_bytes=align(scratch) + sum(aligned_bytes(shape, np.float32) for shape in temp),
        )
        return cls(precision, layout, sizes, scratch, placement)


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


def max_parts_of(options: SessionOptions) -> int:
    """Sequences that may share a step: a slot has one at most."""
    return min(MAX_PARTS, options.n_slots)


def max_rows_of(options: SessionOptions) -> int:
    """Rows of all sequences of a step."""
    return max(options.buckets[-1], max_parts_of(options))


def scratch_bytes(spec: DecoderSpec, options: SessionOptions, *, is_f32: bool, n_threads: int) -> int:
    """Compute what the library's engine works in; it carves the same pieces in src/engine.cpp."""
    rows, q_size, padded = max_rows_of(options), spec.n_heads * spec.head_dim, padded_head_dim(spec.head_dim)
    group, n_parts = spec.n_heads // spec.n_kv_heads, max_parts_of(options)
    hidden, mixed = round_up(spec.hidden_size, BLOCK), round_up(q_size, BLOCK)
    qkv = round_up(q_size + 2 * spec.n_kv_heads * spec.head_dim, TILE)
    widest, queries = max(hidden, mixed), 16 * group

    def activations(n_rows: int, columns: int) -> int:
        n = n_rows * round_up(columns, BLOCK)
        return align(4 * n) if is_f32 else align(n) + 2 * align(4 * n // BLOCK)

    shared = align(4 * rows * hidden) + align(4 * rows * qkv) + align(4 * rows * mixed)
    shared += activations(rows, widest) + activations(rows, spec.ffn_size)
    n_segments = round_up(options.max_seq_len, SEGMENT) // SEGMENT
    shared += align(4 * round_up(spec.n_heads * (2 + padded), 16) * n_segments * n_parts)
    shared += align(OWN_BYTES * n_threads)
    tile = 2 * BLOCK * padded + 16 * group * (BLOCK + 1)
    own = align(4 * widest) + align(4 * queries * padded) + align(4 * queries * (2 + padded))
    return shared + n_threads * (own + align(4 * tile) + activations(n_parts, widest))


def rope_table(spec: DecoderSpec, n_positions: int) -> NDArray[np.float32]:
    """Return cosines, then sines, of each position's angles as [n_positions, head_dim]."""
    frequencies = spec.rope_theta ** (-np.arange(0, spec.head_dim, 2) / spec.head_dim)
    angles = np.arange(n_positions)[:, None] * frequencies[None, :]  # [n_positions, head_dim / 2] f64
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def _rope_shape(spec: DecoderSpec, options: SessionOptions) -> tuple[int, ...]:
    return options.max_seq_len, spec.head_dim


def _logits_shape(spec: DecoderSpec, options: SessionOptions) -> tuple[int, ...]:
    return max_parts_of(options), round_up(spec.vocab_size, TILE)


@dataclass
class _Step:
    """One sequence's step on its way."""

    token_ids: TokenIds
    n_valid: int
    slot: int
    start: int
    allowed: Mask | None
    row: int = -1
    """Where its logits lie once it has been run."""


class AfNativeSession:
    """An opened model. Steps that are submitted before the first of them is waited for share a pass."""

    takes_masks = True
    max_shared_rows = 8
    """Above that a step reads the weights more than once anyway, and would hold up those that share it."""

    def __init__(
        self, spec: DecoderSpec, options: SessionOptions, plan: _Plan, weights: Weights, pools: Pools,
        library: Library, instruction_set: str,
    ):  # fmt: skip
        self.spec, self.options, self.sizes = spec, more_buckets(options), plan.sizes
        self.instruction_set = instruction_set
        self.kv = KVCache(pools.cache, spec, options, layout=CacheLayout.PACKED, dtype=CACHE_DTYPE)
        self._logits: Logits = pools.temp.alloc("logits", _logits_shape(spec, options), np.float32)
        self._rope = pools.temp.alloc("rope", _rope_shape(spec, options), np.float32)
        self._rope[...] = rope_table(spec, options.max_seq_len)
        self._scratch = pools.temp.alloc("scratch", (plan.scratch_bytes,), np.uint8)
        self._library, self._weights = library, weights
        self.placement = plan.placement
        self._cores = np.array(plan.placement.cores, np.int32)  # [n_threads] i32; the engine points to it
        self._max_parts, self._max_rows = max_parts_of(options), max_rows_of(options)
        self._model = self._describe(plan.layout)  # the engine points into it
        self._engine = library.open(self._model, instruction_set)
        if not self._engine:
            known = ", ".join(library.instruction_sets())
            raise BackendUnavailable(f"af_native: this processor has no {instruction_set}; it has {known}")
        self._parts = (AfPart * MAX_PARTS)()
        self._pass = AfStep(parts=self._parts, layer_stride=self.kv.data[0].size, logits=self._logits.ctypes.data)
        slots = range(options.n_slots)
        self._slot_addresses = [int(self.kv.data[0, slot].ctypes.data) for slot in slots]
        self._pending: list[_Step] = []
        self._closing = threading.Lock()  # between close and a cancel from another thread

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int, allowed: Mask | None = None) -> Logits:
        """Run one step; padding costs nothing, because rows behind n_valid are not computed. See the port."""
        step = self._checked(token_ids, n_valid, slot, allowed)
        self._run([step])
        return self._logits_of(step)

    def submit(self, token_ids: TokenIds, n_valid: int, *, slot: int, allowed: Mask | None = None) -> _Step:
        """Queue a step; it runs when it, or one before it, is waited for. See the port."""
        if any(step.slot == slot for step in self._pending):
            raise StepFailed(f"af_native: slot {slot} has a step in flight; wait for it first")
        step = self._checked(token_ids, n_valid, slot, allowed)
        self._pending.append(step)
        return step

    def wait(self, fence: _Step) -> Logits:
        """Return a step's logits; a queued one is run now, with all behind it that fit into the pass."""
        if fence.row < 0:
            if not self._pending or self._pending[0] is not fence:
                raise StepFailed("af_native: that step is not the oldest in flight; wait in the order of submission")
            self._run(self._next_pass())
        return self._logits_of(fence)

    def abandon(self) -> None:
        """Forget what is queued."""
        self._pending.clear()

    def cancel(self) -> None:
        """End the pass in progress after the layer at hand; the steps in it raise StepCancelled."""
        with self._closing:
            if self._engine:
                self._library.cancel(self._engine)

    def _checked(self, token_ids: TokenIds, n_valid: int, slot: int, allowed: Mask | None) -> _Step:
        check_step(self, token_ids, n_valid, slot=slot)
        if allowed is not None and (allowed.dtype != np.int32 or len(allowed) != -(-self.spec.vocab_size // 32)):
            raise StepFailed(f"af_native: a mask of {len(allowed)} x {allowed.dtype}, wanted a bit per id in i32 words")
        ids = np.ascontiguousarray(token_ids, np.int64)
        return _Step(ids, n_valid, slot, self.kv.length(slot), allowed)

    def _next_pass(self) -> list[_Step]:
        """Take from the queue what one pass holds."""
        n_rows, n_steps = 0, 0
        for step in self._pending[: self._max_parts]:
            n_rows += step.n_valid
            if n_rows > self._max_rows:
                break
            n_steps += 1
        taken, self._pending = self._pending[:n_steps], self._pending[n_steps:]
        return taken

    def _run(self, steps: list[_Step]) -> None:
        if not self._engine:
            raise StepFailed("af_native: the session is closed; open the model again")
        for row, step in enumerate(steps):
            part = self._parts[row]
            part.token_ids, part.n_rows, part.start = step.token_ids.ctypes.data, step.n_valid, step.start
            part.cache = self._slot_addresses[step.slot]
            part.allowed = None if step.allowed is None else step.allowed.ctypes.data
        self._pass.n_parts = len(steps)
        if not self._library.step(self._engine, self._pass):
            raise StepCancelled("af_native: the step was cancelled; its rows are as they were")
        for row, step in enumerate(steps):
            step.row = row

    def _logits_of(self, step: _Step) -> Logits:
        logits: Logits = self._logits[step.row, : self.spec.vocab_size]
        return logits

    def read_weights_s(self) -> float:
        """Time a plain read of the mapped weights on the session's threads: no step can be faster."""
        n_threads = self.placement.n_threads
        return self._library.read_seconds(self._address(0), self._weights.size, n_threads, self.instruction_set)

    def scratch_bytes_of_library(self) -> int:
        """Return what the library itself says it works in."""
        return self._library.scratch_bytes(self._model)

    def close(self) -> None:
        """End the threads and let go of the weights; the pools own the buffers."""
        with self._closing:
            engine, self._engine = self._engine, 0
        if engine:
            self._library.close(engine)

    def _describe(self, layout: Layout) -> AfModel:
        spec = self.spec
        layers = (AfLayer * spec.n_layers)(*(self._layer(layout, f"layers.{i}") for i in range(spec.n_layers)))
        head = self._matrix(layout.matrices["head"])
        embed = head if spec.is_head_tied else self._matrix(layout.matrices["embed"])
        return AfModel(
            n_layers=spec.n_layers, hidden_size=spec.hidden_size, n_heads=spec.n_heads, n_kv_heads=spec.n_kv_heads,
            head_dim=spec.head_dim, ffn_size=spec.ffn_size, vocab_size=spec.vocab_size,
            padded_head_dim=padded_head_dim(spec.head_dim), max_rows=self._max_rows,
            max_parts=self._max_parts, n_threads=self.placement.n_threads, rms_norm_eps=spec.rms_norm_eps,
            max_seq_len=self.options.max_seq_len, layers=layers,
            final_norm=self._address(layout.vectors["final_norm"].offset), embed=embed, head=head,
            rope=self._rope.ctypes.data, scratch=self._scratch.ctypes.data,
            cores=self._cores.ctypes.data if self._cores.size else None, embed_scale=spec.embed_scale,
        )  # fmt: skip

    def _layer(self, layout: Layout, name: str) -> AfLayer:
        parts: dict[str, Any] = {
            part: self._matrix(layout.matrices[f"{name}.{part}"]) for part in ("qkv", "o", "gate_up", "down")
        }
        parts["gate_up"].activation = ACTIVATIONS[self.spec.activation]
        names = ("attn_norm", "ffn_norm", "qkv_bias", "q_norm", "k_norm")
        found = {part: layout.vectors[f"{name}.{part}"] for part in names if f"{name}.{part}" in layout.vectors}
        return AfLayer(**parts, **{part: self._address(vector.offset) for part, vector in found.items()})

    def _matrix(self, matrix: Matrix) -> AfMatrix:
        return AfMatrix(self._address(matrix.offset), matrix.n_tiles, matrix.n_blocks, matrix.form)

    def _address(self, offset: int) -> int:
        return int(self._weights.ctypes.data + offset)
