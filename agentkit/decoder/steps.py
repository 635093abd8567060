"""One decoder step, cut by the life of its data (rule A1): pre-step → core-step → commit → post-step.

Pre-step and post-step are the host's and the same for every target; the core-step is the target's. Rows that a
core-step writes lie above the committed length, so a step that fails leaves nothing behind that could be read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from agentkit.decoder.backend import Logits, Session, TokenIds
from agentkit.decoder.grammar import Matcher
from agentkit.decoder.health import Fingerprint, check_logits
from agentkit.decoder.prefill import Chunk
from agentkit.decoder.sampler import Sampler, log_probability
from agentkit.errors import GrammarError

PAD_ID: Final = 0
"""Any id will do: padded rows are never committed."""


class FrontBuffer:
    """Memory of the host's two stages, taken once per session."""

    def __init__(self, *, max_bucket: int, vocab_size: int):
        self.token_ids: TokenIds = np.zeros(max_bucket, np.int64)  # [max_bucket] i64
        self.logits: Logits = np.zeros(vocab_size, np.float32)  # [vocab_size] f32, masked in place


@dataclass
class StageTimes:
    """Seconds spent per stage, summed over steps."""

    pre_s: float = 0.0
    core_s: float = 0.0
    post_s: float = 0.0
    n_steps: int = 0


@dataclass(frozen=True)
class Sampled:
    """What one post-step chose."""

    token_id: int
    logprob: float
    """Log-softmax among the tokens that the mask left."""
    fingerprint: Fingerprint
    """Of the raw logits."""


def pre_step(front: FrontBuffer, token_ids: Sequence[int], chunk: Chunk, times: StageTimes) -> TokenIds:
    """Write the chunk's ids into the front buffer, right-padded; returns a [bucket] i64 view of it."""
    started = time.perf_counter()
    padded = front.token_ids[: chunk.bucket]
    padded[: chunk.n_valid] = token_ids
    padded[chunk.n_valid :] = PAD_ID
    times.pre_s += time.perf_counter() - started
    return padded


def core_step(session: Session, padded: TokenIds, chunk: Chunk, times: StageTimes, *, slot: int) -> Logits:
    """Run the target, then commit the valid rows. Raises StepFailed with nothing committed."""
    started = time.perf_counter()
    assert session.kv.length(slot) == chunk.start, (session.kv.length(slot), chunk)
    logits = session.step(padded, chunk.n_valid, slot=slot)
    session.kv.commit(slot, chunk.n_valid)  # last: a failed step must leave the cache as it was
    times.core_s += time.perf_counter() - started
    times.n_steps += 1
    return logits


def post_step(
    front: FrontBuffer, logits: Logits, times: StageTimes, *, matcher: Matcher | None, sampler: Sampler, n_known: int
) -> Sampled:
    """Check the logits' health, mask them by the grammar and sample.

    Only the first n_known ids, those that the tokenizer has, can be chosen. Raises UnhealthyLogits, GrammarError.
    """
    started = time.perf_counter()
    fingerprint = check_logits(logits)
    np.copyto(front.logits, logits)  # the target's view stays as it is
    front.logits[n_known:] = -np.inf
    if matcher is not None:
        matcher.mask(front.logits)
    token_id = sampler(front.logits)
    if front.logits[token_id] == -np.inf:
        raise GrammarError("the grammar leaves no token to choose; check it for a rule that cannot be completed")
    sampled = Sampled(token_id, log_probability(front.logits, token_id), fingerprint)
    times.post_s += time.perf_counter() - started
    return sampled
