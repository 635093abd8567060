"""The whole decoder in standard operators: what surrounds the block-wise attention."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, TensorProto, helper

from agentkit.compiler.af_graph import (
    AttentionShape,
    GraphWriter,
    ReadTensor,
    attention_shape,
    blockwise_attention,
    floats,
    mask_inputs,
)
from agentkit.decoder.backend import DecoderSpec
from agentkit.errors import CheckpointError


def build_af_decoder(spec: DecoderSpec, tensor: ReadTensor, *, rows: int, capacity: int) -> ModelProto:
    """Build the graph of one padded step of `rows` tokens.

    Inputs: token_ids [rows] i64, last_row [1] i64 (whose logits), cos and sin [rows, 1, head_dim / 2] f32, the masks of
    `mask_inputs`, cache.N [capacity, n_kv_heads, 2 * padded head_dim] f32. Outputs: logits [vocab_size] f32 and rows.N
    [rows, n_kv_heads, 2 * padded head_dim], which the host writes behind the committed ones.
    """
    if spec.has_qkv_bias or spec.has_qk_norm or spec.activation != "silu" or spec.embed_scale != 1:
        raise CheckpointError(f"{spec.architecture}: the AF graph is made for Llama's layers only; take another target")
    return _Builder(spec, tensor, attention_shape(spec, rows=rows, capacity=capacity)).build()


class _Builder:
    def __init__(self, spec: DecoderSpec, tensor: ReadTensor, shape: AttentionShape):
        self.spec, self.tensor, self.shape, self.writer = spec, tensor, shape, GraphWriter()

    def build(self) -> ModelProto:
        spec, shape, writer = self.spec, self.shape, self.writer
        table = writer.constant("embed", self.tensor("embed"))
        hidden = writer.op("Gather", [table, "token_ids"], "embedded", axis=0)  # [rows, hidden_size]
        for layer in range(spec.n_layers):
            name = f"layers.{layer}"
            hidden = writer.op("Add", [hidden, self._attention(name, layer, hidden)], f"{name}.attention_added")
            hidden = writer.op("Add", [hidden, self._feed_forward(name, hidden)], f"{name}.ffn_added")
        last = writer.op("Gather", [self._norm(hidden, "final_norm", "final"), "last_row"], "last", axis=0)
        head = self._matrix("head_turned", ["embed" if spec.is_head_tied else "head"])
        logits = writer.op("MatMul", [last, head], "logits_row")
        writer.op("Reshape", [logits, writer.shape(spec.vocab_size)], "logits")
        wide = 2 * shape.padded
        ids = [("token_ids", shape.rows), ("last_row", 1)]
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [n]) for name, n in ids]
        inputs += [floats(name, shape.rows, 1, spec.head_dim // 2) for name in ("cos", "sin")]
        inputs += mask_inputs(shape)
        layers = range(spec.n_layers)
        inputs += [floats(f"cache.{i}", shape.capacity, spec.n_kv_heads, wide) for i in layers]
        outputs = [floats(f"rows.{i}", shape.rows, spec.n_kv_heads, wide) for i in layers]
        return writer.model("decoder", inputs, [floats("logits", spec.vocab_size), *outputs])

    def _attention(self, name: str, layer: int, hidden: str) -> str:
        spec, shape, writer = self.spec, self.shape, self.writer
        normed = self._norm(hidden, f"{name}.attn_norm", f"{name}.attn_in")
        weights = self._matrix(f"{name}.qkv_weight", [f"{name}.{part}" for part in "qkv"])
        qkv = writer.op("MatMul", [normed, weights], f"{name}.qkv")
        sizes = [spec.n_heads * spec.head_dim, *[spec.n_kv_heads * spec.head_dim] * 2]
        writer.split(qkv, sizes, [f"{name}.{part}_flat" for part in "qkv"], axis=1)
        heads = {"q": spec.n_heads, "k": spec.n_kv_heads, "v": spec.n_kv_heads}
        q, k, v = (
            writer.op(
                "Reshape", [f"{name}.{part}_flat", writer.shape(shape.rows, n, spec.head_dim)], f"{name}.{part}_heads"
            )
            for part, n in heads.items()
        )
        q, k = self._rotate(f"{name}.q", q), self._rotate(f"{name}.k", k)
        parts = [self._padded(part) for part in (k, v)]
        new = writer.op("Concat", parts, f"rows.{layer}", axis=2)  # [rows, n_kv_heads, 2 * padded]: packed
        by_head = writer.op("Transpose", [self._padded(q)], f"{name}.q_by_head", perm=[1, 0, 2])
        grouped = writer.shape(spec.n_kv_heads, shape.n_groups * shape.rows, shape.padded)
        q = writer.op("Reshape", [by_head, grouped], f"{name}.q_grouped")
        mixed = blockwise_attention(writer, name, shape, q=q, new=new, cache=f"cache.{layer}")
        return self._project(name, mixed)

    def _project(self, name: str, mixed: str) -> str:
        spec, shape, writer = self.spec, self.shape, self.writer
        split = writer.shape(spec.n_heads, shape.rows, shape.padded)
        by_head = writer.op("Reshape", [mixed, split], f"{name}.mixed_by_head")
        cut = by_head
        if shape.padded != spec.head_dim:
            sizes = [spec.head_dim, shape.padded - spec.head_dim]
            cut = f"{name}.mixed_cut"
            writer.split(by_head, sizes, [cut, f"{name}.mixed_padding"], axis=2)
        turned = writer.op("Transpose", [cut], f"{name}.mixed_by_row", perm=[1, 0, 2])
        flat = writer.op("Reshape", [turned, writer.shape(shape.rows, spec.n_heads * spec.head_dim)], f"{name}.mixed")
        return writer.op("MatMul", [flat, self._matrix(f"{name}.o_weight", [f"{name}.o"])], f"{name}.attn_out")

    def _feed_forward(self, name: str, hidden: str) -> str:
        writer, n = self.writer, self.spec.ffn_size
        normed = self._norm(hidden, f"{name}.ffn_norm", f"{name}.ffn_in")
        weights = self._matrix(f"{name}.gate_up_weight", [f"{name}.gate", f"{name}.up"])  # fused: one product
        both = writer.op("MatMul", [normed, weights], f"{name}.gate_up")
        writer.split(both, [n, n], [f"{name}.gate_half", f"{name}.up_half"], axis=1)
        opened = writer.op("Sigmoid", [f"{name}.gate_half"], f"{name}.opened")
        silu = writer.op("Mul", [f"{name}.gate_half", opened], f"{name}.silu")
        gated = writer.op("Mul", [silu, f"{name}.up_half"], f"{name}.gated")
        return writer.op("MatMul", [gated, self._matrix(f"{name}.down_weight", [f"{name}.down"])], f"{name}.ffn_out")

    def _norm(self, hidden: str, weight: str, into: str) -> str:
        writer = self.writer
        square = writer.op("Mul", [hidden, hidden], f"{into}.square")
        mean = writer.op("ReduceMean", [square], f"{into}.mean", axes=[1], keepdims=1)
        eps = writer.constant("eps", np.array([self.spec.rms_norm_eps], np.float32))
        root = writer.op("Sqrt", [writer.op("Add", [mean, eps], f"{into}.mean_eps")], f"{into}.root")
        scaled = writer.op("Div", [hidden, root], f"{into}.scaled")
        return writer.op("Mul", [scaled, writer.constant(weight, self.tensor(weight))], into)

    def _rotate(self, name: str, heads: str) -> str:
        """Turn element i of each head with element i + head_dim / 2 by the position's angle."""
        writer, half = self.writer, self.spec.head_dim // 2
        first, second = f"{name}_first", f"{name}_second"
        writer.split(heads, [half, half], [first, second], axis=2)
        turned = []
        for into, signed, (a, b) in (("low", "Sub", (first, second)), ("high", "Add", (second, first))):
            left = writer.op("Mul", [a, "cos"], f"{name}_{into}_cos")
            right = writer.op("Mul", [b, "sin"], f"{name}_{into}_sin")
            turned.append(writer.op(signed, [left, right], f"{name}_{into}"))
        return writer.op("Concat", turned, f"{name}_rotated", axis=2)

    def _padded(self, heads: str) -> str:
        """Widen each head to a multiple of 64 with zeros, which change no product."""
        extra = self.shape.padded - self.spec.head_dim
        if not extra:
            return heads
        return self.writer.op("Pad", [heads, self.writer.shape(0, 0, 0, 0, 0, extra)], f"{heads}_padded")

    def _matrix(self, name: str, parts: list[str]) -> str:
        stacked = np.concatenate([self.tensor(part) for part in parts]).T
        return self.writer.constant(name, stacked)
