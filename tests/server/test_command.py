from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.server.conftest import Live


def error_of(response: httpx.Response) -> str:
    """The message of an error, after checking the shape that every error has."""
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"type", "message"}
    message = body["error"]["message"]
    assert isinstance(message, str)
    assert "\n" not in message
    return message


def test_answer_has_every_field_of_the_contract(live: Live) -> None:
    response = live.say("turn on the sink light", area="kitchen", session="s1")

    assert response.status_code == 200
    body = response.json()
    assert set(body) == {
        *(
            "outcome",
            "ok",
            "say",
            "actions",
            "calls",
            "expects_reply",
            "session",
            "language",
            "path",
            "why",
            "timing_ms",
        )
    }
    assert body["outcome"] == "done"
    assert body["ok"] is True
    assert body["session"] == "s1"
    assert body["say"] == "Done. 好的。"
    action = {"tool": "turn_on", "args": {}, "device_id": "light.sink", "status": "done"}
    assert {key: body["actions"][0][key] for key in action} == action
    assert body["calls"] == [{"tool": "turn_on", "args": {}, "targets": ["light.sink"]}]
    assert body["timing_ms"]["total"] == 1.25


def test_utterance_carries_what_the_client_said(live: Live) -> None:
    live.say("hello", area="kitchen", session="s1", language="zh", user="Ann", dry_run=True)

    heard = live.agent.heard[0]
    assert (heard.area, heard.session, heard.language, heard.user) == ("kitchen", "s1", "zh", "Ann")
    assert heard.is_dry_run
    assert heard.source == "http"


def test_clients_without_a_session_do_not_share_one(live: Live) -> None:
    sessions = {live.say("hello").json()["session"] for _ in range(3)}

    assert len(sessions) == 3


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": ""}, ["text", "empty"]),
        ({"text": " \n "}, ["text", "empty"]),
        ({"text": "turn\x00 on"}, ["text", "U+0000"]),
        ({"text": "turn \x1b[2J on"}, ["text", "U+001B"]),
        ({"text": 5}, ["text", "string"]),
        ({}, ["text", "missing"]),
        ({"text": "hi", "aera": "kitchen"}, ["aera", "area"]),
        ({"text": "hi", "area": "cellar"}, ["cellar", "kitchen, hall"]),
        ({"text": "hi", "language": "xx"}, ["language", "en"]),
        ({"text": "hi", "session": "../../etc"}, ["session"]),
        ({"text": "hi", "dry_run": "yes"}, ["dry_run"]),
    ],
)
def test_malformed_request_is_422_and_names_the_field(live: Live, fields: dict[str, Any], words: list[str]) -> None:
    with live.client as client:
        response = client.post("/v1/command", json=fields)

    assert response.status_code == 422
    message = error_of(response)
    assert all(word in message for word in words), message
    assert live.agent.heard == []


def test_half_a_surrogate_pair_is_422(live: Live) -> None:
    with live.client as client:
        response = client.post(
            "/v1/command", content=b'{"text": "hi \\ud800"}', headers={"content-type": "application/json"}
        )

    assert response.status_code == 422
    assert "U+D800" in error_of(response)


@pytest.mark.parametrize("body", [b"{", b"[1]", b'"x"', b"null", b"", b"[" * 60_000, b'{"text": ' + b"1" * 6000 + b"}"])
def test_body_that_is_no_json_object_is_one_clear_line(live: Live, body: bytes) -> None:
    with live.client as client:
        response = client.post("/v1/command", content=body, headers={"content-type": "application/json"})

    assert response.status_code in (400, 422)
    assert len(error_of(response)) < 300


@pytest.mark.parametrize("body", [b"{", b"[1,", b'{"text": }'])
def test_malformed_json_is_400(live: Live, body: bytes) -> None:
    with live.client as client:
        response = client.post("/v1/command", content=body, headers={"content-type": "application/json"})

    assert response.status_code == 400
    assert response.json()["error"]["type"] == "InvalidJson"


def test_body_in_another_encoding_is_400_with_the_place(live: Live) -> None:
    content = '{"text": "开灯"}'.encode("gb18030")
    with live.client as client:
        response = client.post("/v1/command", content=content, headers={"content-type": "application/json"})

    assert response.status_code == 400
    assert "UTF-8 (byte 10)" in error_of(response)


def test_form_data_is_refused_with_the_next_step(live: Live) -> None:
    with live.client as client:
        response = client.post("/v1/command", data={"text": "hi"})

    assert response.status_code == 422
    assert "application/json" in error_of(response)


def test_text_that_is_too_long_is_413_with_both_sizes(live: Live) -> None:
    response = live.say("灯" * 10_000)

    assert response.status_code == 413
    assert "10000" in error_of(response)
    assert str(live.service.max_text_chars) in error_of(response)


def test_body_that_is_too_large_is_413_with_both_sizes(live: Live) -> None:
    with live.client as client:
        response = client.post("/v1/command", json={"text": "x" * 70_000})

    n_bytes = len(json.dumps({"text": "x" * 70_000}, separators=(",", ":")))
    assert response.status_code == 413
    assert str(n_bytes) in error_of(response)
    assert "65536" in error_of(response)


def test_chunked_body_is_counted_while_it_is_read(live: Live) -> None:
    def chunks() -> Any:
        for _ in range(80):
            yield b" " * 1024

    with live.client as client:
        response = client.post("/v1/command", content=chunks(), headers={"content-type": "application/json"})

    assert response.status_code == 413
    assert "65536" in error_of(response)
    assert live.say("hello").status_code == 200


def test_before_ready_a_command_is_503_with_retry_after(start: Callable[..., Live]) -> None:
    live = start(is_started=False)

    response = live.say("hello")

    assert response.status_code == 503
    assert int(response.headers["retry-after"]) >= 1
    assert "starting" in error_of(response)


def test_past_the_queue_a_command_is_429_with_retry_after(start: Callable[..., Live]) -> None:
    live = start(max_waiting=1)
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(live.say, "wait")
        wait_until(lambda: live.service.worker.n_running == 1)
        waiting = pool.submit(live.say, "hello")
        wait_until(lambda: live.service.worker.n_waiting == 1)

        response = live.say("one too many")
        live.agent.release.set()

        assert response.status_code == 429
        assert int(response.headers["retry-after"]) >= 1
        assert error_of(response)
        assert running.result().status_code == 200
        assert waiting.result().status_code == 200


def test_server_answers_other_routes_while_a_turn_hangs(live: Live) -> None:
    thread = threading.Thread(target=live.say, args=("wait",))
    thread.start()
    wait_until(lambda: live.service.worker.n_running == 1)

    with live.client as client:
        assert client.get("/livez").status_code == 200
        assert client.get("/v1/devices").status_code == 200
    live.agent.release.set()
    thread.join()


def test_bug_in_a_turn_is_500_without_its_text_and_the_next_turn_works(live: Live) -> None:
    response = live.say("break")

    assert response.status_code == 500
    assert "RuntimeError" in error_of(response)
    assert "a bug" not in error_of(response)
    assert live.say("hello").status_code == 200


def test_twenty_clients_at_once_are_all_answered(live: Live) -> None:
    with ThreadPoolExecutor(20) as pool:
        responses = list(pool.map(lambda n: live.say(f"hello {n}", session=f"s{n}"), range(20)))

    assert [r.status_code for r in responses] == [200] * 20
    assert [r.json()["session"] for r in responses] == [f"s{n}" for n in range(20)]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
