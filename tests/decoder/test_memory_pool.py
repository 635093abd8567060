from __future__ import annotations

import numpy as np
import pytest

from agentkit.decoder.backend import PoolSizes
from agentkit.decoder.memory_pool import Pool, Pools, aligned_bytes
from agentkit.errors import PoolError


def test_arrays_are_zeroed_aligned_and_do_not_overlap() -> None:
    pool = Pool("temp", 4096)

    first, second = pool.alloc("first", (3, 5), np.float32), pool.alloc("second", (7,), np.int64)
    first[...] = 1

    assert second.tolist() == [0] * 7
    assert (first.ctypes.data % 64, second.ctypes.data % 64) == (0, 0)
    assert pool.allocations == {"first": 64, "second": 64}


def test_a_pool_of_the_computed_size_holds_exactly_what_was_computed() -> None:
    shapes = [((3, 5), np.float32), ((100,), np.float16), ((1,), np.int64)]
    pool = Pool("weight", sum(aligned_bytes(shape, dtype) for shape, dtype in shapes))

    for i, (shape, dtype) in enumerate(shapes):
        pool.alloc(str(i), shape, dtype)

    assert pool.used_bytes == pool.n_bytes
    with pytest.raises(PoolError, match="wants 64 bytes, 0 of"):
        pool.alloc("more", (1,), np.int8)


def test_a_sealed_pool_refuses_views_and_reservations() -> None:
    pool = Pool("cache", 1024)
    pool.seal()

    with pytest.raises(PoolError, match="sealed: late wants 64 bytes"):
        pool.alloc("late", (4,), np.float32)
    with pytest.raises(PoolError, match="sealed"):
        pool.reserve("late", 1)
    assert pool.used_bytes == 0


def test_reserved_bytes_count_before_and_after_the_block_exists() -> None:
    pool = Pool("weight", 256)
    pool.reserve("runtime", 128)
    view = pool.alloc("rows", (16,), np.float32)

    with pytest.raises(PoolError, match="128 bytes, 64 of 256"):
        pool.reserve("too much", 128)
    assert view.nbytes == 64
    assert pool.used_bytes == 192


def test_a_name_is_taken_once() -> None:
    pool = Pool("temp", 1024)
    pool.alloc("logits", (4,), np.float32)

    with pytest.raises(PoolError, match="logits is allocated already"):
        pool.alloc("logits", (4,), np.float32)


def test_pools_are_sealed_together_and_described() -> None:
    pools = Pools.from_sizes(PoolSizes(weight_bytes=64, cache_bytes=128, temp_bytes=192))
    pools.cache.reserve("kv", 128)

    pools.seal()

    assert pools.describe()["cache"] == {"n_bytes": 128, "used_bytes": 128, "is_sealed": True}
    assert all(pool["is_sealed"] for pool in pools.describe().values())
