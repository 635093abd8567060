from __future__ import annotations

import numpy as np

from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.kv_cache import KVCache, Layout, cache_bytes
from agentkit.decoder.memory_pool import Pool
from agentkit.decoder.slots import PrefixSlots
from tests.support.tiny import TINY

A, B, C = [1] * 10, [2] * 10, [3] * 10


def make_slots(n_slots: int = 2, chunk: int = 4) -> tuple[PrefixSlots, KVCache]:
    options = SessionOptions(max_seq_len=32, n_slots=n_slots, buckets=(1, chunk))
    kv = KVCache(Pool("cache", cache_bytes(TINY, options, Layout.PACKED, np.float32)), TINY, options)
    return PrefixSlots(kv, chunk=chunk), kv


def use(slots: PrefixSlots, kv: KVCache, prefix: list[int], *, n_tail: int = 3) -> tuple[int, int]:
    """Take one turn; returns the slot and how many rows were reused."""
    slot = slots.place(prefix)
    n_cached = kv.length(slot)
    kv.commit(slot, len(prefix) - n_cached)
    slots.keep(slot, prefix)
    kv.commit(slot, n_tail)
    return slot, n_cached


def test_a_known_prefix_is_reused_whole() -> None:
    slots, kv = make_slots()
    assert use(slots, kv, A) == (0, 0)
    assert use(slots, kv, A) == (0, 10)


def test_two_prefixes_live_side_by_side() -> None:
    slots, kv = make_slots()
    use(slots, kv, A)
    assert use(slots, kv, B) == (1, 0)
    assert use(slots, kv, A) == (0, 10)
    assert use(slots, kv, B) == (1, 10)


def test_the_least_recently_used_prefix_makes_room() -> None:
    slots, kv = make_slots()
    use(slots, kv, A)
    use(slots, kv, B)
    use(slots, kv, A)
    assert use(slots, kv, C) == (1, 0)
    assert use(slots, kv, A) == (0, 10)
    assert use(slots, kv, B) == (1, 0)


def test_a_prompt_without_prefix_leaves_the_static_prefix_alone() -> None:
    slots, kv = make_slots()
    use(slots, kv, A)
    for _ in range(3):
        assert use(slots, kv, []) == (1, 0)
    assert use(slots, kv, A) == (0, 10)


def test_a_similar_prefix_is_reused_up_to_a_chunk_border_by_copy() -> None:
    slots, kv = make_slots()
    use(slots, kv, A)
    for layer in range(TINY.n_layers):
        kv.keys(layer, 0)[:10] = np.arange(10, dtype=np.float32)[:, None, None]
    changed = [*A[:9], 7]
    assert use(slots, kv, changed) == (1, 8)
    assert kv.keys(0, 1)[:8, 0, 0].tolist() == list(range(8))
    assert use(slots, kv, A) == (0, 10)


def test_one_slot_serves_prefixes_one_after_the_other() -> None:
    slots, kv = make_slots(n_slots=1)
    use(slots, kv, A)
    assert use(slots, kv, [*A[:5], 7, 7]) == (0, 4)
    assert use(slots, kv, B) == (0, 0)


def test_a_prefix_that_was_not_finished_counts_for_what_it_has() -> None:
    slots, kv = make_slots()
    slot = slots.place(A)
    kv.commit(slot, 4)
    slots.keep(slot, A)
    assert use(slots, kv, A)[1] == 4


def test_a_forgotten_slot_holds_nothing() -> None:
    slots, kv = make_slots()
    use(slots, kv, A)
    slots.forget(0)
    assert kv.length(0) == 0
    assert use(slots, kv, A)[1] == 0


def test_a_busy_slot_is_left_alone_but_its_prefix_is_copied_whole() -> None:
    slots, kv = make_slots()
    slot, _ = use(slots, kv, A)
    for layer in range(TINY.n_layers):
        kv.keys(layer, slot)[:10] = np.arange(10, dtype=np.float32)[:, None, None]

    other = slots.place(A, busy={slot})

    assert other != slot
    assert (kv.length(other), kv.length(slot)) == (10, 13)  # the busy one goes on where it is
    assert kv.keys(1, other)[:10, 0, 0].tolist() == list(range(10))


def test_a_busy_slot_in_the_middle_of_its_prefix_gives_what_it_had_before() -> None:
    slots, kv = make_slots()
    slot = slots.place(A)
    kv.commit(slot, 6)  # its owner runs the prefix and has not said what it holds

    assert kv.length(slots.place(A, busy={slot})) == 0
    assert kv.length(slot) == 6
