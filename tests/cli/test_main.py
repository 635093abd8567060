from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from agentkit import __version__
from agentkit.cli import common
from agentkit.cli.main import COMMANDS, main
from agentkit.errors import AgentKitError

ROOT = Path(__file__).parents[2]


def test_the_package_runs_as_a_module() -> None:
    said = subprocess.run([sys.executable, "-m", "agentkit", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"agentkit {__version__}\n"


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"agentkit {__version__}\n"


@pytest.mark.parametrize("command", [(name,) for name, _, _ in COMMANDS] + [("models",), ("models", "pull")])
def test_every_command_shows_an_example(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0

    text = capsys.readouterr().out
    assert "Example: agentkit" in text or command == ("models",)
    assert "Usage:" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["aks"], ["aks", "agentkit --help"]),
        (["ask"], ["APP", "agentkit ask --help"]),
        (["run", "apps/smart_home", "--prot", "1"], ["--prot", "--port", "agentkit run --help"]),
        (["run", "apps/smart_home", "--port", "70000"], ["--port", "65535"]),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert all(word in lines[0] for word in words), lines


def test_unknown_app_is_one_line_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "apps/smart_hom", "hello"]) == 1

    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("error: apps/smart_hom: no such app folder")
    assert "Traceback" not in captured.err


def test_debug_shows_the_traceback_before_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "apps/smart_hom", "hello", "--debug"]) == 1

    text = capsys.readouterr().err
    assert "Traceback" in text
    assert text.splitlines()[-1].startswith("error: ")


def test_bug_is_one_line_that_names_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    def command(_state: common.State) -> int:
        raise ZeroDivisionError("two\nlines")

    assert common.run_guarded(command) == 1
    assert capsys.readouterr().err == (
        "error: internal error, ZeroDivisionError: two lines; run again with --debug and report it\n"
    )


def test_error_of_several_lines_is_shown_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    def command(_state: common.State) -> int:
        raise AgentKitError("first\n  second")

    assert common.run_guarded(command) == 1
    assert capsys.readouterr().err == "error: first second\n"


def test_interrupt_is_exit_code_130() -> None:
    def command(_state: common.State) -> int:
        raise KeyboardInterrupt

    assert common.run_guarded(command) == 130


def test_help_is_quick() -> None:
    """In processor time, which other work on the machine stretches less."""
    command = [sys.executable, "-m", "agentkit.cli.main", "--help"]
    best_s = 9.0
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best_s = min(best_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    assert best_s < 0.4


def test_closed_pipe_is_no_traceback() -> None:
    command = f"{sys.executable} -m agentkit.cli.main plan --help | true"

    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, env={**os.environ})

    assert "Traceback" not in done.stderr
