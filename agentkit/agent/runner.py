"""Runs foreign code (an app's functions, device adapters) under a time limit; nothing it does ends the turn."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Problem = Literal["timeout", "error", "hung"]


@dataclass(frozen=True)
class Ran:
    """How one call ended."""

    value: Any = None
    problem: Problem | None = None
    error: BaseException | None = None
    """What was raised, with problem "error"."""


class Runner:
    """Runs one function after the other, each in its own daemon thread, so a hung one never holds up the process.

    Python cannot stop a thread: one that is given up on stays until its function returns. After `max_hung` of those
    under one key, the key is refused at once ("hung") until one of them ends, so their number is bounded.
    """

    def __init__(self, *, max_hung: int = 3):
        self._max_hung = max_hung
        self._hung: Counter[str] = Counter()
        self._lock = threading.Lock()

    def call(self, key: str, function: Callable[[], Any], *, timeout_ms: float) -> Ran:
        """Run the function; whatever it raises comes back as a value."""
        with self._lock:
            if self._hung[key] >= self._max_hung:
                return Ran(problem="hung")
        job = _Job()
        threading.Thread(target=self._run, args=(key, function, job), daemon=True, name=f"agentkit {key}").start()
        job.done.wait(timeout_ms / 1000)
        with self._lock:
            if job.ran is None:
                job.is_given_up = True
                self._hung[key] += 1
                return Ran(problem="timeout")
            return job.ran

    def hung(self) -> dict[str, int]:
        """Count the threads that were given up on and still run, by key."""
        with self._lock:
            return dict(+self._hung)

    def _run(self, key: str, function: Callable[[], Any], job: _Job) -> None:
        try:
            ran = Ran(function())
        except BaseException as err:  # noqa: BLE001  edge: foreign code may raise anything, SystemExit too
            ran = Ran(problem="error", error=err)
        with self._lock:
            job.ran = ran
            job.done.set()
            if job.is_given_up:
                self._hung[key] -= 1


class _Job:
    """One call as its two threads share it, under the runner's lock."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.ran: Ran | None = None
        self.is_given_up = False
