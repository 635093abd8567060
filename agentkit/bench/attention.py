"""One attention of a model, in every form there is, against the number of rows in the cache (rules A3 to A5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from agentkit.compiler.af_graph import BLOCK, HIDDEN, AttentionShape, build_attention, causal_mask
from agentkit.decoder.backend import DecoderSpec

Run = Callable[[int], Any]
LENGTHS = (1, 8, 32, 64, 128, 256, 512, 1024, 2048)
GQA, BLOCKWISE, PLAIN = "GroupQueryAttention", "AF, blocks of 32", "plain softmax (NumPy)"
_N_ROUNDS, _N_CALLS = 7, 20


def attention_bench(
    spec: DecoderSpec, *, lengths: Sequence[int] = LENGTHS, n_threads: int = 1,
    on_length: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Time one decode step's attention of one layer in µs, by form and rows in the cache, alternating in one run.

    One thread, so that no form waits for workers that the machine has put to sleep.
    """
    capacity = -(-max(lengths) // BLOCK) * BLOCK
    shape = AttentionShape(spec.n_heads, spec.n_kv_heads, spec.head_dim, 1, capacity)
    forms: dict[str, Run] = {
        GQA: _group_query(shape, n_threads),
        BLOCKWISE: _blockwise(shape, n_threads),
        PLAIN: _plain(shape),
    }
    us: dict[str, list[float]] = {name: [] for name in forms}
    for index, n_rows in enumerate(lengths, 1):
        for name, took in _race(forms, n_rows).items():
            us[name].append(took)
        if on_length:
            on_length(index)
    return {"lengths": list(lengths), "us": us, "flatness": {name: max(v) / min(v) for name, v in us.items()}}


def _race(forms: Mapping[str, Run], n_rows: int) -> dict[str, float]:
    """Return the least time per call over some rounds: the machine's noise only ever adds."""
    best = dict.fromkeys(forms, float("inf"))
    for _ in range(_N_ROUNDS):
        for name, run in forms.items():
            run(n_rows)
            started_s = time.perf_counter()
            for _ in range(_N_CALLS):
                run(n_rows)
            best[name] = min(best[name], (time.perf_counter() - started_s) / _N_CALLS * 1e6)
    return best


def _session(model: Any, n_threads: int) -> Any:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = n_threads
    settings.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])


def _blockwise(shape: AttentionShape, n_threads: int) -> Run:
    session, rng, wide = _session(build_attention(shape), n_threads), np.random.default_rng(0), 2 * shape.padded
    mask = np.zeros((shape.capacity // BLOCK, 1, BLOCK), np.float32)
    inputs = {
        "q": rng.standard_normal((shape.n_kv_heads, shape.n_groups, shape.padded)).astype(np.float32),
        "new": rng.standard_normal((1, shape.n_kv_heads, wide)).astype(np.float32),
        "cache": rng.standard_normal((shape.capacity, shape.n_kv_heads, wide)).astype(np.float32),
        "mask": mask, "causal": causal_mask(shape),
    }  # fmt: skip

    def run(n_rows: int) -> Any:
        mask.reshape(-1)[: n_rows - 1], mask.reshape(-1)[n_rows - 1 :] = 0, HIDDEN
        return session.run(None, inputs)

    return run


def _group_query(shape: AttentionShape, n_threads: int) -> Run:
    d, n_kv, capacity = shape.head_dim, shape.n_kv_heads, shape.capacity
    value = helper.make_tensor_value_info
    cache = [1, n_kv, capacity, d]
    names = ["qkv", "", "", "past_k", "past_v", "seqlens_k", "total"]
    node = helper.make_node(
        "GroupQueryAttention", names, ["y", "present_k", "present_v"], domain="com.microsoft",
        num_heads=shape.n_heads, kv_num_heads=n_kv,
    )  # fmt: skip
    width = (shape.n_heads + 2 * n_kv) * d
    graph = helper.make_graph(
        [node], "attention",
        [value("qkv", TensorProto.FLOAT, [1, 1, width]), value("past_k", TensorProto.FLOAT, cache),
         value("past_v", TensorProto.FLOAT, cache), value("seqlens_k", TensorProto.INT32, [1]),
         value("total", TensorProto.INT32, [1])],
        [value("y", TensorProto.FLOAT, [1, 1, shape.n_heads * d]), value("present_k", TensorProto.FLOAT, cache),
         value("present_v", TensorProto.FLOAT, cache)],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    session = _session(helper.make_model(graph, opset_imports=opsets, ir_version=8), n_threads)
    rng = np.random.default_rng(0)
    arrays = {
        "qkv": rng.standard_normal((1, 1, width)).astype(np.float32),
        "past_k": rng.standard_normal(cache).astype(np.float32),
        "past_v": rng.standard_normal(cache).astype(np.float32),
        "seqlens_k": np.zeros(1, np.int32), "total": np.zeros(1, np.int32),
        "y": np.zeros((1, 1, shape.n_heads * d), np.float32),
    }  # fmt: skip
    binding = session.io_binding()
    bound_to = {"past_k": "present_k", "past_v": "present_v"}
    for name, array in arrays.items():
        place = ("cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
        if name == "y":
            binding.bind_output(name, *place)
        else:
            binding.bind_input(name, *place)
        if name in bound_to:
            binding.bind_output(bound_to[name], *place)

    def run(n_rows: int) -> Any:
        arrays["seqlens_k"][0], arrays["total"][0] = n_rows - 1, n_rows
        session.run_with_iobinding(binding)
        return arrays["y"]

    return run


def _plain(shape: AttentionShape) -> Run:
    rng = np.random.default_rng(0)
    cache = (shape.n_kv_heads, shape.capacity, shape.head_dim)
    keys, values = (rng.standard_normal(cache).astype(np.float32) for _ in range(2))
    q = rng.standard_normal((shape.n_kv_heads, shape.n_groups, shape.head_dim)).astype(np.float32)

    def run(n_rows: int) -> Any:
        scores = q @ keys[:, :n_rows].transpose(0, 2, 1)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights @ values[:, :n_rows]

    return run
