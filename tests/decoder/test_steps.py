from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentkit.decoder.grammar import Grammar
from agentkit.decoder.lane import Lane
from agentkit.decoder.prefill import Chunk
from agentkit.decoder.sampler import Sampling, make_sampler
from agentkit.decoder.steps import StageTimes, StepBuffer, core_step, post_step, pre_step
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import GrammarError, StepFailed, UnhealthyLogits
from tests.support.sessions import OPTIONS, RecordingSession, fail_from, open_reference
from tests.support.tiny import TINY

GREEDY = make_sampler(Sampling())


def never() -> bool:
    return False


def test_pre_step_pads_in_the_buffer_and_allocates_nothing() -> None:
    buffer = StepBuffer(buckets=(1, 4, 8), vocab_size=10)
    buffer.token_ids[:] = 9
    pre_step(buffer, [5, 6], Chunk(0, 2, 4), StageTimes(), slot=1)
    assert buffer.token_ids.tolist() == [5, 6, 0, 0, 9, 9, 9, 9]
    assert np.shares_memory(buffer.views[4], buffer.token_ids)


def test_a_core_step_commits_only_valid_rows(tiny_gguf: Path) -> None:
    session, times = open_reference(tiny_gguf), StageTimes()
    buffer = StepBuffer(buckets=(4,), vocab_size=TINY.vocab_size)
    pre_step(buffer, [5, 6, 7], Chunk(0, 3, 4), times, slot=1)
    core_step(session, buffer, times)
    assert (session.kv.length(0), session.kv.length(1)) == (0, 3)
    assert times.n_steps == 1


def test_a_failed_step_leaves_the_length_unchanged(tiny_gguf: Path) -> None:
    lane = Lane("reference", RecordingSession(open_reference(tiny_gguf), on_step=fail_from(2)))
    lane.run(0, [1, 2, 3], is_stopped=never)
    with pytest.raises(StepFailed):
        lane.run(0, [4, 5], is_stopped=never)
    assert lane.kv.length(0) == 3


@pytest.mark.parametrize("n_tokens", [1, 3, 4, 5, 16, 21, 32, 60])
def test_padded_steps_equal_single_steps(tiny_gguf: Path, n_tokens: int) -> None:
    lane = Lane("reference", open_reference(tiny_gguf))
    ids = [(7 * i) % TINY.vocab_size for i in range(n_tokens)]
    at_once = lane.run(0, ids, is_stopped=never)
    assert at_once is not None
    at_once = at_once.copy()
    for token_id in ids:
        one_by_one = lane.run(1, [token_id], is_stopped=never)
    assert one_by_one is not None
    np.testing.assert_allclose(at_once, one_by_one, atol=1e-4)


def test_a_stopped_run_ends_between_steps(tiny_gguf: Path) -> None:
    session = RecordingSession(open_reference(tiny_gguf))
    lane = Lane("reference", session)
    assert lane.run(0, [1] * 100, is_stopped=lambda: len(session.steps) == 2) is None
    assert lane.kv.length(0) == 2 * OPTIONS.buckets[-1]


def buffer_with(logits: np.ndarray) -> StepBuffer:
    buffer = StepBuffer(buckets=(1,), vocab_size=len(logits))
    buffer.logits[:] = logits
    return buffer


def test_the_targets_logits_stay_as_they_are(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    session, times = open_reference(tiny_gguf), StageTimes()
    buffer = StepBuffer(buckets=(1,), vocab_size=TINY.vocab_size)
    pre_step(buffer, [5], Chunk(0, 1, 1), times, slot=0)
    core_step(session, buffer, times)
    raw = session.step(np.array([5]), 1, slot=1)
    before = raw.copy()
    matcher = Grammar.compile('start: "a" | "b"', tiny_tokenizer).start()
    sampled = post_step(buffer, times, matcher=matcher, sampler=GREEDY, n_known=tiny_tokenizer.vocab_size)
    assert sampled.token_id in tiny_tokenizer.encode("a") + tiny_tokenizer.encode("b")
    assert sampled.logprob < 0
    assert min(times.pre_s, times.core_s, times.post_s) > 0
    np.testing.assert_array_equal(raw, before)


def test_post_step_never_chooses_an_id_that_the_tokenizer_lacks() -> None:
    buffer = buffer_with(np.arange(10, dtype=np.float32))
    assert post_step(buffer, StageTimes(), matcher=None, sampler=GREEDY, n_known=7).token_id == 6


def test_post_step_looks_at_health_before_the_mask(tiny_tokenizer: Tokenizer) -> None:
    matcher = Grammar.compile('start: "a" | "b"', tiny_tokenizer).start()
    logits = np.linspace(0, 1, TINY.vocab_size, dtype=np.float32)
    logits[200] = np.nan  # a token that the mask would hide
    with pytest.raises(UnhealthyLogits):
        post_step(buffer_with(logits), StageTimes(), matcher=matcher, sampler=GREEDY, n_known=tiny_tokenizer.vocab_size)


def test_logits_that_the_mask_hides_entirely_are_an_error(tiny_tokenizer: Tokenizer) -> None:
    matcher = Grammar.compile('start: "a" | "b"', tiny_tokenizer).start()
    logits = np.full(TINY.vocab_size, -np.inf, np.float32)
    logits[:2] = 1, 2
    with pytest.raises(GrammarError, match="no token to choose"):
        post_step(buffer_with(logits), StageTimes(), matcher=matcher, sampler=GREEDY, n_known=tiny_tokenizer.vocab_size)
