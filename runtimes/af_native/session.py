"""An opened model: describes it to the library once, and steps to it from then on."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentkit.decoder.backend import DecoderSpec, Logits, Mask, SessionOptions, TokenIds
from agentkit.decoder.checks import check_step
from agentkit.decoder.kv_cache import KVCache, padded_head_dim
from agentkit.decoder.memory_pool import Pools
from agentkit.errors import BackendUnavailable, StepCancelled, StepFailed
from runtimes.af_native.artifact import Weights
from runtimes.af_native.layout import Layout, Matrix
from runtimes.af_native.library import MAX_PARTS, AfLayer, AfMatrix, AfModel, AfPart, AfStep, Library
from runtimes.af_native.plan import (
    CACHES,
    Plan,
    logits_shape,
    max_parts_of,
    max_rows_of,
    more_buckets,
    rope_shape,
    rope_table,
)

ACTIVATIONS = {"silu": 0, "gelu": 1}


@dataclass
class Step:
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
        self, spec: DecoderSpec, options: SessionOptions, plan: Plan, weights: Weights, pools: Pools,
        library: Library, instruction_set: str, linger_us: int,
    ):  # fmt: skip
        self.spec, self.options, self.sizes = spec, more_buckets(options), plan.sizes
        self.instruction_set = instruction_set
        cache_layout, cache_dtype = CACHES[plan.cache]
        self.kv = KVCache(pools.cache, spec, options, layout=cache_layout, dtype=cache_dtype)
        self._logits: Logits = pools.temp.alloc("logits", logits_shape(spec, options), np.float32)
        self._rope = pools.temp.alloc("rope", rope_shape(spec, options), np.float32)
        self._rope[...] = rope_table(spec, options.max_seq_len)
        self._scratch = pools.temp.alloc("scratch", (plan.scratch_bytes,), np.uint8)
        self._library, self._weights = library, weights
        self.placement = plan.placement
        self._cores = np.array(plan.placement.cores, np.int32)  # [n_threads] i32; the engine points to it
        self._max_parts, self._max_rows = max_parts_of(options), max_rows_of(options)
        self._model = self._describe(plan, linger_us)  # the engine points into it
        self._engine = library.open(self._model, instruction_set)
        if not self._engine:
            known = ", ".join(library.instruction_sets())
            raise BackendUnavailable(f"af_native: this processor has no {instruction_set}; it has {known}")
        self._parts = (AfPart * MAX_PARTS)()
        self._pass = AfStep(parts=self._parts, layer_stride=self.kv.data[0].nbytes, logits=self._logits.ctypes.data)
        slots = range(options.n_slots)
        self._slot_addresses = [int(self.kv.data[0, slot].ctypes.data) for slot in slots]
        self._pending: list[Step] = []
        self._closing = threading.Lock()  # between close and a cancel from another thread

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int, allowed: Mask | None = None) -> Logits:
        """Run one step; padding costs nothing, because rows behind n_valid are not computed. See the port."""
        self._rouse()
        step = self._checked(token_ids, n_valid, slot, allowed)
        self._run([step])
        return self._logits_of(step)

    def submit(self, token_ids: TokenIds, n_valid: int, *, slot: int, allowed: Mask | None = None) -> Step:
        """Queue a step; it runs when it, or one before it, is waited for. See the port."""
        self._rouse()
        if any(step.slot == slot for step in self._pending):
            raise StepFailed(f"af_native: slot {slot} has a step in flight; wait for it first")
        step = self._checked(token_ids, n_valid, slot, allowed)
        self._pending.append(step)
        return step

    def wait(self, fence: Step) -> Logits:
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

    def _rouse(self) -> None:
        """Let threads that sleep wake up meanwhile."""
        if self._engine:
            self._library.rouse(self._engine)

    def _checked(self, token_ids: TokenIds, n_valid: int, slot: int, allowed: Mask | None) -> Step:
        check_step(self, token_ids, n_valid, slot=slot)
        if allowed is not None and (allowed.dtype != np.int32 or len(allowed) != -(-self.spec.vocab_size // 32)):
            raise StepFailed(f"af_native: a mask of {len(allowed)} x {allowed.dtype}, wanted a bit per id in i32 words")
        ids = np.ascontiguousarray(token_ids, np.int64)
        return Step(ids, n_valid, slot, self.kv.length(slot), allowed)

    def _next_pass(self) -> list[Step]:
        """Take from the queue what one pass holds."""
        n_rows, n_steps = 0, 0
        for step in self._pending[: self._max_parts]:
            n_rows += step.n_valid
            if n_rows > self._max_rows:
                break
            n_steps += 1
        taken, self._pending = self._pending[:n_steps], self._pending[n_steps:]
        return taken

    def _run(self, steps: list[Step]) -> None:
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

    def _logits_of(self, step: Step) -> Logits:
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

    def _describe(self, plan: Plan, linger_us: int) -> AfModel:
        spec, layout = self.spec, plan.layout
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
            cache_form=list(CACHES).index(plan.cache), linger_us=linger_us,
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
