from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentkit.cli.main import main

APP = str(Path(__file__).parents[2] / "apps" / "smart_home")


def test_commands_are_said_and_memory_is_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["bench", "commands", "--app", APP, "--count", "30", "--no-model", "--json", "--out", str(tmp_path)])

    result = json.loads(capsys.readouterr().out)
    assert code == 0
    assert sum(figures["n"] for figures in result["ms"].values()) == 30
    assert result["ms"]["template"]["n"] > 15
    assert [n for n, _ in result["rss_mb"]] == [0, 30]
    assert json.loads((tmp_path / "commands.json").read_text("utf-8")) == result


@pytest.mark.parametrize(
    "command",
    [
        "compare",
        "session",
        "roofline",
        "commands",
        "start",
        "homes",
        "layer",
        "step",
        "system",
        "overlap",
        "reuse",
        "pareto",
        "all",
    ],
)
def test_help_shows_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", command, "--help"]) == 0
    assert f"Example: agentkit bench {command}" in " ".join(capsys.readouterr().out.split())


def test_unknown_model_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "session", "--model", "no-such-model"]) == 1
    assert "no-such-model" in capsys.readouterr().err


def test_a_start_is_timed_up_to_the_first_answer(capsys: pytest.CaptureFixture[str]) -> None:
    main(["bench", "start", "--app", APP, "--starts", "1", "--no-model", "--json"])

    (start,) = json.loads(capsys.readouterr().out)["starts"]
    assert start["outcome"] == "done"
    assert 0 < start["answered_s"] < 60
    assert 0 < start["ended_s"] < 3


def test_a_server_that_does_not_come_up_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "start", "--app", APP, "--config", "model=no-such-model"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "no-such-model" in line
