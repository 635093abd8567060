"""Keeps a target that failed out of the way, and says when it is worth another try (rule B10)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FIRST_BACK_OFF_S = 30.0
MAX_BACK_OFF_S = 3600.0


@dataclass
class Breaker:
    """Open after a failure; each one that follows soon after a recovery doubles the time until the next try."""

    clock: Callable[[], float] = time.monotonic
    reason: str | None = None
    """Why it is open; None while it is closed."""
    n_failures: int = 0
    _back_off_s: float = 0.0
    _retry_at: float = 0.0
    _healed_at: float = 0.0

    @property
    def is_open(self) -> bool:
        """True while the target must not be used."""
        return self.reason is not None

    @property
    def is_due(self) -> bool:
        """True once an open breaker's target may be tried."""
        return self.is_open and self.clock() >= self._retry_at

    def trip(self, reason: str) -> None:
        """Note a failure."""
        now = self.clock()
        is_relapse = self.is_open or (self.n_failures > 0 and now - self._healed_at < self._back_off_s)
        self._back_off_s = min(MAX_BACK_OFF_S, 2 * self._back_off_s) if is_relapse else FIRST_BACK_OFF_S
        self._retry_at = now + self._back_off_s
        self.reason = reason
        self.n_failures += 1

    def close(self) -> None:
        """Let the target be used again."""
        self.reason, self._healed_at = None, self.clock()

    def describe(self) -> dict[str, Any]:
        """Return the state for health reports."""
        retry_s = round(max(0.0, self._retry_at - self.clock()), 1) if self.is_open else None
        return {"is_open": self.is_open, "reason": self.reason, "n_failures": self.n_failures, "retry_in_s": retry_s}
