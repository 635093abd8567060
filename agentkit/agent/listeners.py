"""Who wants to hear of timers and plans: edges that announce, show or log them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from agentkit.planned import Entry

log = logging.getLogger(__name__)

EventKind = Literal["added", "changed", "removed", "due"]


@dataclass(frozen=True)
class ScheduleEvent:
    """One thing that happened to an entry."""

    kind: EventKind
    entry: Entry
    number: int
    """Grows by one per event."""


Callback = Callable[[ScheduleEvent], None]


class Listeners:
    """Owns the callbacks and numbers the events. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callback] = []
        self._n_events = 0

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Add a callback; returns a function that ends it."""
        with self._lock:
            self._callbacks.append(callback)

        def unsubscribe() -> None:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return unsubscribe

    def note(self, kind: EventKind, entry: Entry, events: list[ScheduleEvent]) -> None:
        """Number an event and put it with those that are to be told once the change is kept."""
        with self._lock:
            self._n_events += 1
            events.append(ScheduleEvent(kind, entry, self._n_events))

    def notify(self, events: Sequence[ScheduleEvent]) -> None:
        """Tell everybody."""
        with self._lock:
            callbacks = tuple(self._callbacks)
        for event in events:
            for callback in callbacks:
                try:
                    callback(event)
                except Exception:  # a listener's fault must not keep a plan from running
                    log.exception("a listener failed on %s of %s", event.kind, event.entry.id)
