from __future__ import annotations

import threading
import tracemalloc
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.decoder.ring import Ring


@given(capacity=st.integers(1, 5), pushes=st.lists(st.booleans(), max_size=60))
def test_a_ring_behaves_like_a_bounded_queue(capacity: int, pushes: list[bool]) -> None:
    ring: Ring[int] = Ring(capacity)
    model: deque[int] = deque()
    for number, is_push in enumerate(pushes):
        if not is_push:
            assert ring.pop() == (model.popleft() if model else None)
        elif len(model) < capacity:
            ring.push(number)
            model.append(number)
        else:
            with pytest.raises(IndexError, match=f"ring of {capacity} is full"):
                ring.push(number)
        assert len(ring) == len(model)


def test_one_producer_and_one_consumer_need_no_lock() -> None:
    ring: Ring[int] = Ring(4)
    n_items, got, has_room, has_item = 20_000, [], threading.Semaphore(4), threading.Semaphore(0)

    def produce() -> None:
        for number in range(1, n_items + 1):
            has_room.acquire()
            ring.push(number)
            has_item.release()

    thread = threading.Thread(target=produce)
    thread.start()
    for _ in range(n_items):
        has_item.acquire()
        got.append(ring.pop())
        has_room.release()
    thread.join()
    assert got == list(range(1, n_items + 1))


def test_rotating_items_allocates_nothing() -> None:
    ring: Ring[str] = Ring(4)
    tracemalloc.start()
    try:
        before = tracemalloc.take_snapshot()
        for _ in range(1000):
            ring.push("a buffer")
            ring.pop()
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    grown = [
        line.size_diff for line in after.compare_to(before, "filename") if "decoder/ring.py" in str(line.traceback)
    ]
    assert sum(grown) < 100  # of 1000 rotations: what stays is the frame of the last call
