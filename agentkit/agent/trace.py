"""The last turns as they went, for "why did you do that?"."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from datetime import datetime

from agentkit.types import Reply, Understanding, Utterance


@dataclass(frozen=True)
class TurnRecord:
    """One turn from end to end."""

    at: datetime
    utterance: Utterance
    understanding: Understanding | None
    """None if no tier was asked: an answer to a question, or nothing was said."""
    reply: Reply


class Trace:
    """Keeps the last turns of all sessions."""

    def __init__(self, n_turns: int):
        self._turns: deque[TurnRecord] = deque(maxlen=n_turns)
        self._lock = threading.Lock()

    def add(self, record: TurnRecord) -> None:
        """Keep a turn; the oldest makes room."""
        with self._lock:
            self._turns.append(record)

    def turns(self) -> tuple[TurnRecord, ...]:
        """All turns kept, oldest first."""
        with self._lock:
            return tuple(self._turns)

    def last(self, session: str | None = None) -> TurnRecord | None:
        """The newest turn, of one session if named."""
        return next((t for t in reversed(self.turns()) if session in (None, t.utterance.session)), None)
