"""Runs foreign code (an app's functions, device adapters) under a time limit; nothing it does ends the turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Literal

Problem = Literal["timeout", "error", "hung"]
MAX_DOUBLINGS = 10


@dataclass(frozen=True)
class Ran:
    """How one call ended."""

    value: Any = None
    problem: Problem | None = None
    error: BaseException | None = None
    """What was raised, with problem "error"."""


class Runner:
    """Runs functions in daemon threads, one at a time in each, so a hung one never holds up the process.

    A thread whose function has ended waits for the next one for `linger_s`: a turn calls several, and starting a thread
    takes longer than most of them.

    Python cannot stop a thread: one that is given up on stays until its function returns. After `max_hung` of those
    under one key, the key is refused at once ("hung") until one of them ends or, because it may be well again, for
    `recover_s`; each further one that hangs doubles that time, so their number stays small.
    """

    def __init__(
        self,
        *,
        max_hung: int = 3,
        recover_s: float = 60,
        linger_s: float = 1,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._max_hung, self._recover_s, self._linger_s, self._clock = max_hung, recover_s, linger_s, clock
        self._hung: dict[str, _Hung] = {}
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[_Job]] = []
        """The queues of threads that wait for work; who takes one out of here must put a job into it."""

    def call(self, key: str, function: Callable[[], Any], *, timeout_ms: float) -> Ran:
        """Run the function; whatever it raises comes back as a value. Without any time it is not even started."""
        if timeout_ms <= 0:
            return Ran(problem="timeout")
        with self._lock:
            hung = self._hung.get(key)
            if hung is not None and hung.n >= self._max_hung and self._clock() < hung.refused_until:
                return Ran(problem="hung")
        job = _Job(key, function)
        self._start(job)
        job.done.acquire(timeout=timeout_ms / 1000)
        with self._lock:
            if job.ran is None:
                job.is_given_up = True
                self._give_up(key)
                return Ran(problem="timeout")
            return job.ran

    def hung(self) -> dict[str, int]:
        """Count the threads that were given up on and still run, by key."""
        with self._lock:
            return {key: hung.n for key, hung in self._hung.items()}

    def _give_up(self, key: str) -> None:
        hung = self._hung.setdefault(key, _Hung())
        hung.n += 1
        doublings = min(max(0, hung.n - self._max_hung), MAX_DOUBLINGS)
        hung.refused_until = self._clock() + self._recover_s * 2**doublings

    def _start(self, job: _Job) -> None:
        with self._lock:
            jobs = self._idle.pop() if self._idle else None
        if jobs is None:
            jobs = SimpleQueue()
            threading.Thread(target=self._work, args=(jobs,), daemon=True).start()
        jobs.put(job)

    def _work(self, jobs: SimpleQueue[_Job]) -> None:
        """Run jobs until none has come for a while."""
        while True:
            try:
                self._run(jobs.get(timeout=self._linger_s), jobs)
            except Empty:
                with self._lock:
                    if jobs in self._idle:
                        self._idle.remove(jobs)
                        return
                # else it was taken just now: its job is on the way

    def _run(self, job: _Job, jobs: SimpleQueue[_Job]) -> None:
        threading.current_thread().name = f"agentkit {job.key}"
        try:
            ran = Ran(Context().run(job.function))  # nothing that a function leaves in its context meets the next one
        except BaseException as err:  # noqa: BLE001  edge: foreign code may raise anything, SystemExit too
            ran = Ran(problem="error", error=err)
        with self._lock:
            job.ran = ran
            self._idle.append(jobs)
            job.done.release()
            if job.is_given_up:
                self._hung[job.key].n -= 1
                if not self._hung[job.key].n:
                    del self._hung[job.key]


@dataclass
class _Hung:
    """Threads given up on under one key."""

    n: int = 0
    refused_until: float = 0.0


class _Job:
    """One call as its two threads share it, under the runner's lock."""

    def __init__(self, key: str, function: Callable[[], Any]) -> None:
        self.key, self.function = key, function
        self.done = threading.Lock()  # held until the function has ended
        self.done.acquire()
        self.ran: Ran | None = None
        self.is_given_up = False
