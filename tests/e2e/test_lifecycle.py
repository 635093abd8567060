"""Start, end and restart of the real process."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.little_device import LittleDevice
from tests.e2e.process import STOP_WITHIN_S, Server

Start = Callable[..., Server]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_idle_server_ends_at_a_signal(servers: Start, tmp_path: Path, number: int) -> None:
    server = servers(tmp_path, "--no-model")
    server.wait_ready()

    code, took_s = server.stop(number)

    assert code == 0
    assert took_s < STOP_WITHIN_S
    assert server.lines[-1] == "stopped, state saved"
    assert "Traceback" not in server.output


def test_server_ends_while_a_device_hangs(servers: Start, tmp_path: Path, lamp: Callable[..., LittleDevice]) -> None:
    server, device = servers(tmp_path, "--no-model"), lamp("hangs")
    server.wait_ready()
    with server.client() as client:
        client.post("/v1/devices", json=device.registration("light.stone", "Stone lamp"))
    with ThreadPoolExecutor(1) as pool, server.client() as client:
        asking = pool.submit(client.post, "/v1/command", json={"text": "turn on the stone lamp"})
        assert device.got_command.wait(10)
        code, took_s = server.stop()
        response = asking.result(10)

    assert code == 0
    assert took_s < STOP_WITHIN_S
    assert response.status_code == 503
    assert "unknown" in response.json()["error"]["message"]
    assert "Traceback" not in server.output


def test_server_ends_while_clients_hold_connections_open(servers: Start, tmp_path: Path) -> None:
    server = servers(tmp_path, "--no-model")
    server.wait_ready()
    parts = urlsplit(server.url)
    address = (parts.hostname or "", parts.port or 0)
    with socket.create_connection(address), socket.create_connection(address) as half:
        half.sendall(b"POST /v1/command HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
        time.sleep(0.1)
        code, took_s = server.stop()

    assert code == 0
    assert took_s < STOP_WITHIN_S


def test_registered_devices_and_last_states_survive_a_restart(
    servers: Start, tmp_path: Path, lamp: Callable[..., LittleDevice]
) -> None:
    device = lamp()
    first = servers(tmp_path, "--no-model")
    first.wait_ready()
    with first.client() as client:
        client.post("/v1/devices", json=device.registration("light.reef", "Reef lamp"))
        client.delete("/v1/devices/light.garden")
    first.say("turn on the kitchen light")
    first.stop()

    second = servers(tmp_path, "--no-model")
    second.wait_ready()

    assert second.device("light.kitchen")["state"] == "on"
    assert second.device("light.garden")["error"]["type"] == "DeviceUnknown"
    assert second.say("turn on the reef lamp")["outcome"] == "done"
    assert device.state == "on"


def test_killed_server_has_lost_no_registration(servers: Start, tmp_path: Path) -> None:
    first = servers(tmp_path, "--no-model")
    first.wait_ready()
    with first.client() as client:
        client.post("/v1/devices", json={"id": "light.reef", "name": "Reef lamp", "type": "light", "state": "off"})
    first.process.kill()
    first.process.wait()

    second = servers(tmp_path, "--no-model")
    second.wait_ready()

    assert second.device("light.reef")["name"] == "Reef lamp"


def test_states_that_cannot_be_written_at_the_end_are_one_line_and_exit_code_1(servers: Start, tmp_path: Path) -> None:
    server = servers(tmp_path, "--no-model")
    server.wait_ready()
    (tmp_path / "devices.json.part").mkdir()  # the file cannot be written any more
    server.say("turn on the kitchen light")
    code, _ = server.stop()

    assert code == 1
    assert server.lines[-1] == "stopped; the last states are not saved"
    assert server.lines[-2].startswith("ERROR")
    assert "devices.json cannot be written" in server.lines[-2]
    assert "Traceback" not in server.output


def test_port_in_use_is_one_line_with_the_next_step(servers: Start, tmp_path: Path) -> None:
    first = servers(tmp_path / "first", "--no-model")
    port = urlsplit(first.url).port

    second = servers(tmp_path / "second", "--no-model", "--port", str(port))
    code = second.process.wait(20)
    second.close()

    assert code == 1
    assert len(second.lines) == 1
    assert second.lines[0].startswith(f"error: 127.0.0.1:{port} is in use")
    assert "--port" in second.lines[0]


def test_two_servers_do_not_share_one_state_folder(servers: Start, tmp_path: Path) -> None:
    first = servers(tmp_path, "--no-model")
    first.wait_ready()

    second = servers(tmp_path, "--no-model")
    code = second.process.wait(20)
    second.close()

    assert code == 1
    assert len(second.lines) == 1
    assert "--state" in second.lines[0]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--host", "0.0.0.0"], "token"),
        (["--config", "limits.max_text_char=5"], "max_text_chars"),
        (["--config", "model=no-such-model"], "no-such-model"),
        (["--config", "home=missing.yaml"], "missing.yaml"),
    ],
)
def test_start_that_cannot_work_is_one_error_line_and_exit_code_1(
    servers: Start, tmp_path: Path, options: list[str], word: str
) -> None:
    server = servers(tmp_path, *options)
    code = server.process.wait(30)
    server.close()

    assert code == 1
    assert server.lines[-1].startswith("error: ")
    assert word in server.lines[-1]
    assert sum(line.startswith("error") for line in server.lines) == 1
    assert "Traceback" not in server.output
