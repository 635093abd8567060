"""The CPU target: ONNX Runtime runs the compiled graph in place on the cache.

Everything is bound once per bucket and slot; a step writes its few numbers into bound memory and runs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import Checkpoint, load_checkpoint
from agentkit.decoder.backend import DecoderSpec, Logits, PoolSizes, Probe, SessionOptions, TokenIds
from agentkit.decoder.checks import check_options, check_step
from agentkit.decoder.kv_cache import KVCache, Layout, cache_bytes, cache_facts
from agentkit.decoder.memory_pool import Pools, align, aligned_bytes
from agentkit.errors import BackendUnavailable, StepFailed

if TYPE_CHECKING:
    from agentkit.compiler.bundle import Bundle, Target
    from agentkit.compiler.graph import Graph

CACHE_DTYPE = np.float32
"""f16 halves the cache but needs f16 attention: two casts per layer, 6 % slower steps (177 against 187 tokens/s on
two cores; 108 against 116 with 1500 tokens in the cache) and no better logits. On a processor with f16 arithmetic
measure again."""

SPIN_US = "1000"
"""How long idle workers wait awake. The default burns a core long after a step and no waiting at all costs a third of
the speed (126 against 187 tokens/s); one millisecond bridges the host's work between two steps."""


class OnnxCpu:
    """The ONNX Runtime CPU target; offers f32, int8 and int4."""

    name = "cpu_onnx"

    def probe(self) -> Probe:
        """Look for ONNX Runtime."""
        try:
            import onnxruntime
        except ImportError as err:
            return Probe(False, f"onnxruntime cannot be imported ({err}); run: pip install 'onnxruntime>=1.32'")
        n_cores = len(os.sched_getaffinity(0))
        detail = f"ONNX Runtime {onnxruntime.__version__} on {n_cores} cores"
        cache = cache_facts(Layout.HEADS_FIRST, CACHE_DTYPE)
        return Probe(True, detail, {"version": onnxruntime.__version__, "n_cores": n_cores, **cache})

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        """Compute the pool sizes of `open` from the checkpoint's header."""
        return _Plan.of(load_checkpoint(checkpoint, options.importance), options).sizes

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> OnnxCpuSession:
        """Open the compiled graph, compiling first if need be."""
        from agentkit.compiler.bundle import ensure_bundle

        loaded = load_checkpoint(checkpoint, options.importance)
        plan = _Plan.of(loaded, options)
        bundle = ensure_bundle(loaded, plan.target, cache_dir)
        pools.weight.reserve("onnxruntime packed weights", plan.packed_bytes)
        return OnnxCpuSession(loaded.spec, options, plan.sizes, bundle, pools)


@dataclass(frozen=True)
class _Plan:
    target: Target
    sizes: PoolSizes
    packed_bytes: int
    """The part of the weights that ONNX Runtime holds."""

    @classmethod
    def of(cls, checkpoint: Checkpoint, options: SessionOptions) -> _Plan:
        from agentkit.compiler.bundle import Target, positions_for
        from agentkit.compiler.decoder_graph import build_graph
        from agentkit.compiler.quantise import check_precision

        spec = checkpoint.spec
        check_options(spec, options)
        precision = check_precision(checkpoint, options.precision)
        target = Target(precision, positions_for(options.max_seq_len, spec.max_seq_len))
        graph = build_graph(checkpoint, precision, target.n_positions)
        sizes = PoolSizes(
            weight_bytes=looked_up_bytes(graph) + packed_bytes(graph),
            cache_bytes=cache_bytes(spec, options, Layout.HEADS_FIRST, CACHE_DTYPE),
            temp_bytes=_Buffers.n_bytes(spec, options) + scratch_bytes(spec, options),
        )
        return cls(target, sizes, packed_bytes(graph))


def packed_bytes(graph: Graph) -> int:
    """Compute what ONNX Runtime keeps of the constants, and a sum per block that it adds to those it packs."""
    packed = [constant for constant in graph.constants.values() if not constant.is_looked_up]
    sums = sum(constant.n_bytes for constant in packed if constant.name.endswith(".scale"))
    is_head_packed_apart = "embed.weight" in graph.constants and "head.weight" not in graph.constants
    head = graph.constants["embed.weight"].n_bytes if is_head_packed_apart else 0
    return align(sum(constant.n_bytes for constant in packed) + sums + head)


def looked_up_bytes(graph: Graph) -> int:
    """Compute what the constants take that lie in the weight pool."""
    return sum(align(constant.n_bytes) for constant in graph.constants.values() if constant.is_looked_up)


def scratch_bytes(spec: DecoderSpec, options: SessionOptions) -> int:
    """Bound what ONNX Runtime's arena holds for intermediates of the largest bucket."""
    rows, qkv = options.buckets[-1], (spec.n_heads + 2 * spec.n_kv_heads) * spec.head_dim
    activations = rows * (4 * spec.hidden_size + 2 * qkv + 6 * spec.ffn_size)
    scores = spec.n_heads * rows * options.max_seq_len
    return align(2 * 4 * (activations + scores) + 4 * spec.vocab_size)  # the arena grows in powers of two


class _Buffers:
    """Bound memory of inputs and outputs, shared by all slots."""

    def __init__(self, spec: DecoderSpec, options: SessionOptions, pools: Pools):
        alloc = pools.temp.alloc
        self.token_ids = {n: alloc(f"token_ids.{n}", (1, n), np.int64) for n in options.buckets}  # [1, bucket] i64
        self.last_row = alloc("last_row", (), np.int64)
        self.seqlens_k = alloc("seqlens_k", (1,), np.int32)
        self.total = alloc("total_sequence_length", (1,), np.int32)
        self.logits = alloc("logits", (1, spec.vocab_size), np.float32)

    @staticmethod
    def n_bytes(spec: DecoderSpec, options: SessionOptions) -> int:
        buckets = sum(aligned_bytes((1, n), np.int64) for n in options.buckets)
        numbers = aligned_bytes((), np.int64) + 2 * aligned_bytes((1,), np.int32)
        return buckets + numbers + aligned_bytes((1, spec.vocab_size), np.float32)


class OnnxCpuSession:
    """An opened model."""

    def __init__(
        self, spec: DecoderSpec, options: SessionOptions, sizes: PoolSizes, bundle: Bundle, pools: Pools
    ):  # fmt: skip
        self.spec, self.options, self.sizes = spec, options, sizes
        pools.temp.reserve("onnxruntime arena", scratch_bytes(spec, options))
        self.kv = KVCache(pools.cache, spec, options, layout=Layout.HEADS_FIRST, dtype=CACHE_DTYPE)
        self._buffers = _Buffers(spec, options, pools)
        self._errors = _ort_errors()
        # ONNX Runtime points at these values, so they must live as long as its session
        self._tables = {name: _copied(pools, name, mapped) for name, mapped in bundle.looked_up.items()}
        self._session: Any = _open_session(bundle.graph, options, self._tables, self._errors)
        self._bindings = {(slot, n): self._bind(slot, n) for slot in range(options.n_slots) for n in options.buckets}

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        """Run one padded step; see the port."""
        check_step(self, token_ids, n_valid, slot=slot)
        n_rows, buffers = len(token_ids), self._buffers
        total = self.kv.length(slot) + n_rows
        np.copyto(buffers.token_ids[n_rows][0], token_ids)
        buffers.last_row[...] = n_valid - 1
        # Padding counts as real rows for the kernel: they lie behind the valid ones, so no valid row sees them, and
        # the next step overwrites them.
        buffers.seqlens_k[0], buffers.total[0] = total - 1, total
        if self._session is None:
            raise StepFailed("cpu_onnx: the session is closed; open the model again")
        try:
            self._session.run_with_iobinding(self._bindings[slot, n_rows])
        except self._errors as err:
            raise StepFailed(f"cpu_onnx: step of {n_rows} rows failed: {_first_line(err)}") from err
        logits: Logits = buffers.logits[0]
        return logits

    def close(self) -> None:
        """Drop the session and its bindings; the pools own the buffers."""
        self._bindings.clear()
        self._session = None
        self._tables.clear()

    def _bind(self, slot: int, n_rows: int) -> Any:
        binding, buffers = self._session.io_binding(), self._buffers

        def bind(bind_to: Any, name: str, array: NDArray[Any]) -> None:
            bind_to(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)

        bind(binding.bind_input, "token_ids", buffers.token_ids[n_rows])
        bind(binding.bind_input, "last_row", buffers.last_row)
        bind(binding.bind_input, "seqlens_k", buffers.seqlens_k)
        bind(binding.bind_input, "total_sequence_length", buffers.total)
        bind(binding.bind_output, "logits", buffers.logits)
        for layer in range(self.spec.n_layers):
            for i, part in enumerate(("key", "value")):
                rows = self.kv.data[layer, slot, i][None]  # [1, n_kv_heads, capacity, head_dim] f32
                bind(binding.bind_input, f"past_{part}.{layer}", rows)
                bind(binding.bind_output, f"present_{part}.{layer}", rows)  # the same memory: written in place
        return binding


def _copied(pools: Pools, name: str, mapped: NDArray[Any]) -> Any:
    from onnxruntime import OrtValue

    # Left mapped, every new word would bring in pages of the file and the process would seem to grow for hours
    table = pools.weight.alloc(name, mapped.shape, mapped.dtype)
    np.copyto(table, mapped)
    return OrtValue.ortvalue_from_numpy(table)  # shares the memory


def _open_session(
    graph: Path, options: SessionOptions, tables: Mapping[str, Any], errors: tuple[type[Exception], ...]
) -> Any:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.n_threads or len(os.sched_getaffinity(0))
    settings.inter_op_num_threads = 1
    settings.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    settings.enable_mem_pattern = False  # it keeps a block per bucket, 20 MB in all, and gains nothing measurable
    settings.log_severity_level = 3
    settings.add_session_config_entry("session.intra_op.spin_duration_us", SPIN_US)
    for name, table in tables.items():
        settings.add_initializer(name, table)
    try:
        return onnxruntime.InferenceSession(str(graph), settings, providers=["CPUExecutionProvider"])
    except errors as err:
        raise BackendUnavailable(f"cpu_onnx: {graph} does not open: {_first_line(err)}; delete its folder") from err


def _ort_errors() -> tuple[type[Exception], ...]:
    # ONNX Runtime's exceptions have no common base of their own
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)


def _first_line(err: Exception) -> str:
    return str(err).partition("\n")[0]


BACKEND = OnnxCpu()
