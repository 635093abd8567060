"""Checkpoint → ONNX graph for ONNX Runtime's CPU kernels.

One graph serves every bucket, because its only symbolic lengths are those of the step and of the cache: weights exist
once. Tensors have names that say where they are (layers.3.qkv).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

from agentkit.compiler.checkpoint import BLOCK, Checkpoint
from agentkit.compiler.graph import MS, Graph
from agentkit.compiler.linear import Linears
from agentkit.compiler.quantise import PARTS, Form


def build_graph(checkpoint: Checkpoint, precision: str, n_positions: int) -> Graph:
    """Build the graph of one padded step.

    Inputs: token_ids [1, rows] i64, last_row [] i64 (whose logits), seqlens_k [1] i32 (total - 1),
    total_sequence_length [1] i32, past_{key,value}.N [1, n_kv_heads, capacity, head_dim] f32. Outputs: logits
    [1, vocab_size] f32 and present_{key,value}.N, to be bound to the same memory as past_*.
    """
    return _Builder(checkpoint, precision, n_positions).build()


class _Builder:
    def __init__(self, checkpoint: Checkpoint, precision: str, n_positions: int):
        self.checkpoint, self.precision, self.n_positions = checkpoint, precision, n_positions
        self.spec, self.graph = checkpoint.spec, Graph()
        self.linears = Linears(self.graph, checkpoint, precision)

    def build(self) -> Graph:
        spec, graph = self.spec, self.graph
        self._declare_inputs()
        self._rotary_tables()
        residual = self._embed()
        normed = graph.node(
            "SimplifiedLayerNormalization",
            [residual, self._norm("layers.0.attn_norm")],
            "layers.0.attn_in",
            axis=-1,
            epsilon=spec.rms_norm_eps,
        )
        for layer in range(spec.n_layers):
            name = f"layers.{layer}"
            attended = self._attention(name, layer, normed)
            normed, residual = self._add_and_norm(f"{name}.ffn_in", attended, residual, f"{name}.ffn_norm")
            fed = self._feed_forward(name, normed)
            is_last = layer + 1 == spec.n_layers
            norm = "final_norm" if is_last else f"layers.{layer + 1}.attn_norm"
            into = "final" if is_last else f"layers.{layer + 1}.attn_in"
            normed, residual = self._add_and_norm(into, fed, residual, norm)
        self._head(normed)
        return graph

    def _declare_inputs(self) -> None:
        def value(name: str, kind: int, shape: list[int | str]) -> ValueInfoProto:
            return helper.make_tensor_value_info(name, kind, shape)

        spec, graph = self.spec, self.graph
        graph.inputs += [
            value("token_ids", TensorProto.INT64, [1, "rows"]),
            value("last_row", TensorProto.INT64, []),
            value("seqlens_k", TensorProto.INT32, [1]),
            value("total_sequence_length", TensorProto.INT32, [1]),
        ]
        graph.outputs.append(value("logits", TensorProto.FLOAT, [1, spec.vocab_size]))
        shape: list[int | str] = [1, spec.n_kv_heads, "capacity", spec.head_dim]
        for layer in range(spec.n_layers):
            for part in ("key", "value"):
                graph.inputs.append(value(f"past_{part}.{layer}", TensorProto.FLOAT, shape))
                graph.outputs.append(value(f"present_{part}.{layer}", TensorProto.FLOAT, shape))

    def _rotary_tables(self) -> None:
        spec, shape = self.spec, (self.n_positions, self.spec.head_dim // 2)

        def angles() -> NDArray[np.float64]:
            frequencies = spec.rope_theta ** (-np.arange(0, spec.head_dim, 2) / spec.head_dim)
            return np.asarray(np.arange(self.n_positions)[:, None] * frequencies[None, :])

        self.graph.constant("rotary.cos", shape, np.float32, lambda: np.cos(angles()), is_looked_up=True)
        self.graph.constant("rotary.sin", shape, np.float32, lambda: np.sin(angles()), is_looked_up=True)

    def _norm(self, name: str) -> str:
        return self.graph.constant(name, (self.spec.hidden_size,), np.float32, lambda: self.checkpoint.tensor(name))

    def _add_and_norm(self, into: str, added: str, residual: str, norm: str) -> tuple[str, str]:
        outputs = [into, "", "", f"{into}.residual"]
        inputs, eps = [added, residual, self._norm(norm)], self.spec.rms_norm_eps
        self.graph.node("SkipSimplifiedLayerNormalization", inputs, outputs, domain=MS, epsilon=eps)
        return into, f"{into}.residual"

    def _attention(self, name: str, layer: int, normed: str) -> str:
        spec = self.spec
        qkv = self._qkv(name, normed)
        past = [f"past_key.{layer}", f"past_value.{layer}"]
        mixed = self.graph.node(
            "GroupQueryAttention",
            [*qkv, *past, "seqlens_k", "total_sequence_length", "rotary.cos", "rotary.sin"],
            [f"{name}.attention", f"present_key.{layer}", f"present_value.{layer}"],
            domain=MS,
            num_heads=spec.n_heads,
            kv_num_heads=spec.n_kv_heads,
            do_rotary=1,
        )
        return self.linears.product(f"{name}.attn_out", mixed, [f"{name}.o"])

    def _qkv(self, name: str, normed: str) -> list[str]:
        """Project; the first of q, k and v stands for all three where nothing happens to the heads alone."""
        spec, graph, parts = self.spec, self.graph, PARTS["qkv"]
        qkv = self.linears.product(f"{name}.qkv", normed, [f"{name}.{part}" for part in parts])
        if spec.has_qkv_bias:
            size = (spec.n_heads + 2 * spec.n_kv_heads) * spec.head_dim
            tensor, names = self.checkpoint.tensor, [f"{name}.{part}_bias" for part in parts]
            bias = graph.constant(
                f"{name}.qkv_bias", (size,), np.float32, lambda: np.concatenate([*map(tensor, names)])
            )
            qkv = graph.node("Add", [qkv, bias], f"{name}.qkv_biased")
        if not spec.has_qk_norm:
            return [qkv, "", ""]
        split = [f"{name}.{part}_flat" for part in parts]
        sizes = [n * spec.head_dim for n in (spec.n_heads, spec.n_kv_heads, spec.n_kv_heads)]
        graph.node("Split", [qkv, self._dims(f"{name}.sizes", sizes)], split, axis=-1)
        return [
            self._normed_heads(split[0], f"{name}.q_norm"),
            self._normed_heads(split[1], f"{name}.k_norm"),
            split[2],
        ]

    def _normed_heads(self, flat: str, norm: str) -> str:
        graph, head_dim, eps = self.graph, self.spec.head_dim, self.spec.rms_norm_eps
        by_head = self._dims(f"{flat}.by_head", [0, 0, -1, head_dim])
        heads = graph.node("Reshape", [flat, by_head], f"{flat}.heads")
        weight = graph.constant(norm, (head_dim,), np.float32, lambda: self.checkpoint.tensor(norm))
        normed = graph.node("SimplifiedLayerNormalization", [heads, weight], f"{flat}.normed", axis=-1, epsilon=eps)
        return graph.node("Reshape", [normed, self._dims(f"{flat}.in_row", [0, 0, -1])], f"{flat}.together")

    def _dims(self, name: str, dims: list[int]) -> str:
        """Add a list of lengths inside the graph: ONNX Runtime wants to know them before it reads the weights."""
        return self.graph.node("Constant", [], name, value=numpy_helper.from_array(np.array(dims, np.int64)))

    def _feed_forward(self, name: str, normed: str) -> str:
        graph = self.graph
        both = self.linears.product(f"{name}.gate_up", normed, [f"{name}.{part}" for part in PARTS["gate_up"]])
        graph.node("Split", [both], [f"{name}.gate_half", f"{name}.up_half"], axis=-1)
        if self.spec.activation == "gelu":
            opened = graph.node("FastGelu", [f"{name}.gate_half"], f"{name}.gelu", domain=MS)
        else:  # x * sigmoid(x) in one kernel: QuickGelu with a slope of 1
            opened = graph.node("QuickGelu", [f"{name}.gate_half"], f"{name}.silu", domain=MS, alpha=1.0)
        gated = graph.node("Mul", [opened, f"{name}.up_half"], f"{name}.gated")
        return self.linears.product(f"{name}.ffn_out", gated, [f"{name}.down"])

    def _embed(self) -> str:
        embedded, scale = self._looked_up(), np.float32(self.spec.embed_scale)
        if scale == 1:
            return embedded
        factor = self.graph.constant("embed.factor", (), np.float32, lambda: np.array(scale))
        return self.graph.node("Mul", [embedded, factor], "embedded.scaled")

    def _looked_up(self) -> str:
        spec, graph, table = self.spec, self.graph, (self.spec.vocab_size, self.spec.hidden_size)

        def constant(name: str, shape: tuple[int, int], dtype: type[np.generic], make: Callable[[], Any]) -> str:
            return graph.constant(name, shape, dtype, make, is_looked_up=True)

        if self.precision == "f32":
            constant("embed.weight", table, np.float32, lambda: self.checkpoint.tensor("embed"))
            return graph.node("Gather", ["embed.weight", "token_ids"], "embedded")
        scales = (spec.vocab_size, spec.hidden_size // BLOCK)
        constant("embed.codes", table, np.uint8, lambda: self.linears.blocks(["embed"], Form.INT8).codes)
        constant("embed.scale", scales, np.float32, lambda: self.linears.blocks(["embed"], Form.INT8).scale)
        inputs = ["embed.codes", "token_ids", "embed.scale"]
        attributes = {"bits": 8, "block_size": BLOCK, "gather_axis": 0, "quantize_axis": 1}
        return graph.node("GatherBlockQuantized", inputs, "embedded", domain=MS, **attributes)

    def _head(self, normed: str) -> None:
        # The head is the largest matrix: only the row that is asked for goes through it
        spec, graph, table = self.spec, self.graph, (self.spec.vocab_size, self.spec.hidden_size)
        last = graph.node("Gather", [normed, "last_row"], "last", axis=1)  # [1, hidden_size]
        is_tied = spec.is_head_tied
        if self.precision != "f32":
            codes_as, scale_as = ("embed.codes", "embed.scale") if is_tied else (None, None)
            self.linears.quantised("logits", last, ["head"], Form.INT8, table, codes_as=codes_as, scale_as=scale_as)
            return
        if not is_tied:
            graph.constant("head.weight", table, np.float32, lambda: self.checkpoint.tensor("head"))
        graph.node("Gemm", [last, "embed.weight" if is_tied else "head.weight"], "logits", transB=1)
