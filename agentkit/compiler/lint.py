"""Looks at a graph the way a chip's SDK would, before a board does (rule A8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import onnx
import yaml
from onnx import ModelProto, TensorProto, ValueInfoProto

from agentkit.errors import CheckpointError

CHIPS: Final = Path(__file__).with_name("chips.yaml")
CONTROL_FLOW: Final = ("If", "Loop", "Scan")
_MAX_EMBEDDED: Final = 2**31 - 1


@dataclass(frozen=True)
class Chip:
    """What one chip's SDK takes."""

    name: str
    sdk: str
    max_opset: int
    operators: frozenset[str]


@dataclass(frozen=True)
class Finding:
    """One thing that keeps a graph off a chip, or part of it."""

    rule: str
    """control_flow, shape, dtype, name, opset, operator, experimental or external."""
    where: str
    detail: str


def load_chips(path: Path = CHIPS) -> Mapping[str, Chip]:
    """Read the matrix of opsets, chips and SDKs."""
    raw = yaml.safe_load(path.read_text("utf-8"))
    return {
        name: Chip(name, chip["sdk"], chip["max_opset"], frozenset(chip["operators"])) for name, chip in raw.items()
    }


def find_chip(name: str) -> Chip:
    """Return a chip by name. Raises CheckpointError naming those that are known."""
    chips = load_chips()
    if name not in chips:
        raise CheckpointError(f"chip '{name}' is not known, known are {', '.join(chips)}; add it to chips.yaml")
    return chips[name]


def lint(model: ModelProto, chip: Chip) -> tuple[Finding, ...]:
    """Return everything about the graph that the chip's SDK would refuse or run elsewhere; empty = deployable."""
    inferred = onnx.shape_inference.infer_shapes(model)
    checks = (_operators, _opset, partial(_shapes, inferred=inferred), _names, _external)
    return tuple(finding for check in checks for finding in check(model, chip))


def _operators(model: ModelProto, chip: Chip) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for node in model.graph.node:
        if (node.domain, node.op_type) in seen:
            continue
        seen.add((node.domain, node.op_type))
        if node.op_type in CONTROL_FLOW:
            yield Finding("control_flow", node.name, f"{node.op_type} has no fixed schedule; unroll it")
        elif node.domain not in ("", "ai.onnx"):
            yield Finding("experimental", node.name, f"{node.domain}.{node.op_type} is no standard operator; lower it")
        elif node.op_type not in chip.operators:
            yield Finding("operator", node.name, f"{node.op_type} is not run by {chip.sdk}; it falls to the CPU")


def _opset(model: ModelProto, chip: Chip) -> Iterator[Finding]:
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version > chip.max_opset:
            yield Finding("opset", "graph", f"opset {opset.version}, {chip.sdk} reads up to {chip.max_opset}")


def _shapes(model: ModelProto, chip: Chip, *, inferred: ModelProto) -> Iterator[Finding]:
    graph = inferred.graph
    known = {value.name: value for value in (*graph.input, *graph.output, *graph.value_info)}
    constants = {constant.name for constant in graph.initializer}
    for name in dict.fromkeys(
        name for node in graph.node for name in (*node.input, *node.output) if name and name not in constants
    ):
        value = known.get(name)
        if value is None:
            yield Finding("shape", name, "its shape cannot be inferred; declare it")
        elif value.type.tensor_type.elem_type == TensorProto.UNDEFINED:
            yield Finding("dtype", name, "its type cannot be inferred; declare it")
        elif not _is_constant(value):
            yield Finding("shape", name, "its shape is not constant; build one graph per length")


def _is_constant(value: ValueInfoProto) -> bool:
    shape: Any = value.type.tensor_type
    return bool(shape.HasField("shape")) and all(dim.HasField("dim_value") for dim in shape.shape.dim)


def _names(model: ModelProto, chip: Chip) -> Iterator[Finding]:
    names = [name for node in model.graph.node for name in (node.name, *node.output) if name]
    for name, n_times in Counter(names).items():
        if n_times > 1:
            yield Finding("name", name, "the name comes twice; profilers and errors point to names")
    for name in names:
        if name.isdigit():
            yield Finding("name", name, "the name is a number; say where the tensor is")


def _external(model: ModelProto, chip: Chip) -> Iterator[Finding]:
    n_bytes = model.ByteSize()
    if n_bytes > _MAX_EMBEDDED:
        yield Finding("external", "graph", f"{n_bytes} bytes cannot be embedded; {chip.sdk} wants weights in the file")
    for constant in model.graph.initializer:
        if constant.data_location == TensorProto.EXTERNAL:
            yield Finding("external", constant.name, f"its data lies beside the graph; embed it for {chip.sdk}")
            return
