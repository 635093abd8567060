from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from agentkit.compiler.af_decoder import build_af_decoder
from agentkit.compiler.bundle import Target, ensure_bundle
from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.compiler.lint import find_chip, lint, load_chips
from agentkit.errors import CheckpointError
from tests.support.tiny import TINY, random_weights, write_gguf


@pytest.mark.parametrize("chip", load_chips())
@pytest.mark.parametrize("rows", [1, 16])
def test_the_af_graph_can_be_deployed_on_every_known_chip(chip: str, rows: int) -> None:
    model = build_af_decoder(TINY, random_weights().__getitem__, rows=rows, capacity=64)
    onnx.checker.check_model(model, full_check=True)
    assert lint(model, find_chip(chip)) == ()


def test_the_cpu_graph_is_refused_with_every_reason(tmp_path: Path) -> None:
    bundle = ensure_bundle(load_checkpoint(write_gguf(tmp_path / "tiny.gguf")), Target("f32", 128), tmp_path)
    found = lint(onnx.load(bundle.graph, load_external_data=False), find_chip("rk3588"))
    assert {finding.rule for finding in found} == {"experimental", "operator", "shape", "external"}
    assert any("GroupQueryAttention is no standard operator; lower it" in finding.detail for finding in found)
    assert any(finding.where == "token_ids" for finding in found if finding.rule == "shape")


def graph_of(*nodes: onnx.NodeProto, opset: int = 17) -> ModelProto:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        list(nodes), "g", [value("x", TensorProto.FLOAT, [2])], [value("y", TensorProto.FLOAT, [2])]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def test_opset_names_and_unknown_operators_are_found() -> None:
    first = helper.make_node("Erf", ["x"], ["7"], name="same")
    second = helper.make_node("Sqrt", ["7"], ["y"], name="same")
    found = lint(graph_of(first, second, opset=20), find_chip("rk3588"))
    assert [(finding.rule, finding.where) for finding in found] == [
        ("operator", "same"), ("opset", "graph"), ("name", "same"), ("name", "7"),
    ]  # fmt: skip


def test_control_flow_is_found() -> None:
    empty = helper.make_graph([], "body", [], [])
    node = helper.make_node("If", ["x"], ["y"], name="branch", then_branch=empty, else_branch=empty)
    model = graph_of()
    model.graph.node.append(node)
    assert "control_flow" in {finding.rule for finding in lint(model, find_chip("rk3588"))}


def test_an_unknown_chip_is_named_with_those_that_are_known() -> None:
    with pytest.raises(CheckpointError, match="chip 'abacus' is not known, known are rk3588"):
        find_chip("abacus")
