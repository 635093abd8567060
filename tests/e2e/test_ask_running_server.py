"""`agentkit ask` and `chat` beside a running server act on the one home there is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from agentkit.state import own
from tests.e2e.process import APP, ROOT, Server


def agentkit(*arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agentkit.cli.main", *arguments]
    return subprocess.run(command, cwd=ROOT, input=said, capture_output=True, text=True, encoding="utf-8", timeout=60)


def test_ask_moves_the_device_of_the_server(home: Server) -> None:
    done = agentkit("ask", APP, "turn on the garage light", "--state", home.state)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == ["Turned on the garage light.", "  done    turn_on light.garage → on"]
    assert home.device("light.garage")["state"] == "on"


def test_json_of_ask_is_the_answer_of_the_server(home: Server) -> None:
    body = json.loads(agentkit("ask", APP, "关闭车库灯", "--json", "--state", home.state).stdout)

    assert (body["outcome"], body["language"]) == ("done", "zh")
    assert home.device("light.garage")["state"] == "off"


def test_chat_keeps_its_conversation_on_the_server(home: Server) -> None:
    said = "unlock the back door\nyes\n/why\n/area attic\n/devices\n"
    done = agentkit("chat", APP, "--state", home.state, said=said)

    assert done.returncode == 0
    assert "unlock lock.back_door → unlocked" in done.stdout
    assert "call    unlock() → lock.back_door" in done.stdout
    assert "error: area: 'attic' is not an area" in done.stdout
    assert home.device("lock.back_door")["state"] == "unlocked"


def test_what_is_not_done_is_exit_code_1(home: Server) -> None:
    assert agentkit("ask", APP, "flurb the gronk", "--state", home.state).returncode == 1
    refused = agentkit("ask", APP, "", "--state", home.state)
    assert refused.returncode == 1
    assert "text" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_options_that_cannot_count_are_told(home: Server) -> None:
    done = agentkit("ask", APP, "turn on the desk lamp", "--no-model", "--state", home.state)

    assert done.returncode == 0
    assert done.stderr.startswith("note: the server at http://127.0.0.1:")


def test_killed_server_leaves_nothing_in_the_way(servers: Callable[..., Server], tmp_path: Path) -> None:
    server = servers(tmp_path, "--no-model")
    server.wait_ready()
    server.process.kill()
    server.process.wait()

    done = agentkit("ask", APP, "turn on the desk lamp", "--no-model", "--state", str(tmp_path))

    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "server.json").exists()


def test_folder_of_an_owner_that_serves_nothing_is_one_error_and_no_success(tmp_path: Path) -> None:
    with own(tmp_path):
        done = agentkit("ask", APP, "turn on the desk lamp", "--no-model", "--state", str(tmp_path))

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {tmp_path}: another agentkit uses it")
    assert len(done.stderr.splitlines()) == 1
