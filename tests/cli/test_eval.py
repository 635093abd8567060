"""`agentkit eval` writes a prediction per record, and says in one line what it cannot use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentkit.cli.main import main

APP = Path(__file__).parents[2] / "apps" / "smart_home"
HOME = APP / "home.yaml"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {"id": "1", "source": "own", "utterance": "turn on the desk lamp", "home": None, "expected": "never read"},
        {"id": "2", "source": "own", "utterance": "打开前门", "home": None},
    ]
    (tmp_path / "own.dev.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return tmp_path


def run(data: Path, *more: str) -> int:
    out = str(data / "pred.jsonl")
    common = ["--app", str(APP), "--data", str(data), "--out", out, "--generic-home", str(HOME), "--no-model"]
    return main(["eval", *common, *more])


def predictions(data: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (data / "pred.jsonl").read_text("utf-8").splitlines()]


def test_every_record_gets_a_prediction(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(data, "--source", "own") == 0
    first, second = predictions(data)
    assert first["calls"] == [{"tool": "turn_on", "args": {}, "targets": ["light.desk"]}]
    assert second["outcome"] == "done"
    said = capsys.readouterr().out
    assert "2 predictions" in said
    assert "template 2 (100.0%)" in said
    assert "latency   all p50" in said


def test_the_apps_own_policy_asks_back(data: Path) -> None:
    assert run(data, "--source", "own", "--policy", "app") == 0
    assert [p["outcome"] for p in predictions(data)] == ["done", "ask"]


def test_a_limit_takes_the_first_records(data: Path) -> None:
    assert run(data, "--source", "own", "--limit", "1") == 0
    assert [p["id"] for p in predictions(data)] == ["1"]


@pytest.mark.parametrize("choice", [(), ("--suite", "core", "--source", "own")])
def test_one_of_suite_and_source_must_be_given(data: Path, choice: tuple[str, ...]) -> None:
    assert run(data, *choice) == 2


def test_an_unknown_source_names_those_there_are(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(data, "--source", "others") == 1
    assert "no source 'others'; there are own" in capsys.readouterr().err


def test_the_model_alone_answers_what_a_template_would(data: Path) -> None:
    home = ["--app", str(APP), "--data", str(data), "--generic-home", str(HOME)]
    assert main(["eval", *home, "--source", "own", "--model-alone", "--out", str(data / "alone.jsonl")]) == 0
    rows = [json.loads(line) for line in (data / "alone.jsonl").read_text("utf-8").splitlines()]
    assert {row["path"] for row in rows} == {"model"}
    assert rows[0]["calls"] == [{"tool": "turn_on", "args": {}, "targets": ["light.desk"]}]


def test_the_model_alone_needs_a_model(data: Path) -> None:
    assert run(data, "--source", "own", "--model-alone") == 2
