"""Keeps the wrong tries at the code over a restart: whoever guesses must not get more of them by ending the process."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentkit.devices.store import write_atomically

log = logging.getLogger(__name__)

UNKNOWN_S = 300.0
"""How long codes are refused where the file does not tell."""


@dataclass(frozen=True)
class Tries:
    """What is remembered of wrong codes; never a code."""

    n_wrong: int = 0
    """Wrong codes since the last right one or lock."""
    locked_s: float = 0.0
    """For how long codes are refused since the last wrong one, until that is over."""
    n_locks: int = 0
    """Locks since the last right code."""
    until: float = math.inf
    """When that is over, in seconds since 1970; inf = nobody knows."""

    def left_s(self, now: float) -> float:
        """For how long codes are still refused; never longer than the lock, wherever the clock was set meanwhile."""
        return max(0.0, min(self.locked_s, self.until - now))


@dataclass(frozen=True)
class PinMemory:
    """One JSON file."""

    path: Path | None = None
    """None = nothing outlives the process."""

    def load(self) -> Tries:
        """Read the file; one that cannot be read counts as locked once, because it may hide that."""
        if self.path is None:
            return Tries()
        try:
            return _checked(json.loads(self.path.read_text("utf-8")))
        except FileNotFoundError:
            return Tries()
        except (OSError, ValueError, RecursionError) as err:
            reason = err.strerror if isinstance(err, OSError) else err
            log.warning(
                "%s: cannot be read (%s), wanted n_wrong, locked_s and n_locks; codes are refused as after a lock, and "
                "the next right one writes it anew",
                self.path,
                reason,
            )
            return Tries(0, UNKNOWN_S, 1)

    def save(self, tries: Tries) -> None:
        """Write the file. What cannot be written is logged: the code has to work on a full disk, too."""
        if self.path is None:
            return
        try:
            row = {k: v for k, v in asdict(tries).items() if v != math.inf}
            write_atomically(self.path, json.dumps(row))
        except OSError as err:
            log.error(
                "%s cannot be written (%s); wrong codes are forgotten at the next start", self.path, err.strerror or err
            )


def _checked(row: Any) -> Tries:
    """Raises ValueError."""
    values = [row.get(k) for k in ("n_wrong", "locked_s", "n_locks")] if isinstance(row, dict) else []
    values.append(row.get("until", math.inf) if values else None)
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool) and v >= 0]
    if len(numbers) != 4 or max(numbers[:3]) >= 1e9:
        raise ValueError("it is no record of wrong codes")
    until = float(numbers[3]) if numbers[3] < 1e12 else math.inf
    return Tries(int(numbers[0]), float(numbers[1]), int(numbers[2]), until)
