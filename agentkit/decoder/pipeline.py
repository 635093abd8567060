"""The three stages at work on several sequences: rings between them, four buffers in rotation (rules A1, A10, B9).

    scheduler → entry ┐
              ┌ ready ┴→ PRE → to_core → CORE → to_post → POST ┐
              └──────────────────← ready, free ←───────────────┘

One sequence alone is serial by nature, because its next token needs the one before. What overlaps is the host's work
for one sequence with the core-step of another: on a target that runs by itself (`submit` and `wait`) one thread keeps
all stages busy. On a CPU the core-step takes the cores anyway, so stages run one after the other; `Workers` gives each
stage a thread all the same, for measuring.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import Final

from agentkit.decoder.lane import Lane
from agentkit.decoder.ring import Ring
from agentkit.decoder.run import Run
from agentkit.decoder.steps import StepBuffer, finish_step, is_asynchronous, submit_step
from agentkit.decoder.watch import Watch
from agentkit.errors import StepCancelled, StepFailed

PATIENCE: Final = 8
"""Steps of others that a waiting sequence lets pass before it counts as one priority higher."""


class Pipeline:
    """The stages of one lane. `advance` moves every stage once; nothing in it waits but for the target."""

    def __init__(self, lane: Lane, *, watch: Watch, n_in_flight: int | None = None):
        """`n_in_flight` steps may be in the target at once; by default all buffers if it is asynchronous, else one."""
        n_buffers, n_runs = len(lane.buffers), lane.kv.n_slots
        self.lane, self.watch = lane, watch
        self.n_in_flight, self._max_shared_rows = n_in_flight or 1, sys.maxsize
        if is_asynchronous(lane.session):
            self.n_in_flight, self._max_shared_rows = n_in_flight or n_buffers, lane.session.max_shared_rows
            lane.session.abandon()  # what another pipeline left there would be run after its slot has moved on
        self.entry: Ring[Run] = Ring(n_runs)
        self._ready: Ring[Run] = Ring(n_runs)
        self._free: Ring[StepBuffer] = Ring(n_buffers)
        self._to_core: Ring[StepBuffer] = Ring(n_buffers)
        self._to_post: Ring[StepBuffer] = Ring(n_buffers)
        self._in_flight: Ring[StepBuffer] = Ring(n_buffers)
        self._waiting: list[Run] = []  # pre-step's own: sequences whose next step is known
        self.finished: deque[Run] = deque()
        for buffer in lane.buffers:
            buffer.owner = buffer.fence = None
            buffer.is_cancelled = False
            self._free.push(buffer)

    def advance(self) -> None:
        """Move what can be moved: prepare, hand to the target, wait for the oldest step, take its result.

        Raises StepFailed if the target fails, with every sequence where its last whole step left it.
        """
        # no more than the target takes: what is prepared early cannot be overtaken or stopped any more
        while len(self._to_core) + len(self._in_flight) < self.n_in_flight and self.pre():
            pass
        self.core()
        while self.post():
            pass

    def pre(self) -> bool:
        """Prepare one step; False if nothing is ready or no buffer is free."""
        self._collect()
        if not self._waiting:
            return False
        run = min(self._waiting, key=_urgency)
        if run.stop_if_wanted():
            self._waiting.remove(run)
            self.finished.append(run)
            return True
        if not self._may_join(run):
            return False
        buffer = self._free.pop()
        if buffer is None:
            return False
        self._waiting.remove(run)
        for other in self._waiting:
            other.n_skipped += 1
        run.n_skipped = 0
        run.pre(buffer)
        self._to_core.push(buffer)
        return True

    def _may_join(self, run: Run) -> bool:
        """Tell whether its step may be on its way together with those that are: short ones may, a long one goes alone.

        Whoever is most urgent is waited for, so that no long step is put off for ever by short ones.
        """
        rows = [buffer.chunk.bucket for buffer in self.lane.buffers if buffer.owner is not None]
        return not rows or max(*rows, run.n_rows) <= self._max_shared_rows

    def core(self) -> bool:
        """Begin as many steps as may be in flight, then end the oldest; False if there is none."""
        session = self.lane.session
        while len(self._in_flight) < self.n_in_flight:
            buffer = self._to_core.pop()
            if buffer is None:
                break
            with self.watch:
                submit_step(session, buffer)
            self._in_flight.push(buffer)
        buffer = self._in_flight.pop()
        if buffer is None:
            return False
        try:
            with self.watch:
                finish_step(session, buffer, buffer.owner.times)
        except StepCancelled:
            self._take_back(buffer)
            return True
        self._to_post.push(buffer)
        return True

    def _take_back(self, buffer: StepBuffer | None) -> None:
        """Send a cancelled step, and all that were to share its pass, back to where their sequences wait."""
        session = self.lane.session
        if is_asynchronous(session):
            session.abandon()
        while buffer is not None:
            buffer.is_cancelled, buffer.fence = True, None
            self._to_post.push(buffer)
            buffer = self._in_flight.pop()

    def post(self) -> bool:
        """Take one result; False if there is none. Raises StepFailed for numbers that cannot be right."""
        buffer = self._to_post.pop()
        if buffer is None:
            return False
        run: Run = buffer.owner
        is_cancelled, buffer.owner, buffer.is_cancelled = buffer.is_cancelled, None, False
        try:
            if not is_cancelled:
                run.post(buffer)
        except StepFailed:
            raise
        except BaseException as err:  # noqa: BLE001 - a callback may raise anything; its caller gets it
            run.error = err
        self._free.push(buffer)
        if run.is_over:
            self.finished.append(run)
        else:
            self._ready.push(run)
        return True

    def _collect(self) -> None:
        for ring in (self._ready, self.entry):
            while (run := ring.pop()) is not None:
                self._waiting.append(run)


def _urgency(run: Run) -> int:
    """Lower goes first; equal ones take turns, because the list is in the order of their last steps."""
    return run.priority - run.n_skipped // PATIENCE
