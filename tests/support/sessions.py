"""Opens the tiny model, and breaks it on purpose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from agentkit.decoder.backend import Logits, Session, SessionOptions, TokenIds
from agentkit.decoder.memory_pool import Pools
from agentkit.errors import StepFailed
from runtimes.reference import BACKEND

OPTIONS = SessionOptions(max_seq_len=256, n_slots=2, buckets=(1, 4, 16, 32))


def open_reference(checkpoint: Path, options: SessionOptions = OPTIONS) -> Session:
    """Open a checkpoint on the reference target."""
    pools = Pools.from_sizes(BACKEND.plan(checkpoint, options))
    return BACKEND.open(checkpoint, options, pools=pools, cache_dir=checkpoint.parent)


class RecordingSession:
    """A real session that notes its steps and can be told to fail."""

    def __init__(self, session: Session, *, on_step: Callable[[int, Logits], None] = lambda n, logits: None):
        """`on_step` gets the step's number and its logits; it may change them or raise."""
        self.spec, self.options, self.sizes, self.kv = session.spec, session.options, session.sizes, session.kv
        self.steps: list[tuple[int, int]] = []
        """(bucket, n_valid) of each step."""
        self.is_closed = False
        self._session, self._on_step = session, on_step

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        logits = self._session.step(token_ids, n_valid, slot=slot)
        self.steps.append((len(token_ids), n_valid))
        self._on_step(len(self.steps), logits)
        return logits

    def close(self) -> None:
        self.is_closed = True
        self._session.close()


def fail_from(first: int) -> Callable[[int, Logits], None]:
    """Raise in step `first` and every later one, after the rows were written."""

    def fail(n_steps: int, logits: Logits) -> None:
        if n_steps >= first:
            raise StepFailed("the driver reported error 42; check the device")

    return fail


def spoil_from(first: int, value: float) -> Callable[[int, Logits], None]:
    """Fill the logits of step `first` and every later one with a value."""

    def spoil(n_steps: int, logits: Logits) -> None:
        if n_steps >= first:
            logits[:] = np.float32(value)

    return spoil
