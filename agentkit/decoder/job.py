"""One turn on its way through the scheduler."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentkit.decoder.run import Run
from agentkit.decoder.turn import Turn


@dataclass(order=True)
class Job:
    """One turn, or one call that wants the target for itself, on its way."""

    priority: int
    number: int
    """Counts up; among equals the oldest goes first, and a replayed one keeps its place."""
    turn: Turn | None = field(compare=False)
    call: Callable[[], Any] | None = field(default=None, compare=False)
    result: Any = field(default=None, compare=False)
    run: Run | None = field(default=None, compare=False)
    """The run on the target that finished it; None if it was stopped in the queue."""
    error: BaseException | None = field(default=None, compare=False)
    target: str = field(default="", compare=False)
    fallback_reason: str | None = field(default=None, compare=False)
    begun_s: float | None = field(default=None, compare=False)
    """When it first left the queue, on the clock of time.perf_counter."""
    prefill_s: float = field(default=0.0, compare=False)
    decode_s: float = field(default=0.0, compare=False)
    is_interrupted: bool = field(default=False, compare=False)
    """The step in progress was ended for it."""
    done: threading.Event = field(default_factory=threading.Event, compare=False)

    def is_unwanted(self) -> bool:
        """Tell whether the turn is to end in the queue: cancelled, too late, or its own callback raised."""
        if self.turn is None:
            return False
        try:
            if not self.turn.is_stopped():
                return False
        except BaseException as err:  # noqa: BLE001 - it is the caller's own: it ends this turn and no other
            self.error = err
        self.turn.finish = "cancelled"
        return True
