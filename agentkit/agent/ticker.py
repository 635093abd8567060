"""The threads that carry out what is due."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from agentkit.agent.lines import side_by_side
from agentkit.agent.schedule import Schedule
from agentkit.planned import Entry

log = logging.getLogger(__name__)

MAX_WAIT_S = 20.0
"""The wall clock is looked at this often, in case somebody sets it."""
MAX_AT_ONCE = 16
"""Plans that wait for their devices at the same time; each may take as long as a turn."""
CLOSE_S = 1.0
"""How long the end waits for plans that run."""


class Ticker:
    """Waits for the next due moment and hands what is due to `fire`.

    Plans for the same device follow each other in the order in which they were due; those for others do not wait.
    """

    def __init__(self, schedule: Schedule, fire: Callable[[Entry], object]):
        self._schedule, self._fire = schedule, fire
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None
        self._free = threading.BoundedSemaphore(MAX_AT_ONCE)
        self._running: list[threading.Thread] = []

    def start(self) -> None:
        """Start the thread; calling it twice is harmless."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="schedule", daemon=True)
            self._thread.start()

    def tick(self) -> int:
        """Carry out what is due now, to its end, and return how much it was."""
        due = self._schedule.take_due()
        side_by_side([partial(self._fire_all, group) for group in groups(due)], n_threads=MAX_AT_ONCE)
        return len(due)

    def close(self) -> None:
        """End the thread; plans that run are waited for, but not for long."""
        self._is_over.set()
        self._schedule.wake()
        end = time.monotonic() + CLOSE_S
        for thread in (self._thread, *self._running):
            if thread is not None and thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))

    def _run(self) -> None:
        while not self._is_over.is_set():
            for group in groups(self._schedule.take_due()):
                self._free.acquire()
                self._running = [t for t in self._running if t.is_alive()]
                thread = threading.Thread(target=self._fire_and_free, args=(group,), name="plan", daemon=True)
                self._running.append(thread)
                thread.start()
            self._schedule.wait_for_due(MAX_WAIT_S, self._is_over.is_set)

    def _fire_and_free(self, entries: Sequence[Entry]) -> None:
        try:
            self._fire_all(entries)
        finally:
            self._free.release()

    def _fire_all(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            try:
                self._fire(entry)
            except Exception:  # edge: one plan that breaks must not keep the others from running
                log.exception("%s broke while it was carried out", entry.id)


def groups(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Put together, in their order, the entries that share a device, or that may because they name none by its id."""
    found: list[tuple[set[str], list[Entry]]] = []
    for entry in entries:
        ids = {i for intent in entry.intents for i in intent.selector.device_ids}
        if any(not intent.selector.device_ids for intent in entry.intents):
            ids.add("")
        met = [group for group in found if group[0] & ids]
        for group in met:
            found.remove(group)
        earlier = [e for _, listed in met for e in listed]
        found.append((ids.union(*(known for known, _ in met)), [*earlier, entry]))
    return [group for _, group in found]
