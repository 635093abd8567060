"""A plain loop beside a measurement: its tail is the machine's, whatever the target does."""

from __future__ import annotations

import time

import numpy as np

_BLOCK = np.ones(32_768, np.float32)
_SAMPLES_PER_TURN = 32


class PlainLoop:
    """Arithmetic on one thread, within the first caches, that takes about as long as what it stands beside."""

    def __init__(self) -> None:
        self.ms: list[float] = []
        self._n_sums = 0

    def turn(self, like_ms: float) -> None:
        """Time it some times; the first turn settles how long it is."""
        if not self._n_sums:
            self._n_sums = max(1, round(like_ms / min(_timed(1) for _ in range(20))))
        self.ms += [_timed(self._n_sums) for _ in range(_SAMPLES_PER_TURN)]

    @property
    def jitter(self) -> float | None:
        """P99 / P50; None before the first turn."""
        return float(np.percentile(self.ms, 99) / np.percentile(self.ms, 50)) if self.ms else None


def _timed(n_sums: int) -> float:
    started_s = time.perf_counter()
    for _ in range(n_sums):
        _BLOCK.sum()
    return (time.perf_counter() - started_s) * 1e3
