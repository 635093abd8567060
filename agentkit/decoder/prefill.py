"""Cuts a run of tokens into padded steps of fixed length.

Padding contract: ids are right-padded to a bucket, only the first n_valid count, and the rows that padding writes lie
above the committed length, so nothing ever reads them. A step must fit the cache with its padding; near the capacity
smaller buckets are used. Nothing is cut: what does not fit raises PromptTooLong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from agentkit.errors import PromptTooLong

STEP_COST: Final = 5
"""What one more step costs, in tokens of padding: a decode step on a CPU takes about as long as 6 tokens of prefill."""


@dataclass(frozen=True)
class Chunk:
    """One padded step."""

    start: int
    """Row of the first token, equal to the slot's length before the step."""
    n_valid: int
    bucket: int


def plan_chunks(n_tokens: int, n_cached: int, buckets: Sequence[int], capacity: int) -> tuple[Chunk, ...]:
    """Plan the steps for tokens n_cached … n_tokens-1 of a sequence.

    Full largest buckets come first, so chunks end at the same rows whatever follows; the rest takes the cheapest mix.
    Raises PromptTooLong if the tokens do not fit the capacity.
    """
    assert 0 <= n_cached <= n_tokens, (n_cached, n_tokens)
    if n_tokens > capacity:
        raise PromptTooLong(n_tokens=n_tokens, max_tokens=capacity)
    largest = max(bucket for bucket in buckets)
    chunks, row = [], n_cached
    while n_tokens - row >= largest:
        chunks.append(Chunk(row, largest, largest))
        row += largest
    for bucket in _cheapest(n_tokens - row, capacity - row, tuple(sorted(buckets)))[1]:
        n_valid = min(bucket, n_tokens - row)
        chunks.append(Chunk(row, n_valid, bucket))
        row += n_valid
    if row < n_tokens:  # only without a bucket of 1: the last tokens have no room for padding
        raise PromptTooLong(n_tokens=n_tokens, max_tokens=row)
    return tuple(chunks)


@lru_cache(maxsize=4096)
def _cheapest(n_left: int, room: int, buckets: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return cost and buckets of the cheapest way to run n_left tokens with `room` rows; () where nothing fits."""
    if n_left == 0:
        return 0, ()
    options: list[tuple[int, tuple[int, ...]]] = []
    padded = next((bucket for bucket in buckets if n_left <= bucket <= room), None)
    if padded is not None:
        options.append((padded + STEP_COST, (padded,)))
    full = next((bucket for bucket in reversed(buckets) if bucket < n_left and bucket <= room), None)
    if full is not None:
        cost, rest = _cheapest(n_left - full, room - full, buckets)
        if rest:
            options.append((full + STEP_COST + cost, (full, *rest)))
    return min(options, default=(0, ()))
