"""`agentkit test` plays the dialogues of an app, tells what is not as written, and its exit code says so too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentkit.cli.main import main
from agentkit.cli.new import write_app

WRONG = "- turns: [{say: turn on the north fan, outcome: done, states: {fan.north: 'off'}}]\n"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    write_app(tmp_path / "greenhouse")
    return tmp_path / "greenhouse"


def test_dialogues_of_a_new_app_pass_with_all_their_mutations(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(app), "--mutate"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["file", "passed", "failed", "gaps", "same", "safe", "wrong"]
    assert lines[-1].startswith("4 dialogues: 4 passed, 0 failed; ")
    assert lines[-1].endswith(" 0 wrong")


def test_a_failure_is_one_line_and_exit_code_1(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (app / "tests" / "more.yaml").write_text(WRONG)
    assert main(["test", str(app)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "more.yaml:1: turn 1 “turn on the north fan”: wanted fan.north state = off, got on" in lines[-2]
    assert lines[-1] == "5 dialogues: 4 passed, 1 failed"


def test_only_the_named_files_are_run(app: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.yaml").write_text(WRONG)
    assert main(["test", str(app), str(tmp_path / "one.yaml")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 dialogues: 0 passed, 1 failed"


def test_report_is_written_for_programs(app: Path, tmp_path: Path) -> None:
    (app / "tests" / "more.yaml").write_text(WRONG)
    assert main(["test", str(app), "--json", str(tmp_path / "r.json"), "--mutate", "--seed", "3"]) == 1
    body = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert body["seed"] == 3
    first, second = body["files"]
    assert (first["passed"], second["passed"]) == (4, 0)
    assert second["failed"][0]["wanted"] == "fan.north state = off"
    assert first["mutations"]["polite"]["wrong"] == 0


def test_report_that_cannot_be_written_is_one_line(
    app: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", str(app), "--json", str(tmp_path / "no" / "r.json")]) == 1
    assert "choose another --json" in capsys.readouterr().err


def test_a_mistake_in_a_dialogue_ends_before_anything_runs(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (app / "tests" / "more.yaml").write_text("- turns: [{say: x}]\n")
    assert main(["test", str(app)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "more.yaml:1: missing key 'outcome'" in captured.err
