from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from agentkit.cli.main import app
from agentkit.errors import ConfigError, ManifestError


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", *arguments])


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentkit.planner.host.backend_names", lambda: ("cpu_onnx", "reference"))


def test_plan_for_a_board_names_choice_and_rejections() -> None:
    result = run("--device", "rk3588")
    assert result.exit_code == 0
    assert "1. cpu_onnx (q4_1)" in result.stdout
    assert "no npu_rknn (not_installed)" in result.stdout


def test_plan_as_json_names_board_and_choice() -> None:
    data = json.loads(run("--device", "rk3588", "--model", "SmolLM2-135M-Instruct", "--json").stdout)
    assert data["choices"][0]["target"] == "cpu_onnx"
    assert data["device"]["name"] == "rk3588"


def test_plan_that_finds_nothing_exits_with_1() -> None:
    result = run("--device", "rk3588", "--target", "npu_rknn")
    assert result.exit_code == 1
    assert "nothing can run it here" in result.stdout


def test_unknown_names_are_typed_errors() -> None:
    assert isinstance(run("--device", "rk35888").exception, ConfigError)
    assert isinstance(run("--model", "none").exception, ManifestError)


def test_help_shows_an_example_and_wrong_use_exits_with_2() -> None:
    assert "Example: agentkit plan" in run("--help").stdout
    assert run("--nonsense").exit_code == 2
