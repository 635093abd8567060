"""Clients that leave at every stage of a request, by hundreds: the server is as before and ends at a signal."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.e2e.process import STOP_WITHIN_S, Server

N_CLIENTS, N_AT_ONCE = 500, 8
TEXTS = ("turn on the kitchen light", "granny wants the floor lamp on", "我老花眼,请你把书桌灯打开一下吧", "")
"""For a template, for the model twice, and nothing."""
STAGES = ("connect", "half_a_line", "half_the_head", "no_body", "half_the_body", "at_once", "later", "half_an_answer")


def request_of(text: str, session: str) -> tuple[bytes, bytes]:
    body = json.dumps({"text": text, "session": session, "dry_run": True}).encode()
    head = (
        f"POST /v1/command HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    return head.encode() + b"\r\n\r\n", body


def leave(address: tuple[str, int], number: int) -> str:
    """Go as far as the stage says, then hang up, half of the time with a reset instead of a farewell."""
    rng = random.Random(number)
    stage, (head, body) = STAGES[number % len(STAGES)], request_of(rng.choice(TEXTS), f"s{rng.randrange(20)}")
    with socket.create_connection(address, timeout=30) as client:
        sent = {
            "connect": b"", "half_a_line": head[:9], "half_the_head": head[: len(head) // 2], "no_body": head,
            "half_the_body": head + body[: len(body) // 2],
        }.get(stage, head + body)  # fmt: skip
        with contextlib.suppress(ConnectionError):
            client.sendall(sent)
            if stage == "later":
                time.sleep(rng.random() * 0.2)
            if stage == "half_an_answer":
                client.recv(20)
        if rng.random() < 0.5:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return stage


def idle_decoder(server: Server) -> dict[str, Any]:
    """State of the decoder once nothing is on its way, which must be soon."""
    deadline = time.monotonic() + 10
    while True:
        with server.client() as client:
            decoder: dict[str, Any] = client.get("/healthz").json()["decoder"]
        if decoder["queue"]["n_active"] == decoder["queue"]["n_waiting"] == 0:
            return decoder
        assert time.monotonic() < deadline, decoder["queue"]


def test_after_500_disconnects_at_every_stage_a_command_works_and_a_signal_ends_it(
    servers: Callable[..., Server], tmp_path: Path
) -> None:
    server = servers(tmp_path)
    server.wait_ready()
    before = server.say("granny wants the floor lamp on", dry_run=True)
    parts = urlsplit(server.url)
    address = (parts.hostname or "", parts.port or 0)
    with ThreadPoolExecutor(N_AT_ONCE) as pool:
        stages = Counter(pool.map(lambda number: leave(address, number), range(N_CLIENTS)))
    assert min(stages.values()) >= N_CLIENTS // len(STAGES)

    after = server.say("granny wants the floor lamp on", dry_run=True)
    assert (after["say"], after["path"], after["outcome"]) == (before["say"], before["path"], before["outcome"])
    assert server.say("turn on the kitchen light")["outcome"] == "done"
    assert idle_decoder(server)["fallback_reason"] is None

    code, took_s = server.stop()
    assert code == 0
    assert took_s < STOP_WITHIN_S
    assert "Traceback" not in server.output
