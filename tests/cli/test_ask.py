from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from agentkit.cli.main import main

APP = str(Path(__file__).parents[2] / "apps" / "smart_home")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENTKIT_STATE", str(tmp_path))
    return tmp_path


def ask(*arguments: str) -> int:
    return main(["ask", APP, *arguments, "--no-model"])


def test_command_is_done_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("turn on the kitchen light") == 0

    lines = capsys.readouterr().out.splitlines()
    assert "kitchen light" in lines[0]
    assert lines[1].split() == ["done", "turn_on", "light.kitchen", "→", "on"]
    assert lines[2].strip().startswith("done · template · ")


def test_state_is_kept_for_the_next_question(capsys: pytest.CaptureFixture[str]) -> None:
    ask("turn on the desk lamp")
    assert ask("is the desk lamp on?") == 0

    assert capsys.readouterr().out.splitlines()[-3].startswith("Yes")


def test_json_is_the_object_of_the_http_interface(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("打开厨房灯", "--json") == 0

    body = json.loads(capsys.readouterr().out)
    assert body["outcome"] == "done"
    assert body["language"] == "zh"
    assert body["actions"][0]["device_id"] == "light.kitchen"


def test_area_of_the_speaker_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("turn on the light", "--area", "garage", "--json") == 0

    body = json.loads(capsys.readouterr().out)
    assert [action["device_id"] for action in body["actions"]] == ["light.garage"]


def test_dry_run_moves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    ask("turn off the desk lamp")
    ask("turn on the desk lamp", "--dry-run")
    ask("is the desk lamp on?")

    assert capsys.readouterr().out.splitlines()[-3].startswith("No")


def test_what_is_not_done_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("flurb the gronk") == 1
    assert capsys.readouterr().out.splitlines()[0]


def test_question_back_is_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("unlock the front door") == 0
    assert "ask · template" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([""], ["text is empty"]),
        (["turn\x07 on"], ["U+0007"]),
        (["x" * 5000], ["5000", "500"]),
        (["turn on the light", "--area", "attic"], ["attic", "kitchen"]),
        (["hello", "--config", "limits.max_text_char=3"], ["max_text_chars"]),
    ],
)
def test_input_that_cannot_be_taken_is_one_line(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*arguments) == 1

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert all(word in lines[0] for word in words), lines


def test_chat_keeps_the_conversation_and_explains(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["/why", "unlock the front door", "yes", "/why", "/area attic", "/area kitchen", "/nonsense", "", "/quit"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))

    assert main(["chat", APP, "--no-model"]) == 0

    text = capsys.readouterr().out
    assert "nothing has been said yet" in text
    assert "unlock lock.front_door → unlocked" in text
    assert "call    unlock() → lock.front_door" in text
    assert "error: area: 'attic' is not an area" in text
    assert "you are in kitchen" in text


def test_chat_ends_with_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("turn on the kitchen light\n"))

    assert main(["chat", APP, "--no-model"]) == 0
