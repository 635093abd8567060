"""One decoder step, cut by the life of its data (rule A1): pre-step → core-step → commit → post-step.

Pre-step and post-step are the host's and the same for every target; the core-step is the target's. Rows that a
core-step writes lie above the committed length, so a step that fails leaves nothing behind that could be read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

import numpy as np

from agentkit.decoder.backend import AsyncSession, Logits, Mask, Session, TokenIds
from agentkit.decoder.grammar import Matcher
from agentkit.decoder.health import Fingerprint, check_logits
from agentkit.decoder.prefill import Chunk
from agentkit.decoder.sampler import Sampler, log_probability
from agentkit.decoder.trace import Stage, StageTrace
from agentkit.errors import GrammarError

PAD_ID: Final = 0
"""Any id will do: padded rows are never committed."""


@dataclass
class StageTimes:
    """Seconds spent per stage, summed over the steps of one sequence."""

    pre_s: float = 0.0
    core_s: float = 0.0
    post_s: float = 0.0
    n_steps: int = 0
    trace: StageTrace | None = None
    """Where each stage of each step is noted; None = nowhere."""
    sequence: int = 0

    def note(self, stage: Stage, chunk: Chunk, started_s: float) -> None:
        """Add a stage that ends now."""
        ended_s = time.perf_counter()
        if stage is Stage.PRE:
            self.pre_s += ended_s - started_s
        elif stage is Stage.CORE:
            self.core_s += ended_s - started_s
        else:
            self.post_s += ended_s - started_s
        if self.trace is not None:
            self.trace.note(stage, (self.sequence, chunk.start, chunk.n_valid), started_s, ended_s)


class StepBuffer:
    """Input and output of one step in flight; a lane rotates a few of them (rule A10) and takes no other memory."""

    def __init__(self, *, buckets: Sequence[int], vocab_size: int, number: int = 0):
        self.number = number
        self.token_ids: TokenIds = np.zeros(max(buckets), np.int64)  # [max bucket] i64
        self.logits: Logits = np.zeros(vocab_size, np.float32)  # [vocab_size] f32, masked in place by post_step
        self.views = {bucket: self.token_ids[:bucket] for bucket in buckets}
        """Bucket → its part of token_ids, made once."""
        self.mask: Mask = np.zeros((vocab_size + 31) // 32, np.int32)  # a bit per id
        self.is_masked = False
        """The target is told the mask, and answers with -inf for what it forbids."""
        self.chunk = Chunk(0, 1, min(buckets))
        self.slot = 0
        self.owner: Any = None
        """Whose step it carries; the pipeline's business."""
        self.is_cancelled = False
        """Its step was ended before its time and is to be run again."""
        self.fence: Any = None
        """What an asynchronous target gave for the step in flight."""
        self.started_s = 0.0


@dataclass(frozen=True)
class Sampled:
    """What one post-step chose."""

    token_id: int
    logprob: float
    """Log-softmax among the tokens that the mask left."""
    fingerprint: Fingerprint
    """Of the raw logits."""


def is_asynchronous(session: Session) -> TypeGuard[AsyncSession]:
    """Tell whether the target takes a step while another one runs."""
    return hasattr(session, "submit")


def takes_masks(session: Session) -> bool:
    """Tell whether the target need not compute logits that the grammar forbids."""
    return getattr(session, "takes_masks", False)


def pre_step(
    buffer: StepBuffer, token_ids: Sequence[int], chunk: Chunk, times: StageTimes, *, slot: int,
    matcher: Matcher | None = None,
) -> None:  # fmt: skip
    """Write the chunk's ids into the buffer, right-padded; with a matcher also what may follow them."""
    started_s = time.perf_counter()
    padded = buffer.views[chunk.bucket]
    padded[: chunk.n_valid] = token_ids
    padded[chunk.n_valid :] = PAD_ID
    buffer.chunk, buffer.slot = chunk, slot
    buffer.is_masked = matcher is not None
    if matcher is not None:
        matcher.write_mask(buffer.mask)
    times.note(Stage.PRE, chunk, started_s)


def core_step(session: Session, buffer: StepBuffer, times: StageTimes) -> None:
    """Run the target to the end of the step; see submit_step and finish_step for its two halves."""
    submit_step(session, buffer)
    finish_step(session, buffer, times)


def submit_step(session: Session, buffer: StepBuffer) -> None:
    """Begin the core-step: an asynchronous target runs on by itself, any other has run it when this returns.

    Raises StepFailed with nothing committed.
    """
    buffer.started_s = time.perf_counter()
    chunk, kv = buffer.chunk, session.kv
    assert kv.length(buffer.slot) == chunk.start, (kv.length(buffer.slot), chunk)
    known: dict[str, Any] = {"allowed": buffer.mask} if buffer.is_masked else {}
    if is_asynchronous(session):
        buffer.fence = session.submit(buffer.views[chunk.bucket], chunk.n_valid, slot=buffer.slot, **known)
    else:  # the target's view lives until its next step, so it is copied at once
        np.copyto(buffer.logits, session.step(buffer.views[chunk.bucket], chunk.n_valid, slot=buffer.slot, **known))


def finish_step(session: Session, buffer: StepBuffer, times: StageTimes) -> None:
    """Wait for the step's fence if there is one, then commit the valid rows. Raises StepFailed."""
    if is_asynchronous(session):
        np.copyto(buffer.logits, session.wait(buffer.fence))
        buffer.fence = None
    session.kv.commit(buffer.slot, buffer.chunk.n_valid)  # last: a failed step must leave the cache as it was
    times.note(Stage.CORE, buffer.chunk, buffer.started_s)
    times.n_steps += 1


def post_step(
    buffer: StepBuffer, times: StageTimes, *, matcher: Matcher | None, sampler: Sampler, n_known: int
) -> Sampled:
    """Check the buffer's logits, mask them in place by the grammar and sample.

    Only the first n_known ids, those that the tokenizer has, can be chosen. Raises UnhealthyLogits, GrammarError.
    """
    started_s = time.perf_counter()
    logits = buffer.logits
    fingerprint = check_logits(logits)
    logits[n_known:] = -np.inf
    if matcher is not None and not buffer.is_masked:
        matcher.mask(logits)
    token_id = sampler(logits)
    if logits[token_id] == -np.inf:
        raise GrammarError("the grammar leaves no token to choose; check it for a rule that cannot be completed")
    sampled = Sampled(token_id, log_probability(logits, token_id), fingerprint)
    times.note(Stage.POST, buffer.chunk, started_s)
    return sampled
