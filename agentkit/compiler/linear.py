"""Adds one matrix product to a graph, in the form that the precision asks for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agentkit.compiler.checkpoint import BLOCK, Checkpoint, QuantBlocks
from agentkit.compiler.graph import MS, Graph
from agentkit.compiler.quantise import Form, block_rest, choose_form, pack_codes, pack_zeros, stack


class Linears:
    """Builds the products of one graph; remembers the matrix read last, because its constants are written in a row."""

    def __init__(self, graph: Graph, checkpoint: Checkpoint, precision: str):
        self._graph, self._checkpoint, self._precision = graph, checkpoint, precision
        self._last: tuple[tuple[str, ...], QuantBlocks] | None = None

    def blocks(self, names: Sequence[str], form: Form) -> QuantBlocks:
        """Read matrices into one, rows below rows."""
        key = tuple(names)
        if self._last is None or self._last[0] != key:
            self._last = key, stack(self._checkpoint, names, form)
        return self._last[1]

    def product(self, into: str, source: str, names: Sequence[str]) -> str:
        """Multiply `source` [..., columns] with the stacked matrices; returns `into` [..., all rows]."""
        form = choose_form(self._checkpoint, names, self._precision)
        shapes = [self._checkpoint.shape(name) for name in names]
        size = sum(shape[0] for shape in shapes), shapes[0][1]
        if form is Form.DENSE:
            return self._dense(into, source, names, size)
        if form is not Form.INT4_MINIMUM:
            return self.quantised(into, source, names, form, size)
        product = self.quantised(f"{into}.product", source, names, form, size)
        return self._graph.node("Add", [product, self._rests(into, source, names, size)], into)

    def _dense(self, into: str, source: str, names: Sequence[str], size: tuple[int, int]) -> str:
        tensor = self._checkpoint.tensor
        weight = self._graph.constant(
            f"{into}.weight", size[::-1], np.float32, lambda: np.concatenate([tensor(name) for name in names]).T
        )
        return self._graph.node("MatMul", [source, weight], into)

    def _rests(self, into: str, source: str, names: Sequence[str], size: tuple[int, int]) -> str:
        # The sum of each block of inputs, times what the block's minimum adds to its weights. A pool is one kernel
        # where a sum over a reshaped input is two; the mean it takes is made good in the constant.
        rows, columns = size
        rest = self._graph.constant(
            f"{into}.rest",
            (columns // BLOCK, rows),
            np.float32,
            lambda: block_rest(self.blocks(names, Form.INT4_MINIMUM)) * np.float32(BLOCK),
        )
        means = self._graph.node("AveragePool", [source], f"{into}.means", kernel_shape=[BLOCK], strides=[BLOCK])
        return self._graph.node("MatMul", [means, rest], f"{into}.rests")

    def quantised(
        self, into: str, source: str, names: Sequence[str], form: Form, size: tuple[int, int], *,
        codes_as: str | None = None, scale_as: str | None = None,
    ) -> str:  # fmt: skip
        """Multiply with matrices in blocks; `*_as` name constants with the same bytes."""
        (rows, columns), n_bits = size, 8 if form is Form.INT8 else 4
        n_blocks, graph = columns // BLOCK, self._graph
        codes = graph.constant(
            f"{into}.codes",
            (rows, n_blocks, BLOCK * n_bits // 8),
            np.uint8,
            lambda: pack_codes(self.blocks(names, form)),
            same_bytes_as=codes_as,
        )
        scale = graph.constant(
            f"{into}.scale",
            (rows * n_blocks,),
            np.float32,
            lambda: self.blocks(names, form).scale,
            same_bytes_as=scale_as,
        )
        inputs = [source, codes, scale]
        if form is Form.INT4_ZERO:
            zeros = (rows * (-(-n_blocks // 2)),)
            inputs.append(
                graph.constant(f"{into}.zeros", zeros, np.uint8, lambda: pack_zeros(self.blocks(names, form)))
            )
        # accuracy level 4: inputs are rounded to 8 bits per block, as other runtimes of these formats do too
        attributes = {"N": rows, "K": columns, "bits": n_bits, "block_size": BLOCK, "accuracy_level": 4}
        return graph.node("MatMulNBits", inputs, into, domain=MS, **attributes)
