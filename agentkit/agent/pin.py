"""The code that some actions need: compared in constant time, never shown, locked after a few wrong tries.

Wrong tries are counted over all sessions, so that nobody gets more of them by starting a new one.
"""

from __future__ import annotations

import hmac
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.words import Words

HIDDEN = "····"
"""What the record of a turn shows instead of the code."""
MAX_WRONG = 3
LOCK_S = 300.0
MAX_LOCK_S = 86_400.0
"""Each lock without a right code in between is twice as long as the last, up to this."""


@dataclass
class PinLock:
    """Owns the code and the count of wrong tries."""

    code: str | None
    clock: Callable[[], float]
    n_wrong: int = 0
    locked_until: float = 0.0
    lock_s: float = LOCK_S

    @property
    def is_locked(self) -> bool:
        """True without a code, and for a while after too many wrong tries."""
        return self.code is None or self.clock() < self.locked_until

    def try_code(self, said: str) -> bool:
        """Compare a code; a right one forgets the wrong tries, the last wrong one locks."""
        if self.is_locked or self.code is None:
            return False
        if hmac.compare_digest(said.encode(), self.code.encode()):
            self.n_wrong, self.lock_s = 0, LOCK_S
            return True
        self.n_wrong += 1
        if self.n_wrong >= MAX_WRONG:
            self.n_wrong, self.locked_until = 0, self.clock() + self.lock_s
            self.lock_s = min(2 * self.lock_s, MAX_LOCK_S)
        return False

    def masked(self, text: str) -> str:
        """The text as it may be kept: without the code, however its digits are set apart."""
        if self.code is None:
            return text
        return re.sub(r"[\W_]*".join(map(re.escape, self.code)), HIDDEN, unicodedata.normalize("NFKC", text))

    def __repr__(self) -> str:
        return f"PinLock(is_locked={self.is_locked})"


def read_code(text: Normalised, words: Words) -> str | None:
    """Read a spoken or typed code as digits. None if the text holds anything else."""
    digits = {fold(w, words): d for d, spoken in words.talk.digits.items() for w in spoken}
    folded = fold(text.original, words)
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
