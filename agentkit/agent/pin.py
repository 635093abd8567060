"""The code that some actions need: compared in constant time, never shown, locked after a few wrong tries.

Wrong tries are counted over all sessions, so that nobody gets more of them by starting a new one.
"""

from __future__ import annotations

import hmac
import math
import re
import time
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from agentkit.agent.answers import without
from agentkit.agent.pin_memory import PinMemory, Tries
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.words import Words

HIDDEN = "····"
"""What the record of a turn shows instead of the code."""
MAX_WRONG = 3
LOCK_S = 300.0
MAX_LOCK_S = 86_400.0
"""Each lock without a right code in between is twice as long as the last, up to this."""
MAX_DOUBLINGS = 20


class PinLock:
    """Owns the code and the count of wrong tries."""

    def __init__(
        self,
        code: str | None,
        clock: Callable[[], float],
        memory: PinMemory = PinMemory(),  # noqa: B008 - frozen
        now: Callable[[], float] = time.time,
    ):
        """Go on where the last process ended; `now` is the time of day, which alone outlives a process."""
        self.code, self._clock, self._memory, self._now = code, clock, memory, now
        self._tries = memory.load() if code is not None else Tries()
        self._locked_until = clock() + self._tries.left_s(now())

    @property
    def is_locked(self) -> bool:
        """True without a code, and for a while after too many wrong tries."""
        if self.code is None or self._clock() < self._locked_until:
            return True
        self._keep(replace(self._tries, locked_s=0.0, until=math.inf))  # over for the next start, wherever its clock is
        return False

    def try_code(self, said: str) -> bool:
        """Compare a code; a right one forgets the wrong tries, the last wrong one locks."""
        if self.is_locked or self.code is None:
            return False
        if hmac.compare_digest(said.encode(), self.code.encode()):
            self._keep(Tries())
            return True
        tries = Tries(self._tries.n_wrong + 1, 0.0, self._tries.n_locks)
        if tries.n_wrong >= MAX_WRONG:
            locked_s = min(LOCK_S * 2 ** min(tries.n_locks, MAX_DOUBLINGS), MAX_LOCK_S)
            self._locked_until = self._clock() + locked_s
            tries = Tries(0, locked_s, tries.n_locks + 1, self._now() + locked_s)
        self._keep(tries)
        return False

    def _keep(self, tries: Tries) -> None:
        if tries != self._tries:
            self._tries = tries
            self._memory.save(tries)

    def masked(self, text: str) -> str:
        """The text as it may be kept: without the code, however its digits are set apart."""
        if self.code is None:
            return text
        return re.sub(r"[\W_]*".join(map(re.escape, self.code)), HIDDEN, unicodedata.normalize("NFKC", text))

    def __repr__(self) -> str:
        return f"PinLock(is_locked={self.is_locked})"


def read_code(text: Normalised, words: Words) -> str | None:
    """Read a spoken or typed code as digits; a yes may stand beside it. None if the text holds anything else."""
    digits = {fold(w, words): d for d, spoken in words.talk.digits.items() for w in spoken}
    folded = without(fold(text.original, words), words.yes, words)
    found = []
    for token in folded.split():
        parts = [token] if token.isascii() else list(token)
        for part in parts:
            if part.isascii() and part.isdigit():
                found.append(part)
            elif part in digits:
                found.append(digits[part])
            elif part not in words.fillers:
                return None
    return "".join(found) or None
