"""What a compiled decoder is made of: nodes, and constants that are read only when they are written out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, ValueInfoProto, helper

MS = "com.microsoft"
"""Domain of ONNX Runtime's own operators."""


@dataclass(frozen=True)
class Constant:
    """One constant of the graph."""

    name: str
    shape: tuple[int, ...]
    dtype: type[np.generic]
    make: Callable[[], NDArray[Any]]
    """Reads and packs it; called once, when the bundle is written."""
    same_bytes_as: str | None = None
    """Another constant with the same bytes, which are then stored once."""
    is_looked_up: bool = False
    """Read row by row in each step; the others are packed once, when the graph is opened."""

    @property
    def n_bytes(self) -> int:
        """Size in the file."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass
class Graph:
    """A graph under construction."""

    nodes: list[NodeProto] = field(default_factory=list)
    inputs: list[ValueInfoProto] = field(default_factory=list)
    outputs: list[ValueInfoProto] = field(default_factory=list)
    constants: dict[str, Constant] = field(default_factory=dict)

    def constant(
        self, name: str, shape: Sequence[int], dtype: type[np.generic], make: Callable[[], NDArray[Any]], *,
        same_bytes_as: str | None = None, is_looked_up: bool = False,
    ) -> str:  # fmt: skip
        """Add a constant and return its name."""
        self.constants[name] = Constant(name, tuple(shape), dtype, make, same_bytes_as, is_looked_up)
        return name

    def node(
        self, op: str, inputs: Sequence[str], outputs: str | Sequence[str], *, domain: str = "", **attributes: Any
    ) -> str:
        """Add a node named after its first output, and return that."""
        names = [outputs] if isinstance(outputs, str) else list(outputs)
        name = f"{names[0]}/{op}"
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name, domain=domain, **attributes))
        return names[0]
