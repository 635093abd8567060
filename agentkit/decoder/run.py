"""One turn on one lane: which chunk comes next, and what its logits are for."""

from __future__ import annotations

import time
from collections.abc import Collection

from agentkit.decoder.health import check_logits
from agentkit.decoder.lane import Lane
from agentkit.decoder.prefill import Chunk, plan_chunks
from agentkit.decoder.steps import StageTimes, StepBuffer, post_step, pre_step, takes_masks
from agentkit.decoder.trace import StageTrace
from agentkit.decoder.turn import Turn


class Run:
    """Goes round the three stages, one step at a time; whichever stage has it owns it alone."""

    def __init__(
        self, lane: Lane, turn: Turn, *, n_known: int, busy: Collection[int] = (), sequence: int = 0, priority: int = 0,
        trace: StageTrace | None = None,
    ):  # fmt: skip
        """Place the turn in a slot that is not in `busy`. Raises PromptTooLong.

        A turn that another target began goes on where it stands: its prompt and what it has said run again.
        """
        self.lane, self.turn, self.priority, self.n_known = lane, turn, priority, n_known
        self.times = StageTimes(trace=trace, sequence=sequence)
        self.n_skipped = 0
        """How often another one's step went first since its own last one."""
        self.error: BaseException | None = None
        """What a callback or the grammar raised; it ends this turn and no other."""
        self.prefill_s = self.decode_s = 0.0
        self._since_s = time.perf_counter()
        self.slot = lane.place(turn.prompt_ids, turn.n_prefix, busy=busy)
        turn.n_cached = lane.kv.length(self.slot)
        self._prefix = turn.prompt_ids[: turn.n_prefix]
        self._is_prefix, self._is_decoding = True, False
        self._append(self._prefix[turn.n_cached :])
        if not self._chunks:
            self._end_prefix(is_new=False)

    @property
    def is_over(self) -> bool:
        """True once the answer is complete, was stopped, or a callback raised."""
        return self.turn.finish is not None or self.error is not None

    def stop_if_wanted(self) -> bool:
        """End the turn between two steps if its caller or its deadline says so; what its prefix has so far stays."""
        try:
            if not self.turn.is_stopped():
                return False
        except BaseException as err:  # noqa: BLE001 - the caller's own callback: it ends this turn and no other
            self.error = err
        else:
            self.turn.finish = "cancelled"
        if self._is_prefix:
            self.lane.keep_prefix(self.slot, self._prefix, is_new=False)
        self._note_time()
        return True

    @property
    def n_rows(self) -> int:
        """Length of its next step."""
        return self._chunks[self._next].bucket

    def pre(self, buffer: StepBuffer) -> None:
        """Write the next chunk into the buffer."""
        chunk = self._chunks[self._next]
        first = chunk.start - self._first
        ids = self._ids[first : first + chunk.n_valid]
        is_last = self._next + 1 == len(self._chunks) and not self._is_prefix
        matcher = self.turn.matcher if is_last and takes_masks(self.lane.session) else None
        pre_step(buffer, ids, chunk, self.times, slot=self.slot, matcher=matcher)
        buffer.owner = self

    def post(self, buffer: StepBuffer) -> None:
        """Take the logits of the chunk: most are only looked at, the last ones choose a token.

        Raises UnhealthyLogits, GrammarError and what the turn's callback raises.
        """
        self._next += 1
        if self._next < len(self._chunks) or self._is_prefix:
            check_logits(buffer.logits)
            if self._next == len(self._chunks):
                self._end_prefix(is_new=True)
            return
        self._note_time()
        self._is_decoding = True
        turn = self.turn
        sampled = post_step(
            buffer, self.times, matcher=turn.matcher, sampler=turn.sampler, n_known=self.n_known
        )  # fmt: skip
        n_kept = turn.accept(sampled)
        if turn.finish is None:
            # rows of ids that forced bytes merged with are run again
            self.lane.kv.truncate(self.slot, len(turn.prompt_ids) + n_kept)
            self._append(turn.ids[n_kept:])
        self._note_time()

    def _end_prefix(self, *, is_new: bool) -> None:
        self.lane.keep_prefix(self.slot, self._prefix, is_new=is_new)
        self._is_prefix = False
        self._append(self.turn.prompt_ids[len(self._prefix) :] + self.turn.ids)

    def _append(self, ids: list[int]) -> None:
        """Plan the steps that run ids behind the committed rows; a full cache ends the answer."""
        kv = self.lane.kv
        self._first, self._ids, self._next = kv.length(self.slot), ids, 0
        self._chunks: tuple[Chunk, ...] = ()
        if self._first + len(ids) > kv.capacity:
            self.turn.finish = "length"
        else:
            self._chunks = plan_chunks(self._first + len(ids), self._first, self.lane.buckets, kv.capacity)

    def _note_time(self) -> None:
        now_s = time.perf_counter()
        if self._is_decoding:
            self.decode_s += now_s - self._since_s
        else:
            self.prefill_s += now_s - self._since_s
        self._since_s = now_s
