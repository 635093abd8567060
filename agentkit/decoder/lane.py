"""One opened target with everything the decoder keeps beside its session."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from agentkit.decoder.backend import Logits, Session
from agentkit.decoder.health import check_logits
from agentkit.decoder.memory_pool import Pools
from agentkit.decoder.prefill import plan_chunks
from agentkit.decoder.prefix_store import PrefixStore
from agentkit.decoder.slots import PrefixSlots
from agentkit.decoder.steps import StageTimes, StepBuffer, core_step, pre_step
from agentkit.errors import PromptTooLong, StepFailed, UnhealthyLogits

WARM_UP_RUNS: Final = 3
"""So many runs over each path until its time is steady (rule A14)."""
N_BUFFERS: Final = 4
"""Steps that may be on their way at once (rule A10)."""


class Lane:
    """Runs tokens on one session, in padded steps."""

    def __init__(
        self, name: str, session: Session, pools: Pools | None = None, *, prefixes: PrefixStore | None = None
    ):  # fmt: skip
        self.name, self.session, self.pools, self.kv = name, session, pools, session.kv
        self._prefixes = prefixes
        self.buckets = tuple(bucket for bucket in session.options.buckets if bucket <= session.kv.capacity)
        vocab_size = session.spec.vocab_size
        self.buffers = [StepBuffer(buckets=self.buckets, vocab_size=vocab_size, number=i) for i in range(N_BUFFERS)]
        self.slots = PrefixSlots(session.kv, chunk=self.buckets[-1])
        self.warm_ms: dict[int, float] = {}
        """Bucket → ms of its last warm-up run."""

    def place(self, ids: Sequence[int], n_prefix: int, *, busy: Collection[int] = ()) -> int:
        """Choose a slot for a prompt whose first n_prefix ids are static, holding what it can reuse of them.

        `busy` are the slots of other sequences on their way. Raises PromptTooLong if the prompt does not fit.
        """
        if len(ids) > self.kv.capacity:
            raise PromptTooLong(n_tokens=len(ids), max_tokens=self.kv.capacity)
        prefix = ids[:n_prefix]
        slot = self.slots.place(prefix, busy=busy)
        if self._prefixes and self.kv.length(slot) == 0 and self._prefixes.load(prefix, self.kv, slot):
            self.slots.keep(slot, prefix)
        return slot

    def keep_prefix(self, slot: int, prefix: Sequence[int], *, is_new: bool) -> None:
        """Note what the slot holds of the prefix by now; a whole one that is new goes to disk."""
        self.slots.keep(slot, prefix)
        if self._prefixes and is_new and self.kv.length(slot) == len(prefix):
            self._prefixes.save(prefix, self.kv, slot)

    def run_prefix(self, slot: int, prefix: Sequence[int]) -> None:
        """Run what the placed slot lacks of the prefix, to its end. Raises StepFailed."""
        logits = self.run(slot, prefix[self.kv.length(slot) :], is_stopped=lambda: False)
        if logits is not None:
            check_logits(logits)
        self.keep_prefix(slot, prefix, is_new=logits is not None)

    def run(self, slot: int, token_ids: Sequence[int], *, is_stopped: Callable[[], bool]) -> Logits | None:
        """Append tokens to a slot; returns the last one's logits, None if is_stopped() became true between steps.

        Raises PromptTooLong before the first step, StepFailed with the failed step's rows uncommitted, and
        UnhealthyLogits for any step but the last, whose logits the caller looks at.
        """
        n_before, buffer, times = self.kv.length(slot), self.buffers[0], StageTimes()
        chunks = plan_chunks(n_before + len(token_ids), n_before, self.buckets, self.kv.capacity)
        for index, chunk in enumerate(chunks):
            if index > 0:
                check_logits(buffer.logits)
            if is_stopped():
                return None
            first = chunk.start - n_before
            pre_step(buffer, token_ids[first : first + chunk.n_valid], chunk, times, slot=slot)
            core_step(self.session, buffer, times)
        return buffer.logits if chunks else None

    def distrust(self, err: StepFailed, *slots: int) -> None:
        """Drop the slots' rows if the error says that their numbers cannot be right; a failed step left none."""
        if isinstance(err, UnhealthyLogits):
            for slot in slots:
                self.slots.forget(slot)
            if self._prefixes:
                self._prefixes.drop()

    def warm_up(self, *, n_runs: int = WARM_UP_RUNS) -> None:
        """Run every bucket n_runs times, then seal the pools. Raises StepFailed, UnhealthyLogits."""
        self.slots.forget(0)
        for bucket in self.buckets:
            for _ in range(n_runs):
                started = time.perf_counter()
                check_logits(self.session.step(self.buffers[0].views[bucket], bucket, slot=0))
                self.warm_ms[bucket] = (time.perf_counter() - started) * 1e3
        if self.pools is not None:
            self.pools.seal()

    def describe(self) -> dict[str, Any]:
        """Return the lane's state for health reports."""
        return {
            "pools": self.pools.describe() if self.pools else None,
            "slots": self.slots.describe(),
            "capacity": self.kv.capacity,
            "warm_ms": {str(bucket): round(ms, 2) for bucket, ms in self.warm_ms.items()},
        }
