"""The AF graph on a CPU: the form that a target without fused attention gets, run where it can be checked.

ONNX Runtime's own attention is faster here (docs/runtime.md), so this target runs only when it is named. A vendor's
target takes the same graph through its compiler.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from agentkit.compiler.af_decoder import build_af_decoder
from agentkit.compiler.af_graph import BLOCK, HIDDEN, attention_shape, causal_mask
from agentkit.compiler.checkpoint import Checkpoint, load_checkpoint, tensor_shapes
from agentkit.decoder.backend import DecoderSpec, Logits, PoolSizes, Probe, SessionOptions, TokenIds
from agentkit.decoder.checks import check_options, check_step
from agentkit.decoder.kv_cache import KVCache, Layout, cache_bytes, cache_facts
from agentkit.decoder.memory_pool import Pools, aligned_bytes
from agentkit.errors import BackendUnavailable, CheckpointError, StepFailed


class OnnxAf:
    """The target; offers f32."""

    name = "cpu_af"

    def probe(self) -> Probe:
        """Look for ONNX Runtime."""
        try:
            import onnxruntime
        except ImportError as err:
            return Probe(False, f"onnxruntime cannot be imported ({err}); run: pip install 'onnxruntime>=1.32'")
        detail = f"ONNX Runtime {onnxruntime.__version__}, AF graph in standard operators"
        return Probe(True, detail, {"kind": "sim", **cache_facts(Layout.PACKED, np.float32)})

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        """Compute the pool sizes: every bucket has a graph of its own, with its own weights."""
        return _sizes(load_checkpoint(checkpoint).spec, options)

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> OnnxAfSession:
        """Build one graph per bucket in memory."""
        if options.precision not in (None, "f32"):
            raise BackendUnavailable(f"cpu_af: precision {options.precision!r} is not offered, wanted f32 or none")
        return OnnxAfSession(load_checkpoint(checkpoint), options, pools)


def _sizes(spec: DecoderSpec, options: SessionOptions) -> PoolSizes:
    check_options(spec, options)
    if options.max_seq_len % BLOCK:
        raise CheckpointError(f"max_seq_len {options.max_seq_len}: cpu_af wants a multiple of {BLOCK}; round it up")
    weights = sum(aligned_bytes(shape, np.float32) for shape in tensor_shapes(spec).values())
    if spec.is_head_tied:
        weights += aligned_bytes((spec.vocab_size, spec.hidden_size), np.float32)  # turned over for the product
    return PoolSizes(
        weight_bytes=weights * len(options.buckets),
        cache_bytes=cache_bytes(spec, options, Layout.PACKED, np.float32),
        temp_bytes=aligned_bytes((options.max_seq_len // BLOCK, 1, BLOCK), np.float32)
        + aligned_bytes((spec.vocab_size,), np.float32),
    )


class OnnxAfSession:
    """An opened model."""

    def __init__(self, checkpoint: Checkpoint, options: SessionOptions, pools: Pools):
        self.spec, self.options = checkpoint.spec, options
        self.sizes = _sizes(checkpoint.spec, options)
        pools.weight.reserve("graphs", self.sizes.weight_bytes)
        self.kv = KVCache(pools.cache, checkpoint.spec, options, layout=Layout.PACKED, dtype=np.float32)
        self._mask = pools.temp.alloc("mask", (options.max_seq_len // BLOCK, 1, BLOCK), np.float32)
        self._logits: Logits = pools.temp.alloc("logits", (checkpoint.spec.vocab_size,), np.float32)
        half = checkpoint.spec.head_dim // 2
        angles = np.arange(options.max_seq_len)[:, None] * checkpoint.spec.rope_theta ** (-np.arange(half) / half)
        self._cos, self._sin = (f(angles).astype(np.float32)[:, None] for f in (np.cos, np.sin))  # [S, 1, half]
        self._causal = {n: causal_mask(attention_shape(self.spec, rows=n, capacity=BLOCK)) for n in options.buckets}
        self._graphs: dict[int, Any] = {n: _open(checkpoint, options, n) for n in options.buckets}

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        """Run one padded step; see the port. New rows are written only once the graph has answered."""
        check_step(self, token_ids, n_valid, slot=slot)
        start, n_rows = self.kv.length(slot), len(token_ids)
        if not self._graphs:
            raise StepFailed("cpu_af: the session is closed; open the model again")
        flat = self._mask.reshape(-1)  # O(S), whatever the step
        flat[:start], flat[start:] = 0, HIDDEN
        inputs = {
            "token_ids": token_ids, "last_row": np.array([n_valid - 1]), "mask": self._mask,
            "causal": self._causal[n_rows], "cos": self._cos[start : start + n_rows],
            "sin": self._sin[start : start + n_rows],
        }  # fmt: skip
        inputs |= {f"cache.{layer}": self.kv.data[layer, slot] for layer in range(self.spec.n_layers)}
        logits, *rows = self._graphs[n_rows].run(None, inputs)
        for layer, new in enumerate(rows):
            self.kv.data[layer, slot, start : start + n_rows] = new
        np.copyto(self._logits, logits)
        return self._logits

    def close(self) -> None:
        """Drop the graphs; the pools own the rest."""
        self._graphs.clear()


def _open(checkpoint: Checkpoint, options: SessionOptions, rows: int) -> Any:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.n_threads or len(os.sched_getaffinity(0))
    settings.log_severity_level = 3
    model = build_af_decoder(checkpoint.spec, checkpoint.tensor, rows=rows, capacity=options.max_seq_len)
    return onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])


BACKEND = OnnxAf()
