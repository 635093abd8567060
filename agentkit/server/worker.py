"""Runs the synchronous agent outside the event loop: a bounded queue in front of few threads."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from agentkit.errors import Busy

Result = TypeVar("Result")


@dataclass(frozen=True)
class _Job:
    call: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    queued_at: float


class Worker:
    """Threads are daemons: a handler that hangs must not keep the process from ending."""

    def __init__(self, *, n_threads: int = 1, max_waiting: int = 64):
        self.max_waiting = max_waiting
        self._jobs: queue.Queue[_Job] = queue.Queue(max_waiting)
        self._lock = threading.Lock()
        self._n_running = 0
        for number in range(n_threads):
            threading.Thread(target=self._serve, name=f"turn-{number}", daemon=True).start()

    @property
    def n_waiting(self) -> int:
        """Jobs that no thread has taken yet."""
        return self._jobs.qsize()

    @property
    def n_running(self) -> int:
        """Jobs that a thread works on now."""
        return self._n_running

    async def run(self, call: Callable[[], Result]) -> tuple[Result, float]:
        """Run the call in turn and return its result and the milliseconds it waited. Raises Busy."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        try:
            self._jobs.put_nowait(_Job(call, future, loop, time.perf_counter()))
        except queue.Full:
            raise Busy(f"{self.max_waiting} requests wait already; try again in a second") from None
        return cast(tuple[Result, float], await future)

    def _serve(self) -> None:
        while True:
            job = self._jobs.get()
            if job.future.cancelled():
                continue
            with self._lock:
                self._n_running += 1
            try:
                _finish(job)
            finally:
                with self._lock:
                    self._n_running -= 1


def _finish(job: _Job) -> None:
    waited_ms = (time.perf_counter() - job.queued_at) * 1000
    result: Any = None
    error: Exception | None = None
    try:
        result = job.call()
    except Exception as err:  # noqa: BLE001 - an edge: whoever awaits the job gets it
        error = err
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        job.loop.call_soon_threadsafe(_settle, job.future, (result, waited_ms), error)


def _settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
