from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.kv_cache import KVCache, Layout, cache_bytes, cache_shape
from agentkit.decoder.memory_pool import Pool
from agentkit.errors import PromptTooLong
from tests.support.tiny import TINY

CAPACITY, N_SLOTS = 12, 3
OPTIONS = SessionOptions(max_seq_len=CAPACITY, n_slots=N_SLOTS, buckets=(1,))


def make_cache(layout: Layout = Layout.PACKED) -> KVCache:
    pool = Pool("cache", cache_bytes(TINY, OPTIONS, layout, np.float32))
    return KVCache(pool, TINY, OPTIONS, layout=layout, dtype=np.float32)


def write_rows(cache: KVCache, slot: int, start: int, values: list[int]) -> None:
    for layer in range(TINY.n_layers):
        for row, value in enumerate(values, start):
            cache.keys(layer, slot)[row] = value + layer
            cache.values(layer, slot)[row] = -value - layer


def read_rows(cache: KVCache, slot: int) -> list[int]:
    n_rows = cache.length(slot)
    for layer in range(TINY.n_layers):
        keys, values = cache.keys(layer, slot)[:n_rows], cache.values(layer, slot)[:n_rows]
        assert (keys == -values).all()
        assert (keys == keys[:, :1, :1]).all()
    return [int(row) for row in cache.keys(0, slot)[:n_rows, 0, 0]]


def test_canonical_order_packs_k_and_v_and_pads_the_heads() -> None:
    cache = make_cache()

    cache.keys(1, 2)[3, 1] = 5
    cache.values(1, 2)[3, 1] = 7

    assert cache_shape(TINY, OPTIONS, Layout.PACKED) == (2, N_SLOTS, CAPACITY, 2, 128)
    row = cache.data[1, 2, 3, 1]
    assert row[:16].tolist() == [5] * 16
    assert row[64:80].tolist() == [7] * 16
    assert np.count_nonzero(cache.data) == 32


def test_commit_past_the_capacity_is_refused_and_moves_nothing() -> None:
    cache = make_cache()
    cache.commit(0, 10)

    with pytest.raises(PromptTooLong, match="has 13 tokens, at most 12 fit"):
        cache.commit(0, 3)

    assert cache.length(0) == 10


def test_rows_that_were_never_run_cannot_become_readable() -> None:
    cache = make_cache()
    cache.commit(0, 4)

    with pytest.raises(ValueError, match="wanted 0 to 4"):
        cache.truncate(0, 5)
    with pytest.raises(ValueError, match="wanted 0 or more"):
        cache.commit(0, -1)
    assert cache.length(0) == 4


def test_more_rows_than_are_committed_cannot_be_copied() -> None:
    cache = make_cache()
    cache.commit(0, 4)

    with pytest.raises(ValueError, match="copy: got 5 rows, wanted 0 to 4"):
        cache.copy(0, 1, 5)

    assert cache.length(1) == 0


@pytest.mark.parametrize("slot", [-1, N_SLOTS])
def test_a_slot_outside_of_the_cache_is_named(slot: int) -> None:
    cache = make_cache()

    with pytest.raises(IndexError, match=f"slot {slot}: wanted 0 to 2"):
        cache.commit(slot, 1)
    with pytest.raises(IndexError, match=f"slot {slot}"):
        cache.copy(0, slot)


SLOTS = st.integers(0, N_SLOTS - 1)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), SLOTS, st.integers(0, CAPACITY)),
        st.tuples(st.just("truncate"), SLOTS, st.integers(0, CAPACITY)),
        st.tuples(st.just("copy"), SLOTS, SLOTS),
        st.tuples(st.just("copy_half"), SLOTS, SLOTS),
        st.tuples(st.just("reset"), SLOTS, st.just(0)),
        st.tuples(st.just("scribble"), SLOTS, st.integers(0, CAPACITY)),
    ),
    max_size=30,
)


@given(layout=st.sampled_from((Layout.PACKED, Layout.HEADS_FIRST)), operations=OPERATIONS)
def test_slots_behave_like_independent_bounded_lists(layout: Layout, operations: list[tuple[str, int, int]]) -> None:
    cache = make_cache(layout)
    model: list[list[int]] = [[] for _ in range(N_SLOTS)]
    for value, (operation, slot, number) in enumerate(operations, 1):
        apply(cache, model, operation, slot, number, value=value)

    assert [read_rows(cache, slot) for slot in range(N_SLOTS)] == model


def apply(cache: KVCache, model: list[list[int]], operation: str, slot: int, number: int, *, value: int) -> None:
    rows = model[slot]
    free = CAPACITY - len(rows)
    if operation == "append" and number <= free:
        write_rows(cache, slot, len(rows), [value] * number)
        cache.commit(slot, number)
        rows.extend([value] * number)
    elif operation == "append":
        with pytest.raises(PromptTooLong):
            cache.commit(slot, number)
    elif operation == "truncate" and number <= len(rows):
        cache.truncate(slot, number)
        del rows[number:]
    elif operation == "copy":
        cache.copy(slot, number)
        model[number] = list(rows)
    elif operation == "copy_half":
        cache.copy(slot, number, len(rows) // 2)
        model[number] = rows[: len(rows) // 2]
    elif operation == "reset":
        cache.reset(slot)
        rows.clear()
    elif operation == "scribble":  # rows above the length may hold anything
        write_rows(cache, slot, len(rows), [99] * min(number, free))


def test_blocks_hold_32_rows_each_and_are_copied_and_viewed_whole() -> None:
    options = SessionOptions(max_seq_len=100, n_slots=2, buckets=(1,))
    pool = Pool("cache", cache_bytes(TINY, options, Layout.BLOCKS, np.uint8))
    cache = KVCache(pool, TINY, options, layout=Layout.BLOCKS, dtype=np.uint8)

    assert cache.data.shape == (2, 2, 4, 2, 32 * 132)
    assert [len(cache.rows(0, n)[0]) for n in (0, 1, 32, 33, 100)] == [0, 1, 1, 2, 4]
    cache.data[:, 0] = 7
    cache.commit(0, 33)
    cache.copy(0, 1)
    assert (cache.data[:, 1, :2] == 7).all()
    assert not cache.data[:, 1, 2:].any()
    assert cache.length(1) == 33
    with pytest.raises(ValueError, match="only its target reads single rows"):
        cache.keys(0, 0)
