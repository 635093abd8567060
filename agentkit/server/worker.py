"""Runs the synchronous agent outside the event loop: a bounded queue in front of few threads."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from agentkit.errors import Abandoned, Busy

Result = TypeVar("Result")
log = logging.getLogger("agentkit.server")

MAX_WAIT_S = 30.0


@dataclass(frozen=True, eq=False)
class _Job:
    call: Callable[[], Any]
    key: str | None
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    queued_at: float

    @property
    def waited_s(self) -> float:
        return time.perf_counter() - self.queued_at


class Worker:
    """Jobs start in the order they come; those of one key never overlap, so a slow one holds up only its own.

    Threads are daemons, because a handler that hangs must not keep the process from ending, and start as needed.
    """

    def __init__(self, *, n_threads: int = 1, max_waiting: int = 64, max_wait_s: float = MAX_WAIT_S):
        self.max_waiting, self._max_wait_s, self._n_threads = max_waiting, max_wait_s, n_threads
        self._jobs: deque[_Job] = deque()
        self._busy_keys: set[str] = set()
        self._changed = threading.Condition()
        self._n_running = self._n_started = 0

    @property
    def n_waiting(self) -> int:
        """Jobs that no thread has taken yet."""
        return len(self._jobs)

    @property
    def n_running(self) -> int:
        """Jobs that a thread works on now."""
        return self._n_running

    async def run(self, call: Callable[[], Result], *, key: str | None = None) -> tuple[Result, float]:
        """Run the call in turn and return its result and the milliseconds it waited.

        Raises Busy if too many wait, or if it had to wait too long; it never runs then, nor if the caller is cancelled
        before it began.
        """
        loop = asyncio.get_running_loop()
        job = _Job(call, key, loop.create_future(), loop, time.perf_counter())
        with self._changed:
            if len(self._jobs) >= self.max_waiting:
                raise Busy(f"{self.max_waiting} requests wait already; try again in a second")
            self._jobs.append(job)
            self._changed.notify()
            if self._n_started < min(self._n_threads, self._n_running + len(self._jobs)):
                threading.Thread(target=self._serve, name=f"turn-{self._n_started}", daemon=True).start()
                self._n_started += 1
        timer = loop.call_later(self._max_wait_s, self._expire, job)
        try:
            return cast(tuple[Result, float], await job.future)
        except asyncio.CancelledError:
            if self._drop(job):
                log.warning("a request was not run: its client hung up after it had waited %.1f s", job.waited_s)
            raise
        finally:
            timer.cancel()

    def _expire(self, job: _Job) -> None:
        if self._drop(job) and not job.future.done():
            log.warning("a request was not run: it had waited %.1f s", job.waited_s)
            message = f"waited {self._max_wait_s:g} s behind other requests and was not run; try again later"
            job.future.set_exception(Busy(message))

    def _drop(self, job: _Job) -> bool:
        """Take a job out of the queue; False if a thread has it already."""
        with self._changed:
            is_waiting = job in self._jobs
            if is_waiting:
                self._jobs.remove(job)
            return is_waiting

    def _serve(self) -> None:
        while True:
            with self._changed:
                while (job := self._next()) is None:
                    self._changed.wait()
                self._jobs.remove(job)
                self._n_running += 1
                self._busy_keys |= {job.key} if job.key is not None else set()
            try:
                _finish(job)
            finally:
                with self._changed:
                    self._n_running -= 1
                    self._busy_keys -= {job.key}  # this thread takes what waited for the key, or what is next

    def _next(self) -> _Job | None:
        return next((job for job in self._jobs if job.key is None or job.key not in self._busy_keys), None)


def _finish(job: _Job) -> None:
    waited_ms = job.waited_s * 1000
    result: Any = None
    error: Exception | None = None
    try:
        result = job.call()
    except Exception as err:  # noqa: BLE001 - an edge: whoever awaits the job gets it
        error = err
    if isinstance(error, Abandoned):
        log.warning("a request was not run: %s", error)
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        job.loop.call_soon_threadsafe(_settle, job.future, (result, waited_ms), error)


def _settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
