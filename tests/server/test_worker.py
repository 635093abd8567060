from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable

import pytest

from agentkit.errors import Busy
from agentkit.server.worker import Worker


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def test_a_call_whose_caller_went_while_it_waited_never_runs_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ran: list[str] = []
    release = threading.Event()

    async def scene() -> None:
        worker = Worker()
        first = asyncio.ensure_future(worker.run(lambda: release.wait(5)))
        await until(lambda: worker.n_running == 1)
        second = asyncio.ensure_future(worker.run(lambda: ran.append("gone")))
        third = asyncio.ensure_future(worker.run(lambda: ran.append("still there")))
        await until(lambda: worker.n_waiting == 2)
        second.cancel()
        await asyncio.wait([second])
        release.set()
        await asyncio.gather(first, third)

    with caplog.at_level(logging.WARNING):
        asyncio.run(scene())
    assert ran == ["still there"]
    assert "not run: its client hung up" in caplog.text


def test_a_call_that_waited_too_long_is_busy_at_once_and_never_runs() -> None:
    ran: list[str] = []
    release = threading.Event()

    async def scene() -> None:
        worker = Worker(max_wait_s=0.05)
        first = asyncio.ensure_future(worker.run(lambda: release.wait(5)))
        await until(lambda: worker.n_running == 1)
        with pytest.raises(Busy, match="was not run"):
            await worker.run(lambda: ran.append("late"))
        assert not first.done()
        release.set()
        await first

    asyncio.run(scene())
    assert ran == []


def test_calls_of_one_key_run_in_order_and_hold_up_no_other_key() -> None:
    ran: list[str] = []
    release = threading.Event()

    async def scene() -> None:
        worker = Worker(n_threads=3)
        slow = [
            asyncio.ensure_future(worker.run(lambda n=n: (release.wait(5), ran.append(f"slow {n}")), key="slow"))
            for n in range(5)
        ]
        await worker.run(lambda: ran.append("other"), key="other")
        for _ in range(100):  # a thread gives its answer before it is counted as idle
            if worker.n_running == 1:
                break
            await asyncio.sleep(0.01)
        assert worker.n_running == 1
        release.set()
        await asyncio.gather(*slow)

    asyncio.run(scene())
    assert ran == ["other", *(f"slow {n}" for n in range(5))]
