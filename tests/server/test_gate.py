from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from agentkit.errors import AddressInUse, ServerError
from agentkit.server.gate import Limits
from agentkit.server.serve import bind
from tests.server.conftest import Live
from tests.server.test_command import error_of


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.5:8765", "", "[::1", "a@b"])
def test_foreign_host_name_is_refused(live: Live, host: str) -> None:
    with live.client as client:
        response = client.get("/v1/devices", headers={"host": host})

    assert response.status_code == 403
    assert "this machine" in error_of(response)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1234", "127.0.0.1", "127.0.0.2:80", "[::1]:8765", "LOCALHOST"]
)
def test_own_host_names_are_let_in(live: Live, host: str) -> None:
    with live.client as client:
        assert client.get("/v1/devices", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://[", "file://"])
def test_post_from_another_site_is_refused_and_does_nothing(live: Live, origin: str) -> None:
    with live.client as client:
        response = client.post("/v1/command", json={"text": "hello"}, headers={"origin": origin})

    assert response.status_code == 403
    assert "another site" in error_of(response)
    assert live.agent.heard == []


def test_fetch_metadata_of_another_site_is_refused(live: Live) -> None:
    with live.client as client:
        response = client.delete("/v1/devices/light.sink", headers={"sec-fetch-site": "cross-site"})

    assert response.status_code == 403


def test_page_of_this_server_may_post(live: Live) -> None:
    with live.client as client:
        response = client.post("/v1/command", json={"text": "hello"}, headers={"origin": live.url})

    assert response.status_code == 200


def test_huge_declared_body_is_refused_before_it_is_sent(live: Live) -> None:
    parts = urlsplit(live.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5) as connection:
        connection.sendall(
            b"POST /v1/command HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 999999999\r\n\r\n"
        )
        answer = connection.makefile().read()

    assert answer.startswith("HTTP/1.1 413")
    assert "999999999" in answer


def test_body_that_never_arrives_is_408(start: Callable[..., Live]) -> None:
    live = start(limits=Limits(body_timeout_s=0.2))
    parts = urlsplit(live.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5) as connection:
        connection.sendall(b"POST /v1/command HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
        answer = connection.makefile().read()

    assert answer.startswith("HTTP/1.1 408")


def test_port_in_use_names_the_address_and_the_next_step(live: Live) -> None:
    port = urlsplit(live.url).port
    assert port is not None

    with pytest.raises(AddressInUse, match=rf"127\.0\.0\.1:{port} is in use.*--port {port + 1}"):
        bind("127.0.0.1", port)


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_other_addresses_than_loopback_are_not_served(address: str) -> None:
    with pytest.raises(ServerError, match="token"):
        bind(address, 0)
