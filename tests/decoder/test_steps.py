from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentkit.decoder.grammar import Grammar
from agentkit.decoder.lane import Lane
from agentkit.decoder.prefill import Chunk
from agentkit.decoder.sampler import Sampling, make_sampler
from agentkit.decoder.steps import FrontBuffer, StageTimes, core_step, post_step, pre_step
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import GrammarError, StepFailed, UnhealthyLogits
from tests.support.sessions import OPTIONS, RecordingSession, fail_from, open_reference
from tests.support.tiny import TINY

GREEDY = make_sampler(Sampling())


def never() -> bool:
    return False


def test_pre_step_pads_in_the_front_buffer_and_allocates_nothing() -> None:
    front = FrontBuffer(max_bucket=8, vocab_size=10)
    front.token_ids[:] = 9
    padded = pre_step(front, [5, 6], Chunk(0, 2, 4), StageTimes())
    assert padded.tolist() == [5, 6, 0, 0]
    assert np.shares_memory(padded, front.token_ids)


def test_a_core_step_commits_only_valid_rows(tiny_gguf: Path) -> None:
    session, times = open_reference(tiny_gguf), StageTimes()
    front = FrontBuffer(max_bucket=4, vocab_size=TINY.vocab_size)
    chunk = Chunk(0, 3, 4)
    core_step(session, pre_step(front, [5, 6, 7], chunk, times), chunk, times, slot=1)
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


def test_post_step_leaves_the_targets_logits_as_they_are(tiny_tokenizer: Tokenizer) -> None:
    logits = np.linspace(0, 1, TINY.vocab_size, dtype=np.float32)
    before = logits.copy()
    front = FrontBuffer(max_bucket=1, vocab_size=TINY.vocab_size)
    matcher = Grammar.compile('start: "a" | "b"', tiny_tokenizer).start()
    times = StageTimes()
    sampled = post_step(front, logits, times, matcher=matcher, sampler=GREEDY, n_known=tiny_tokenizer.vocab_size)
    assert sampled.token_id == max(tiny_tokenizer.encode("a") + tiny_tokenizer.encode("b"))
    assert sampled.logprob < 0
    assert times.post_s > 0
    np.testing.assert_array_equal(logits, before)


def test_post_step_never_chooses_an_id_that_the_tokenizer_lacks() -> None:
    logits = np.arange(10, dtype=np.float32)
    front = FrontBuffer(max_bucket=1, vocab_size=10)
    assert post_step(front, logits, StageTimes(), matcher=None, sampler=GREEDY, n_known=7).token_id == 6


def test_post_step_looks_at_health_before_the_mask(tiny_tokenizer: Tokenizer) -> None:
    matcher = Grammar.compile('start: "a" | "b"', tiny_tokenizer).start()
    logits = np.linspace(0, 1, TINY.vocab_size, dtype=np.float32)
    logits[200] = np.nan  # a token that the mask would hide
    front = FrontBuffer(max_bucket=1, vocab_size=TINY.vocab_size)
    with pytest.raises(UnhealthyLogits):
        post_step(front, logits, StageTimes(), matcher=matcher, sampler=GREEDY, n_known=tiny_tokenizer.vocab_size)


def test_logits_that_the_mask_hides_entirely_are_an_error(tiny_tokenizer: Tokenizer) -> None:
    matcher = Grammar.compile('start: "a" | "b"', tiny_tokenizer).start()
    logits = np.full(TINY.vocab_size, -np.inf, np.float32)
    logits[:2] = 1, 2
    front = FrontBuffer(max_bucket=1, vocab_size=TINY.vocab_size)
    with pytest.raises(GrammarError, match="no token to choose"):
        post_step(front, logits, StageTimes(), matcher=matcher, sampler=GREEDY, n_known=tiny_tokenizer.vocab_size)
