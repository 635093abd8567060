"""The real server with the real model: start-up, warm-up and what only the model understands."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.process import STOP_WITHIN_S, Server, start

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start(tmp_path_factory.mktemp("state"))
    with contextlib.closing(server):
        server.wait_ready()
        yield server


def test_start_up_tells_plan_pools_and_an_example_before_ready(home: Server) -> None:
    printed = [line.split()[0] for line in home.lines[1:]]

    assert printed.index("plan") < printed.index("pools") < printed.index("warm") < printed.index("ready")
    pools = next(line for line in home.lines if line.startswith("pools"))
    assert all(f"{name} " in pools for name in ("weight", "cache", "temp"))
    assert any(line.startswith("try      curl -s http://127.0.0.1:") for line in home.lines)


def test_health_shows_the_target_and_sealed_pools(home: Server) -> None:
    with home.client() as client:
        decoder = client.get("/healthz").json()["decoder"]
        plan = client.get("/v1/plan").json()["plan"]

    assert decoder["target"] == plan["choices"][0]["target"] == "cpu_onnx"
    assert decoder["fallback_reason"] is None
    assert {name for name, pool in decoder["pools"].items() if pool["is_sealed"]} == {"weight", "cache", "temp"}
    assert plan["choices"][-1]["target"] == "reference"


def test_templates_answer_without_the_model(home: Server) -> None:
    before = _turns(home)
    reply = home.say("turn on the kitchen light")

    assert reply["path"] == "template"
    assert _turns(home) == before


def test_server_that_warms_up_is_alive_but_not_ready_and_ends_at_a_signal(
    servers: Callable[..., Server], tmp_path: Path
) -> None:
    server = servers(tmp_path)
    deadline = time.monotonic() + 30
    while not any(line.startswith("opening") for line in server.lines):
        assert time.monotonic() < deadline, server.output
        time.sleep(0.01)
    with server.client() as client:
        assert client.get("/livez").status_code == 200
        ready = client.get("/readyz")
        command = client.post("/v1/command", json={"text": "turn on the kitchen light"})

    code, took_s = server.stop()

    assert ready.status_code == 503
    assert command.status_code == 503
    assert int(command.headers["retry-after"]) >= 1
    assert code == 0
    assert took_s < STOP_WITHIN_S
    assert "Traceback" not in server.output


def _turns(home: Server) -> int:
    with home.client() as client:
        return int(client.get("/healthz").json()["decoder"]["n_turns"])
