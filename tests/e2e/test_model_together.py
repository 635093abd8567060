"""Several clients who all need the model, over HTTP against the real server: they share its slots."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.process import Server, start

ODD = [
    "granny wants the floor lamp on",
    "我老花眼,请你把书桌灯打开一下吧",
    "the floor lamp should light up for granny",
    "granny wants the desk lamp on",
]
"""Sentences that only a model can know; a dry run leaves the home as it is, so that answers can be compared."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start(tmp_path_factory.mktemp("state"))
    with contextlib.closing(server):
        server.wait_ready()
        yield server


def queue(home: Server) -> dict[str, int]:
    with home.client() as client:
        found: dict[str, int] = client.get("/healthz").json()["decoder"]["queue"]
    return found


def at_once(home: Server, texts: Sequence[str]) -> list[dict[str, Any]]:
    with ThreadPoolExecutor(len(texts)) as pool:
        return list(pool.map(lambda text: home.say(text, dry_run=True), texts))


def test_model_turns_of_different_sessions_share_the_decoder_and_answer_as_if_alone(home: Server) -> None:
    alone = [home.say(text, dry_run=True) for text in ODD]
    assert queue(home)["most_active"] == 1

    for _ in range(5):
        together = at_once(home, ODD)
        assert [reply["say"] for reply in together] == [reply["say"] for reply in alone]
        assert [reply["path"] for reply in together] == ["model"] * len(ODD)

    assert queue(home)["most_active"] == 2  # as many as there are slots, the others waited
    assert (queue(home)["n_active"], queue(home)["n_waiting"]) == (0, 0)


@pytest.mark.model
def test_a_template_is_not_held_up_by_a_model_that_thinks(servers: Callable[..., Server], tmp_path: Path) -> None:
    server = servers(tmp_path, "--config", "model=SmolLM2-135M-Instruct")
    server.wait_ready()
    with ThreadPoolExecutor(2) as pool:
        slow = [pool.submit(server.say, text, dry_run=True) for text in ("sing me a song about the sea", ODD[0])]
        deadline = time.monotonic() + 30
        while queue(server)["n_active"] == 0:
            assert time.monotonic() < deadline
        reply = server.say("turn on the kitchen light")
        n_left = sum(not turn.done() for turn in slow)
        assert all(turn.result(60)["path"] == "model" for turn in slow)
    assert (reply["path"], reply["outcome"]) == ("template", "done")
    assert n_left >= 1
    assert reply["timing_ms"]["total"] < 1000
