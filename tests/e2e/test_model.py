"""The real server with a larger model in place of its own: start-up, warm-up and what only the model understands."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.process import STOP_WITHIN_S, Server, start

pytestmark = pytest.mark.model
SMOLLM2 = ("--config", "model=SmolLM2-135M-Instruct")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start(tmp_path_factory.mktemp("state"), *SMOLLM2)
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

    assert decoder["target"] == plan["choices"][0]["target"]
    assert decoder["fallback_reason"] is None
    assert {name for name, pool in decoder["pools"].items() if pool["is_sealed"]} == {"weight", "cache", "temp"}
    assert plan["choices"][-1]["target"] == "reference"


def test_templates_answer_without_the_model(home: Server) -> None:
    before = _turns(home)
    reply = home.say("turn on the kitchen light")

    assert reply["path"] == "template"
    assert _turns(home) == before


@pytest.mark.parametrize(
    ("text", "device_id"),
    [("i would like coffee machine switched to on", "switch.coffee_machine"), ("我要书桌灯亮着", "light.desk")],
)
def test_sentence_that_no_template_knows_is_asked_about_by_the_model(home: Server, text: str, device_id: str) -> None:
    assert home.device(device_id)["state"] == "off"

    asked = home.say(text)
    reply = home.say("yes", session=asked["session"])

    assert (asked["path"], asked["outcome"]) == ("model", "ask")
    assert reply["outcome"] == "done"
    assert [(a["device_id"], a["status"]) for a in reply["actions"]] == [(device_id, "done")]
    assert home.device(device_id)["state"] == "on"


def test_guess_of_the_model_is_asked_about_first(home: Server) -> None:
    asked = home.say("my bike repair wants the garage light")
    before = home.device("light.garage")["state"]
    done = home.say("yes", session=asked["session"])

    assert (asked["path"], asked["outcome"]) == ("model", "ask")
    assert before == "off"
    assert done["outcome"] == "done"
    assert home.device("light.garage")["state"] == "on"


def test_static_prompt_is_run_before_the_first_sentence(home: Server) -> None:
    reply = home.say("sing me a song about the sea")

    assert reply["path"] == "model"
    assert reply["ok"] is False
    assert reply["timing_ms"]["model.n_cached"] > 0.9 * reply["timing_ms"]["model.n_prompt"]


def test_server_that_warms_up_is_alive_but_not_ready_and_ends_at_a_signal(
    servers: Callable[..., Server], tmp_path: Path
) -> None:
    server = servers(tmp_path, *SMOLLM2)
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
