"""Waiting lines by name: who came first is served first, and names do not wait for each other."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


class Lines:
    """Owns one line per name that somebody holds or waits for."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[object]] = {}
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, name: str, timeout_s: float | None = None) -> Iterator[bool]:
        """Wait for the turn under this name and keep it for the block; False if the time was up first."""
        ticket = object()
        with self._changed:
            line = self._lines.setdefault(name, deque())
            line.append(ticket)
        try:
            with self._changed:
                is_held = self._changed.wait_for(lambda: line[0] is ticket, timeout_s)
            yield is_held
        finally:
            with self._changed:
                line.remove(ticket)
                if not line:
                    del self._lines[name]
                self._changed.notify_all()


def side_by_side(jobs: Sequence[Callable[[], Result]], *, n_threads: int) -> list[Result]:
    """Run all jobs on at most so many threads; their results, in the order of the jobs.

    Returns when the last job has ended, so whoever sets a time limit sets it in the jobs. Raises what a job raised.
    """
    if min(len(jobs), n_threads) < 2:
        return [job() for job in jobs]
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    todo, lock = deque(enumerate(jobs)), threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not todo:
                    return
                number, job = todo.popleft()
            try:
                results[number] = job()
            except BaseException as err:  # noqa: BLE001 - an edge: raised in the thread that asked for it
                errors.append(err)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(n_threads, len(jobs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(jobs))]
