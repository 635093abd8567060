from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from agentkit.server.connection import Connection
from tests.server.conftest import Live
from tests.server.test_command import wait_until


class Strict(Connection):
    """Few connections and little time."""

    max_connections = 8
    header_timeout_s = 0.3


@pytest.fixture
def strict(start: Callable[..., Live]) -> Live:
    return start(http=Strict)


def dial(live: Live, sent: bytes = b"") -> socket.socket:
    host, port = live.url.removeprefix("http://").split(":")
    made = socket.create_connection((host, int(port)), timeout=5)
    made.sendall(sent)
    return made


def heard(connection: socket.socket) -> bytes:
    """All that comes until the server hangs up."""
    parts = iter(lambda: connection.recv(4096), b"")
    return b"".join(parts)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def error_in(answer: bytes) -> dict[str, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/json" in head
    error: dict[str, str] = json.loads(body)["error"]
    return error


def test_headers_that_never_come_end_the_connection(strict: Live, stack: ExitStack) -> None:
    silent = stack.enter_context(dial(strict))
    began = time.monotonic()
    assert heard(silent) == b""
    assert time.monotonic() - began < 2


def test_headers_that_drip_are_408_in_time(strict: Live, stack: ExitStack) -> None:
    slow = stack.enter_context(dial(strict, b"GET /livez HTTP/1.1\r\nhost: localhost\r\n"))
    began = time.monotonic()
    for _ in range(3):
        time.sleep(0.05)
        slow.sendall(b"x")
    assert error_in(heard(slow))["type"] == "RequestTimeout"
    assert time.monotonic() - began < 2


def test_headers_that_drip_after_an_answer_are_408_too(strict: Live, stack: ExitStack) -> None:
    slow = stack.enter_context(dial(strict, b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n"))
    assert slow.recv(4096).startswith(b"HTTP/1.1 200")
    slow.sendall(b"GET /li")
    assert b"408" in heard(slow)


def test_half_open_connections_make_room_for_who_asks(strict: Live, stack: ExitStack) -> None:
    for _ in range(400):
        stack.enter_context(dial(strict))
    with strict.client as client:
        assert client.get("/livez").status_code == 200
    assert len(strict.server.server_state.connections) <= Strict.max_connections


def test_bodies_that_never_come_make_room_for_who_asks(strict: Live, stack: ExitStack) -> None:
    head = b"POST /v1/command HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n"
    for _ in range(40):
        stack.enter_context(dial(strict, head))
    with strict.client as client:
        assert client.get("/livez").status_code == 200
    assert strict.agent.heard == []


def test_a_request_that_is_being_answered_never_makes_room(strict: Live, stack: ExitStack) -> None:
    body = b'{"text": "wait"}'
    head = b"POST /v1/command HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    request = head + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    asking = [stack.enter_context(dial(strict, request)) for _ in range(8)]
    wait_until(lambda: strict.service.worker.n_running + strict.service.worker.n_waiting == 8)

    refused = stack.enter_context(dial(strict))
    assert error_in(heard(refused))["type"] == "Busy"
    strict.agent.release.set()
    assert all(heard(one).startswith(b"HTTP/1.1 200") for one in asking)


@pytest.mark.parametrize("nonsense", [b"\x00\x01\x02\r\n\r\n", b"GET /\r\n\r\n"])
def test_what_is_no_http_is_400_in_the_shape_of_every_error(strict: Live, stack: ExitStack, nonsense: bytes) -> None:
    odd = stack.enter_context(dial(strict, nonsense))
    assert error_in(heard(odd))["type"] == "InvalidHttp"


def test_a_command_whose_client_hung_up_while_it_waited_is_not_run(live: Live, stack: ExitStack) -> None:
    def post(text: str) -> socket.socket:
        body = json.dumps({"text": text}).encode()
        head = b"POST /v1/command HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        return dial(live, head + b"content-length: %d\r\n\r\n" % len(body) + body)

    stack.enter_context(post("wait"))
    wait_until(lambda: live.service.worker.n_running == 1)
    gone = post("unlock the door")
    wait_until(lambda: live.service.worker.n_waiting == 1)
    gone.close()
    wait_until(lambda: live.service.worker.n_waiting == 0)
    live.agent.release.set()
    assert live.say("hello").status_code == 200
    assert [u.text for u in live.agent.heard] == ["wait", "hello"]
