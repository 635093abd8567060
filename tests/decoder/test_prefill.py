from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.decoder.prefill import Chunk, plan_chunks
from agentkit.errors import PromptTooLong

BUCKETS = (1, 16, 64, 128, 256)


@given(st.integers(1, 900), st.integers(0, 900), st.integers(1, 900), st.sets(st.integers(2, 300), max_size=4))
def test_chunks_cover_the_tokens_once_and_fit_the_cache(
    n_tokens: int, n_cached: int, capacity: int, sizes: set[int]
) -> None:
    buckets = (1, *sorted(sizes))
    n_cached = min(n_cached, n_tokens)
    if n_tokens > capacity:
        with pytest.raises(PromptTooLong):
            plan_chunks(n_tokens, n_cached, buckets, capacity)
        return
    row = n_cached
    for chunk in plan_chunks(n_tokens, n_cached, buckets, capacity):
        assert chunk.start == row
        assert 1 <= chunk.n_valid <= chunk.bucket
        assert chunk.bucket in buckets
        assert chunk.start + chunk.bucket <= capacity
        row += chunk.n_valid
    assert row == n_tokens


def test_a_long_prompt_takes_full_largest_buckets_first() -> None:
    assert [c.bucket for c in plan_chunks(600, 0, BUCKETS, 2048)][:2] == [256, 256]


def test_a_short_run_takes_one_padded_step() -> None:
    assert plan_chunks(112, 100, BUCKETS, 2048) == (Chunk(100, 12, 16),)


def test_a_rest_just_over_a_bucket_is_not_padded_to_the_next() -> None:
    assert [c.bucket for c in plan_chunks(65, 0, BUCKETS, 2048)] == [64, 1]


def test_near_the_capacity_smaller_buckets_are_used() -> None:
    chunks = plan_chunks(100, 90, BUCKETS, 100)
    assert [c.bucket for c in chunks] == [1] * 10


def test_an_overlong_prompt_is_refused_with_both_numbers() -> None:
    with pytest.raises(PromptTooLong, match=r"prompt has 101 tokens, at most 100 fit") as caught:
        plan_chunks(101, 0, BUCKETS, 100)
    assert (caught.value.n_tokens, caught.value.max_tokens) == (101, 100)


def test_without_a_bucket_of_one_the_last_rows_cannot_be_used() -> None:
    with pytest.raises(PromptTooLong):
        plan_chunks(100, 90, (16, 64), 100)
    assert plan_chunks(100, 90, (16, 64), 106) == (Chunk(90, 10, 16),)
