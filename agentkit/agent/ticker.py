"""The thread that carries out what is due."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from agentkit.agent.schedule import Schedule
from agentkit.planned import Entry

log = logging.getLogger(__name__)

MAX_WAIT_S = 20.0
"""The wall clock is looked at this often, in case somebody sets it."""


class Ticker:
    """Waits for the next due moment and hands what is due to `fire`, one after the other."""

    def __init__(self, schedule: Schedule, fire: Callable[[Entry], object]):
        self._schedule, self._fire = schedule, fire
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread; calling it twice is harmless."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="schedule", daemon=True)
            self._thread.start()

    def tick(self) -> int:
        """Carry out what is due now and return how much it was."""
        due = self._schedule.take_due()
        for entry in due:
            try:
                self._fire(entry)
            except Exception:  # edge: one plan that breaks must not keep the others from running
                log.exception("%s broke while it was carried out", entry.id)
        return len(due)

    def close(self) -> None:
        """End the thread; a plan that runs is waited for, but not for long."""
        self._is_over.set()
        self._schedule.wake()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(2.0)

    def _run(self) -> None:
        while not self._is_over.is_set():
            self.tick()
            self._schedule.wait_for_due(MAX_WAIT_S, self._is_over.is_set)
