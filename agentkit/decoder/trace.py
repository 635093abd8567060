"""Where the time of each token goes: every stage with its start and end, in memory taken beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class Stage(IntEnum):
    """The three stages of a step (rule A1)."""

    PRE = 0
    CORE = 1
    POST = 2


@dataclass(frozen=True)
class Span:
    """One stage of one step."""

    stage: Stage
    sequence: int
    """Number of the turn."""
    row: int
    """Position of the step's first token in its sequence."""
    n_valid: int
    start_s: float
    """On the clock of time.perf_counter."""
    end_s: float


class StageTrace:
    """Notes spans up to a number per stage and counts those beyond it; each stage has its own rows, so none waits."""

    def __init__(self, capacity: int = 20_000):
        self._capacity = capacity
        self._what = np.zeros((len(Stage), capacity, 3), np.int64)  # [stage, span, (sequence, row, n_valid)] i64
        self._when = np.zeros((len(Stage), capacity, 2), np.float64)  # [stage, span, (start, end)] f64 seconds
        self._n_noted = [0] * len(Stage)

    @property
    def n_dropped(self) -> int:
        """Spans that found no room."""
        return sum(max(0, n - self._capacity) for n in self._n_noted)

    def note(self, stage: Stage, what: tuple[int, int, int], start_s: float, end_s: float) -> None:
        """Note one span of (sequence, row, n_valid)."""
        at = self._n_noted[stage]
        if at < self._capacity:
            self._what[stage, at], self._when[stage, at] = what, (start_s, end_s)
        self._n_noted[stage] = at + 1

    def spans(self) -> Iterator[Span]:
        """Return everything noted, stage by stage."""
        for stage in Stage:
            for at in range(min(self._n_noted[stage], self._capacity)):
                sequence, row, n_valid = (int(number) for number in self._what[stage, at])
                start_s, end_s = (float(second) for second in self._when[stage, at])
                yield Span(stage, sequence, row, n_valid, start_s, end_s)
