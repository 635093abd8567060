"""Log-probabilities of whole answers, for confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agentkit.decoder.backend import Logits
from agentkit.decoder.health import check_logits
from agentkit.decoder.lane import Lane


def score_answers(
    lane: Lane, slot: int, tail: Sequence[int], answers: Sequence[Sequence[int]], eos_ids: Sequence[int]
) -> list[float]:
    """Return log P(answer and then the end | slot, tail) for each answer's ids.

    Answers that begin alike share those steps. The slot is left as it was found. Raises PromptTooLong, StepFailed.
    """
    n_before = lane.kv.length(slot)
    scores = [0.0] * len(answers)
    path: list[int] = []
    rows = [_run(lane, slot, tail)]  # row i: log-softmax [vocab_size] after i tokens of the path
    try:
        for index in sorted(range(len(answers)), key=lambda i: list(answers[i])):
            ids = list(answers[index])
            n_same = next(
                (i for i, (a, b) in enumerate(zip(path, ids, strict=False)) if a != b), min(len(path), len(ids))
            )
            del rows[n_same + 1 :]
            lane.kv.truncate(slot, n_before + len(tail) + n_same)
            rows += [_run(lane, slot, [token_id]) for token_id in ids[n_same:]]
            path = ids
            chosen = sum(float(rows[i][token_id]) for i, token_id in enumerate(ids))
            scores[index] = chosen + float(np.logaddexp.reduce(rows[len(ids)][list(eos_ids)]))
    finally:
        lane.kv.truncate(slot, n_before)
    return scores


def _run(lane: Lane, slot: int, token_ids: Sequence[int]) -> NDArray[np.float32]:
    """Append tokens and return the log-softmax [vocab_size] f32 behind them."""
    logits: Logits | None = lane.run(slot, token_ids, is_stopped=lambda: False)
    assert logits is not None, (slot, len(token_ids))
    check_logits(logits)
    shifted = logits - logits.max()
    log_softmax: NDArray[np.float32] = shifted - np.log(np.exp(shifted).sum())
    return log_softmax
