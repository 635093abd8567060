"""`agentkit new` writes an app that works at once, in both languages, and does not do what was not asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentkit.cli.main import main


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setenv("AGENTKIT_STATE", str(tmp_path / "state"))
    folder = tmp_path / "apps" / "greenhouse"
    assert main(["new", str(folder)]) == 0
    assert f"agentkit run {folder}" in capsys.readouterr().out
    return folder


@pytest.mark.parametrize(
    ("text", "said", "action"),
    [
        ("turn on the north fan", "Turned on the north fan.", "turn_on fan.north → on"),
        ("please switch the lamp off", "Turned off the grow lamp.", "turn_off light.grow → off"),
        ("打开北风扇", "已打开北风扇。", "turn_on fan.north → on"),
        ("把补光灯关掉", "已关闭补光灯。", "turn_off light.grow → off"),
    ],
)
def test_new_app_does_what_is_said(
    app: Path, capsys: pytest.CaptureFixture[str], text: str, said: str, action: str
) -> None:
    assert main(["ask", str(app), text]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [said, f"  done    {action}"]


@pytest.mark.parametrize(
    "text",
    [
        "never turn on the north fan",
        "turn on the north fan if it is hot",
        "turn on everything except the north fan",
        "turn on the north fan at nine",
        "how do I turn on the north fan?",
        "she turned on the north fan",
        "不要打开北风扇",
        "如果太热就打开北风扇",
        "怎么打开北风扇",
    ],
)
def test_new_app_does_not_do_what_was_not_asked_for(app: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert main(["ask", str(app), text]) == 1
    assert "refused" in capsys.readouterr().out


def test_risky_part_of_the_new_app_is_asked_about(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", str(app), "start the water pump"]) == 0
    assert capsys.readouterr().out.startswith("Turn on the water pump?")


@pytest.mark.parametrize("reason", ["no device", "no tool"])
def test_refusals_of_the_new_app_are_sentences(app: Path, capsys: pytest.CaptureFixture[str], reason: str) -> None:
    text = {"no device": "turn on the south fan", "no tool": "juggle the north fan"}[reason]
    for line in (text, "把南风扇打开"):
        assert main(["ask", str(app), line]) == 1
        assert capsys.readouterr().out.splitlines()[0].endswith((".", "。"))


def test_tests_of_the_new_app_pass(app: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=app, capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_text("mine")])
def test_nothing_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], object]
) -> None:
    make(tmp_path / "mine")

    assert main(["new", str(tmp_path / "mine")]) == 1

    assert "exists already" in capsys.readouterr().err
    assert [p.name for p in tmp_path.rglob("*")] == ["mine"]


@pytest.mark.parametrize("name", ["..", "my app", "名", "-x"])
def test_name_that_cannot_be_used_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["new", "--", name]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_name_that_looks_like_a_number_stays_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTKIT_STATE", str(tmp_path / "state"))
    assert main(["new", str(tmp_path / "42")]) == 0
    assert main(["ask", str(tmp_path / "42"), "turn on the fan"]) == 0
