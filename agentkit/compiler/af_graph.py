"""Checkpoint → ONNX graph in standard operators only, for targets without a fused attention (rules A3 to A5, A8).

Shapes are constant: one graph per bucket and capacity. The cache stays outside and is only read: a step answers with
the rows it would add, and the host writes them where they belong, so a failed step leaves nothing behind. Attention
looks at the cache in blocks of 32; each block has its own softmax, and a reduction across blocks joins them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from agentkit.decoder.backend import DecoderSpec
from agentkit.decoder.kv_cache import padded_head_dim
from agentkit.errors import CheckpointError

BLOCK: Final = 32
"""Cache rows per softmax."""
OPSET: Final = 17
HIDDEN: Final = np.float32(-1e30)
"""What the mask adds to a row that must not be seen: finite, so that a block of hidden rows is 0 and not NaN."""
ReadTensor = Callable[[str], NDArray[np.float32]]


@dataclass(frozen=True)
class AttentionShape:
    """Everything that fixes the shapes of one attention."""

    n_heads: int
    n_kv_heads: int
    head_dim: int
    rows: int
    """Length of the step."""
    capacity: int
    """Rows of the cache, a multiple of BLOCK."""

    def __post_init__(self) -> None:
        if self.capacity % BLOCK:
            raise CheckpointError(f"capacity {self.capacity}: the AF graph wants a multiple of {BLOCK}; round it up")

    @property
    def n_groups(self) -> int:
        """Query heads per K/V head."""
        return self.n_heads // self.n_kv_heads

    @property
    def padded(self) -> int:
        """head_dim in the cache."""
        return padded_head_dim(self.head_dim)


class GraphWriter:
    """Collects nodes and constants of a graph with constant shapes."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.initializers: dict[str, TensorProto] = {}

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant once."""
        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def shape(self, *dims: int) -> str:
        """Return a constant that holds a shape or a list of axes."""
        return self.constant("shape." + "x".join(map(str, dims)), np.array(dims, np.int64))

    def op(self, kind: str, inputs: Sequence[str], into: str, **attributes: Any) -> str:
        """Add a node with one output, named after it."""
        self.nodes.append(helper.make_node(kind, list(inputs), [into], name=f"{into}/{kind}", **attributes))
        return into

    def split(self, source: str, sizes: Sequence[int], into: Sequence[str], *, axis: int) -> None:
        """Add a node that cuts a tensor into several."""
        inputs = [source, self.shape(*sizes)]
        self.nodes.append(helper.make_node("Split", inputs, list(into), name=f"{into[0]}/Split", axis=axis))

    def model(self, name: str, inputs: Sequence[ValueInfoProto], outputs: Sequence[ValueInfoProto]) -> ModelProto:
        """Finish the graph."""
        graph = helper.make_graph(self.nodes, name, inputs, outputs, list(self.initializers.values()))
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="agentkit")


def floats(name: str, *dims: int) -> ValueInfoProto:
    """Declare an f32 input or output."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def blockwise_attention(writer: GraphWriter, name: str, shape: AttentionShape, *, q: str, new: str, cache: str) -> str:
    """Mix values of the cache and of the step's own rows; returns [n_kv_heads, n_groups * rows, padded].

    `q` is [n_kv_heads, n_groups * rows, padded], `new` [rows, n_kv_heads, 2 * padded], `cache` [capacity, n_kv_heads,
    2 * padded]. The graph's inputs `mask` [capacity / BLOCK, 1, BLOCK] and `causal` [1, n_groups * rows, rows] hold 0
    or HIDDEN.
    """
    n_blocks, heads, wide = shape.capacity // BLOCK, shape.n_kv_heads, 2 * shape.padded
    scaled = writer.op(
        "Mul", [q, writer.constant("scale", np.array([1 / math.sqrt(shape.head_dim)], np.float32))], f"{name}.q_scaled"
    )
    blocks = writer.op("Reshape", [cache, writer.shape(n_blocks, BLOCK, heads, wide)], f"{name}.blocks")
    by_head = writer.op("Transpose", [blocks], f"{name}.blocks_by_head", perm=[2, 0, 1, 3])  # one load: K and V
    own = writer.op("Reshape", [new, writer.shape(1, shape.rows, heads, wide)], f"{name}.own")
    own_by_head = writer.op("Transpose", [own], f"{name}.own_by_head", perm=[2, 0, 1, 3])
    queries = writer.op("Unsqueeze", [scaled, writer.shape(1)], f"{name}.queries")  # [heads, 1, groups * rows, padded]
    parts = [
        _block(writer, f"{name}.cached", shape, queries, by_head, "mask"),
        _block(writer, f"{name}.fresh", shape, queries, own_by_head, "causal"),
    ]
    highest, total, mixed = (
        writer.op("Concat", list(same), f"{name}.{what}", axis=1)
        for what, same in zip(("max", "sum", "mix"), zip(*parts, strict=True), strict=True)
    )
    return _across_blocks(writer, name, highest, total, mixed)


def _block(
    writer: GraphWriter, name: str, shape: AttentionShape, queries: str, rows: str, mask: str
) -> tuple[str, str, str]:
    """Softmax within each block; returns its maximum, its sum and its unscaled mix of values."""
    keys, values = f"{name}.k", f"{name}.v"
    writer.split(rows, [shape.padded, shape.padded], [keys, values], axis=3)
    turned = writer.op("Transpose", [keys], f"{name}.k_turned", perm=[0, 1, 3, 2])
    raw = writer.op("MatMul", [queries, turned], f"{name}.raw")
    scores = writer.op("Add", [raw, mask], f"{name}.scores")
    highest = writer.op("ReduceMax", [scores], f"{name}.max", axes=[3], keepdims=1)
    shifted = writer.op("Sub", [scores, highest], f"{name}.shifted")
    weights = writer.op("Exp", [shifted], f"{name}.weights")
    total = writer.op("ReduceSum", [weights, writer.shape(3)], f"{name}.sum", keepdims=1)
    return highest, total, writer.op("MatMul", [weights, values], f"{name}.mix")


def _across_blocks(writer: GraphWriter, name: str, highest: str, total: str, mixed: str) -> str:
    """Bring all blocks to one maximum and add them up; a block of hidden rows weighs nothing."""
    top = writer.op("ReduceMax", [highest], f"{name}.top", axes=[1], keepdims=1)
    lag = writer.op("Sub", [highest, top], f"{name}.lag")
    share = writer.op("Exp", [lag], f"{name}.share")
    weighed = [writer.op("Mul", [part, share], f"{part}.weighed") for part in (total, mixed)]
    sums = [writer.op("ReduceSum", [part, writer.shape(1)], f"{part}.all", keepdims=0) for part in weighed]
    return writer.op("Div", sums[::-1], f"{name}.attended")


def build_attention(shape: AttentionShape) -> ModelProto:
    """Build one attention alone, for measuring and checking it."""
    writer = GraphWriter()
    wide, n_rows = 2 * shape.padded, shape.n_groups * shape.rows
    blockwise_attention(writer, "layer", shape, q="q", new="new", cache="cache")
    inputs = [
        floats("q", shape.n_kv_heads, n_rows, shape.padded),
        floats("new", shape.rows, shape.n_kv_heads, wide),
        floats("cache", shape.capacity, shape.n_kv_heads, wide),
        *mask_inputs(shape),
    ]
    return writer.model("attention", inputs, [floats("layer.attended", shape.n_kv_heads, n_rows, shape.padded)])


def mask_inputs(shape: AttentionShape) -> list[ValueInfoProto]:
    """Declare the two masks: O(S) for the cache, and the step's own triangle."""
    return [
        floats("mask", shape.capacity // BLOCK, 1, BLOCK),
        floats("causal", 1, shape.n_groups * shape.rows, shape.rows),
    ]


def causal_mask(shape: AttentionShape) -> NDArray[np.float32]:
    """Return the step's own mask: a row sees itself and those before it."""
    is_later = np.arange(shape.rows)[None, :] > np.arange(shape.rows)[:, None]
    one = np.where(is_later, HIDDEN, np.float32(0)).astype(np.float32)  # [rows, rows] f32
    return np.ascontiguousarray(np.tile(one, (shape.n_groups, 1))[None])


def attention_shape(spec: DecoderSpec, *, rows: int, capacity: int) -> AttentionShape:
    """Take the shape from a model."""
    return AttentionShape(spec.n_heads, spec.n_kv_heads, spec.head_dim, rows, capacity)
