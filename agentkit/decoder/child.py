"""Runs a vendor's target in a child process, so that a crash in its driver is one failed step (rule B10).

A vendor's file in runtimes/ exports `BACKEND = ChildBackend("npu_x", "runtimes.npu_x:DRIVER")`; the decoder notices
nothing of it. What a replay needs, tokens and lengths, never leaves this process.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from agentkit.decoder.backend import DecoderSpec, Logits, PoolSizes, Probe, SessionOptions, TokenIds
from agentkit.decoder.checks import check_step
from agentkit.decoder.child_link import DONE, STEP, Exchange, exchange_bytes, make_shared, map_shared, receive, send
from agentkit.decoder.kv_cache import KVCache, Layout
from agentkit.decoder.memory_pool import Pools
from agentkit.errors import BackendUnavailable, CheckpointError, StepFailed

OPEN_S = 900.0
"""Compiling a model for a chip takes minutes."""
STEP_S = 20.0
"""A step that takes longer hangs; the child is killed. Below the scheduler's own limit, so that this one counts."""
PROBE_S = 20.0


class ChildBackend:
    """A target whose code runs in a process of its own."""

    def __init__(self, name: str, where: str, *, step_s: float = STEP_S):
        """`where` is module:attribute of the real backend, which only the child imports."""
        self.name, self._where, self._step_s = name, where, step_s

    def probe(self) -> Probe:
        """Ask the target in a child; one that crashes or hangs is not available."""
        try:
            with contextlib.closing(_Process(self.name, self._where)) as process:
                answer = process.ask({"do": "probe"}, timeout_s=PROBE_S)
        except (BackendUnavailable, StepFailed) as err:
            return Probe(False, str(err))
        return Probe(answer["is_available"], f"{answer['detail']}; in a process of its own", answer["facts"])

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        """Ask the target for its pool sizes. Raises BackendUnavailable, CheckpointError."""
        with contextlib.closing(_Process(self.name, self._where)) as process:
            return _plan(process, checkpoint, options)

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> ChildSession:
        """Start the child and let it open the target. Raises BackendUnavailable, CheckpointError."""
        process = _Process(self.name, self._where)
        try:
            return ChildSession(process, checkpoint, options, pools, cache_dir, step_s=self._step_s)
        except BaseException:
            process.close()
            raise


def _plan(process: _Process, checkpoint: Path, options: SessionOptions) -> PoolSizes:
    order = {"do": "plan", "checkpoint": str(checkpoint), "options": asdict(options)}
    answer = process.ask(order, timeout_s=OPEN_S)
    return PoolSizes(answer["weight_bytes"], answer["cache_bytes"], answer["temp_bytes"])


class ChildSession:
    """An opened model in a child process; cache, ids and logits are shared with it."""

    def __init__(
        self, process: _Process, checkpoint: Path, options: SessionOptions, pools: Pools, cache_dir: Path, *,
        step_s: float,
    ):  # fmt: skip
        self.options, self._process, self._step_s = options, process, step_s
        self.sizes = _plan(process, checkpoint, options)
        order = {
            "do": "open", "checkpoint": str(checkpoint), "options": asdict(options), "cache_dir": str(cache_dir),
        }  # fmt: skip
        with _shared("cache", self.sizes.cache_bytes) as handle:
            answer = process.ask(order, (handle,), timeout_s=OPEN_S)
            pools.cache.adopt(map_shared(handle, self.sizes.cache_bytes))
        self.spec = DecoderSpec(**answer["spec"])
        with _shared("exchange", exchange_bytes(self.spec, options)) as handle:
            process.ask({"do": "share"}, (handle,), timeout_s=OPEN_S)
            self._exchange = Exchange(handle, self.spec, options)
        pools.weight.reserve("in the child", self.sizes.weight_bytes)
        pools.temp.reserve("in the child", self.sizes.temp_bytes)
        layout, dtype = Layout(answer["layout"]), np.dtype(answer["dtype"])
        self.kv = KVCache(pools.cache, self.spec, options, layout=layout, dtype=dtype)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        """Run one padded step in the child; see the port. A child that dies or hangs is a StepFailed."""
        check_step(self, token_ids, n_valid, slot=slot)
        self._exchange.token_ids[: len(token_ids)] = token_ids
        self._process.run(STEP.pack(b"S", slot, self.kv.length(slot), len(token_ids), n_valid), self._step_s)
        return self._exchange.logits

    def close(self) -> None:
        """End the child."""
        self._process.close()


class _Process:
    """The child and the socket to it."""

    def __init__(self, name: str, where: str):
        self._name = name
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "agentkit.decoder.child_main", str(theirs.fileno()), where],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                start_new_session=True,  # Ctrl-C is for the host process, which then ends the child in order
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    def ask(self, order: dict[str, Any], handles: tuple[int, ...] = (), *, timeout_s: float) -> dict[str, Any]:
        """Send an order and return the answer. Raises CheckpointError, BackendUnavailable."""
        try:
            send(self._link, order, handles)
            packet = self._answer(timeout_s)
        except (OSError, StepFailed) as err:
            raise BackendUnavailable(str(err)) from err
        answer: dict[str, Any] = json.loads(packet)
        if "error" in answer:
            kind = CheckpointError if answer["error"] == CheckpointError.__name__ else BackendUnavailable
            raise kind(f"{self._name}: {answer['message']}")
        return answer

    def run(self, packet: bytes, timeout_s: float) -> None:
        """Send a packed order and wait until it is done. Raises StepFailed."""
        try:
            self._link.send(packet)
        except OSError as err:
            raise StepFailed(self._end()) from err
        answer = self._answer(timeout_s)
        if answer != DONE:
            raise StepFailed(f"{self._name}: {json.loads(answer)['message']}")

    def close(self) -> None:
        """End the child; calling it twice is harmless."""
        self._child.kill()
        self._child.wait()
        self._link.close()

    def _answer(self, timeout_s: float) -> bytes:
        self._link.settimeout(timeout_s)
        try:
            packet, _ = receive(self._link)
        except TimeoutError as err:
            self.close()
            raise StepFailed(f"{self._name}: no answer within {timeout_s:g} s; its process was killed") from err
        except OSError as err:
            raise StepFailed(self._end()) from err
        if not packet:
            raise StepFailed(self._end())
        return packet

    def _end(self) -> str:
        """Collect the dead child and say how it died."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(5)
        code = self._child.returncode
        self.close()
        if code is None:
            return f"{self._name}: its process hung up and was killed"
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"{self._name}: its process died {how}"


@contextlib.contextmanager
def _shared(name: str, n_bytes: int) -> Iterator[int]:
    """Make shared memory; what is mapped of it outlives its descriptor."""
    handle = make_shared(name, n_bytes)
    try:
        yield handle
    finally:
        os.close(handle)
