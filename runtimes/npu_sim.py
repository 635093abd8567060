"""A simulated NPU: real numbers, modelled time. Runs only when it is named.

The numbers come from another target of this machine, so grammar, sampler, cache and fallback meet the real thing. The
time is that of the chip described in npu_sim.yaml, on a virtual clock: nothing sleeps, and what the scheduler
overlaps or fails to overlap shows in `timeline`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agentkit.decoder.backend import Backend, Logits, PoolSizes, Probe, Session, SessionOptions, TokenIds
from agentkit.decoder.memory_pool import Pools, aligned_bytes
from agentkit.errors import StepFailed
from runtimes import onnx_cpu
from runtimes.npu_chip import SYNCHRONOUS, Chip, Step, Timeline, Way

__all__ = ["BACKEND", "SYNCHRONOUS", "NpuSim", "NpuSimSession", "Way"]

N_IN_FLIGHT = 4
"""Buffers for results (rule A10)."""


class NpuSim:
    """The simulated target."""

    name = "npu_sim"

    def __init__(self, core: Backend = onnx_cpu.BACKEND, *, way: Way | None = None, chip: Chip | None = None):
        """`core` computes the numbers; `way` and `chip` say what the time is modelled on."""
        self._core, self._way, self._chip = core, way or Way(), chip

    def probe(self) -> Probe:
        """Available wherever the target is that computes its numbers."""
        core = self._core.probe()
        chip = self._chip or Chip.load()
        detail = f"{chip.title}: virtual time, numbers by {self._core.name} ({core.detail})"
        return Probe(core.is_available, detail, {**core.facts, "kind": "sim"})

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        """Compute the pool sizes: the core's, and a row of logits for each step in flight."""
        core, vocab_size = self._core.plan(checkpoint, options), _vocab_size(checkpoint)
        results = aligned_bytes((N_IN_FLIGHT, vocab_size), np.float32)
        return PoolSizes(core.weight_bytes, core.cache_bytes, core.temp_bytes + results)

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> NpuSimSession:
        """Open the core."""
        session = self._core.open(checkpoint, options, pools=pools, cache_dir=cache_dir)
        return NpuSimSession(session, self._chip or Chip.load(), self._way, pools)


@dataclass(frozen=True)
class Fence:
    """Passes when the chip has finished a step."""

    step: Step
    row: int
    """Where its logits lie."""


@dataclass(frozen=True)
class Rung:
    """One way of working together, and how many steps may be in flight in it."""

    name: str
    why: str
    way: Way
    n_in_flight: int


LADDER = (
    Rung("synchronous", "every transfer and kernel is waited for, the cache is copied in each step", SYNCHRONOUS, 1),
    Rung("cache bound", "rows of the cache stay in the chip's memory", Way(True, True, False, False, False), 1),
    Rung("kernels back to back", "one fence per step", Way(True, True, True, False, False), 1),
    Rung("tiles double-buffered", "weights come while the last ones are multiplied", Way(is_pass_shared=False), 1),
    Rung("four buffers", "the host works on other requests meanwhile", Way(is_pass_shared=False), N_IN_FLIGHT),
    Rung("passes shared", "steps that wait go along in one pass over the weights", Way(), N_IN_FLIGHT),
)
"""From waiting for everything to overlapping everything, one thing at a time."""


class NpuSimSession:
    """An opened model; steps end in the order they were submitted."""

    ladder = LADDER
    max_shared_rows = 1 << 30

    def __init__(self, core: Session, chip: Chip, way: Way, pools: Pools):
        self.spec, self.options, self.kv = core.spec, core.options, core.kv
        results = aligned_bytes((N_IN_FLIGHT, core.spec.vocab_size), np.float32)
        self.sizes = PoolSizes(core.sizes.weight_bytes, core.sizes.cache_bytes, core.sizes.temp_bytes + results)
        self.timeline = Timeline(chip, core.spec, way)
        self._core, self._n_steps = core, 0
        shape = (N_IN_FLIGHT, core.spec.vocab_size)
        self._results = pools.temp.alloc("results in flight", shape, np.float32)  # [N_IN_FLIGHT, vocab_size] f32
        self._in_flight: deque[tuple[Fence, int]] = deque()

    def restart(self, rung: Rung, *, has_events: bool = False) -> None:
        """Set the virtual clock to zero and work together in another way; nothing may be in flight."""
        assert not self._in_flight, self._in_flight
        chip, spec = self.timeline.chip, self.spec
        self.timeline = Timeline(chip, spec, rung.way, events=[] if has_events else None)

    def submit(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Fence:
        """Queue a step; its numbers are there at once, its fence passes when the chip would be done."""
        if len(self._in_flight) >= N_IN_FLIGHT:
            raise StepFailed(f"npu_sim: {N_IN_FLIGHT} steps are in flight; wait for one first")
        if any(busy == slot for _, busy in self._in_flight):
            raise StepFailed(f"npu_sim: slot {slot} has a step in flight; wait for it first")
        row = self._n_steps % N_IN_FLIGHT
        np.copyto(self._results[row], self._core.step(token_ids, n_valid, slot=slot))
        fence = Fence(self.timeline.submit(self._n_steps, len(token_ids), self.kv.length(slot)), row)
        self._n_steps += 1
        self._in_flight.append((fence, slot))
        return fence

    def wait(self, fence: Fence) -> Logits:
        """Move the virtual clock to the fence."""
        if not self._in_flight or self._in_flight[0][0] is not fence:
            raise StepFailed("npu_sim: that step is not the oldest in flight; wait in the order of submission")
        self._in_flight.popleft()
        self.timeline.wait(fence.step)
        logits: Logits = self._results[fence.row]
        return logits

    def abandon(self) -> None:
        """Forget the steps in flight; the chip finishes them for nobody."""
        self._in_flight.clear()

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        """Submit and wait: the synchronous use."""
        return self.wait(self.submit(token_ids, n_valid, slot=slot))

    def close(self) -> None:
        """Close the core."""
        self._in_flight.clear()
        self._core.close()


def _vocab_size(checkpoint: Path) -> int:
    from agentkit.compiler.checkpoint import load_checkpoint

    return load_checkpoint(checkpoint).spec.vocab_size


BACKEND = NpuSim()
