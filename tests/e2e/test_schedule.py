"""Plans of the real process: read and called off over HTTP, alive after kill -9, each run once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.process import Server

Start = Callable[..., Server]


def say(client: httpx.Client, text: str) -> dict[str, Any]:
    answer = client.post("/v1/command", json={"text": text, "area": "living_room"})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def state(client: httpx.Client, device_id: str) -> str:
    return str(client.get(f"/v1/devices/{device_id}").json()["state"])


def wait_for(condition: Callable[[], bool], timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_three_plans_survive_a_kill_and_each_runs_once(servers: Start, tmp_path: Path) -> None:
    first = servers(tmp_path, "--no-model")
    first.wait_ready()
    with first.client() as client:
        assert say(client, "turn off the kitchen light in 4 seconds")["outcome"] == "scheduled"
        assert say(client, "turn on the desk lamp in 5 seconds")["outcome"] == "scheduled"
        assert say(client, "set a pasta timer for 6 seconds")["outcome"] == "done"
        assert len(client.get("/v1/schedules").json()) == 2
    first.process.kill()
    first.process.wait(10)

    second = servers(tmp_path, "--no-model")
    second.wait_ready()
    with second.client() as client:
        wait_for(lambda: len(client.get("/v1/history").json()["due"]) == 3)
        time.sleep(0.5)
        history = client.get("/v1/history").json()["due"]
        ended = {row["say"]: row["outcome"] for row in history}  # what is due together ends in any order
        assert sorted(ended.values()) == ["finished", "fired", "fired"]
        assert ended["The pasta timer is over."] == "finished"
        assert (state(client, "light.kitchen"), state(client, "light.desk")) == ("off", "on")
        assert client.get("/v1/schedules").json() == client.get("/v1/timers").json() == []


def test_plans_and_timers_are_listed_and_called_off_over_http(servers: Start, tmp_path: Path) -> None:
    server = servers(tmp_path, "--no-model")
    server.wait_ready()
    with server.client() as client:
        say(client, "turn off the kitchen light in 10 minutes")
        say(client, "set a ten minute pasta timer")
        [plan], [timer] = client.get("/v1/schedules").json(), client.get("/v1/timers").json()
        assert plan["command"] == "turn off the kitchen light in 10 minutes"
        assert (timer["name"], timer["state"], timer["duration_s"]) == ("pasta", "running", 600)
        assert 590 < timer["left_s"] <= 600
        assert client.delete(f"/v1/schedules/{timer['id']}").status_code == 404
        assert client.delete(f"/v1/schedules/{plan['id']}").status_code == 204
        assert client.delete(f"/v1/schedules/{plan['id']}").status_code == 404
        assert client.delete(f"/v1/timers/{timer['id']}").status_code == 204
        assert client.get("/v1/schedules").json() == client.get("/v1/timers").json() == []
