"""Notices a target that does not come back from a step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from agentkit.errors import AgentKitError

HANG_S = 30.0
"""No step takes that long, not even the largest bucket on a slow board that is busy with something else."""


class GivenUp(AgentKitError):
    """Raised in a thread whose target came back after it had been given up; nobody waits for it any more."""


class Watch:
    """Stands around every call into a target; the time is read by whoever waits for the answer."""

    def __init__(self, *, limit_s: float = HANG_S, clock: Callable[[], float] = time.monotonic):
        self._limit_s, self._clock = limit_s, clock
        self._lock = threading.Lock()
        self._since: float | None = None
        self._is_given_up = False

    def __enter__(self) -> None:
        self._since = self._clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._since = None
            if self._is_given_up:
                raise GivenUp("the target came back too late; its step was run elsewhere")

    def give_up_if_hung(self) -> bool:
        """Tell whether a call has lasted past the limit; then whoever made it stays out of everything after it."""
        with self._lock:
            is_hung = self._since is not None and self._clock() - self._since > self._limit_s
            self._is_given_up = self._is_given_up or is_hung
            return is_hung

    def describe(self) -> str:
        """The limit, for messages."""
        return f"{self._limit_s:g} s"
