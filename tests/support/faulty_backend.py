"""The reference target with a driver that crashes: what a child process runs in tests."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from agentkit.decoder.backend import Logits, PoolSizes, Probe, Session, SessionOptions
from agentkit.decoder.memory_pool import Pools
from runtimes.reference import BACKEND as REFERENCE
from tests.support.sessions import RecordingSession

FATAL_STEP = 5


class Faulty:
    """Does what the reference does until one step."""

    name = "faulty"

    def __init__(self, fault: str):
        self._fault = fault

    def probe(self) -> Probe:
        if self._fault == "PROBE":
            os.kill(os.getpid(), signal.SIGILL)
        return REFERENCE.probe()

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        return REFERENCE.plan(checkpoint, options)

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> Session:
        session = REFERENCE.open(checkpoint, options, pools=pools, cache_dir=cache_dir)
        return RecordingSession(session, on_step=self._crash)

    def _crash(self, n_steps: int, logits: Logits) -> None:
        if n_steps < FATAL_STEP:
            return
        if self._fault == "HANG":
            threading.Event().wait()
        if self._fault == "RAISE":
            raise RuntimeError("the driver\nreported 42")
        if self._fault.startswith("SIG"):
            os.kill(os.getpid(), signal.Signals[self._fault])


SIGKILL, SIGSEGV, SIGILL, HANG, RAISE, PROBE = map(Faulty, ("SIGKILL", "SIGSEGV", "SIGILL", "HANG", "RAISE", "PROBE"))
HEALTHY = Faulty("none")
