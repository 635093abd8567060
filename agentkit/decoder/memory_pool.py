"""Three memory pools of fixed size (rule A9): sizes are computed first, then filled, then sealed.

A pool hands out views into one block. What a runtime holds outside of it (ONNX Runtime keeps its own copy of the
weights) is reserved by size, so that the books are complete and a late allocation is an error either way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from agentkit.decoder.backend import PoolSizes
from agentkit.errors import PoolError

ALIGNMENT = 64
"""Bytes: one cache line, and the width of the widest vector load."""


def aligned_bytes(shape: tuple[int, ...], dtype: DTypeLike) -> int:
    """Return what one allocation takes from a pool, rounded up to the alignment."""
    return align(math.prod(shape) * np.dtype(dtype).itemsize)


def align(n_bytes: int) -> int:
    """Round up to the alignment."""
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


class Pool:
    """One block of memory of fixed size that only ever fills up."""

    def __init__(self, name: str, n_bytes: int):
        self.name, self.n_bytes = name, n_bytes
        self._block: NDArray[np.uint8] | None = None  # [block bytes] u8, made when the first view is asked for
        self._block_used = 0
        self._allocations: dict[str, int] = {}
        self._is_sealed = False

    @property
    def used_bytes(self) -> int:
        """Bytes handed out or reserved so far."""
        return sum(self._allocations.values())

    @property
    def is_sealed(self) -> bool:
        """True once nothing more may be taken."""
        return self._is_sealed

    @property
    def allocations(self) -> Mapping[str, int]:
        """Bytes by name, in the order they were taken."""
        return MappingProxyType(self._allocations)

    def alloc(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Take a zeroed, 64-byte aligned array out of the block. Raises PoolError after seal or past the size."""
        n_bytes = aligned_bytes(shape, dtype)
        remaining = self.n_bytes - self.used_bytes
        self._account(name, n_bytes)
        if self._block is None:
            self._block = _zeroed_block(remaining)
        start = self._block_used
        if start + n_bytes > self._block.size:  # a reservation came after the block was made
            raise PoolError(f"{self.name} pool: {name} wants {n_bytes} bytes, {self._block.size - start} are left")
        self._block_used += n_bytes
        n_payload = math.prod(shape) * np.dtype(dtype).itemsize
        return self._block[start : start + n_payload].view(dtype).reshape(shape)

    def adopt(self, block: NDArray[np.uint8]) -> None:
        """Hand out views of this block, which another process shares, instead of one of its own."""
        if self._block is not None:
            raise PoolError(f"{self.name} pool: it has memory already; share it before anything is allocated")
        self._block = block

    def reserve(self, name: str, n_bytes: int) -> None:
        """Enter bytes that a runtime holds outside the block. Raises PoolError after seal or past the size."""
        self._account(name, n_bytes)

    def seal(self) -> None:
        """Refuse every later allocation; sealing twice is harmless."""
        self._is_sealed = True

    def _account(self, name: str, n_bytes: int) -> None:
        if self._is_sealed:
            raise PoolError(f"{self.name} pool is sealed: {name} wants {n_bytes} bytes; allocate before warm-up ends")
        if name in self._allocations:
            raise PoolError(f"{self.name} pool: {name} is allocated already; use another name")
        remaining = self.n_bytes - self.used_bytes
        if n_bytes > remaining:
            raise PoolError(
                f"{self.name} pool: {name} wants {n_bytes} bytes, {remaining} of {self.n_bytes} are left; "
                "the plan must count it"
            )
        self._allocations[name] = n_bytes


def _zeroed_block(n_bytes: int) -> NDArray[np.uint8]:
    raw = np.empty(n_bytes + ALIGNMENT, np.uint8)
    raw.fill(0)  # takes every page now: memory must not run out, nor grow, in mid-answer; and no unwritten row is NaN
    skip = -raw.ctypes.data % ALIGNMENT
    return raw[skip : skip + n_bytes]


@dataclass(frozen=True)
class Pools:
    """The pools of one opened model."""

    weight: Pool
    """Fixed after load."""
    cache: Pool
    """K and V rows of all slots."""
    temp: Pool
    """Inputs, outputs and intermediates of one step."""

    @classmethod
    def from_sizes(cls, sizes: PoolSizes) -> Pools:
        """Make empty pools of the planned sizes."""
        return cls(
            weight=Pool("weight", sizes.weight_bytes),
            cache=Pool("cache", sizes.cache_bytes),
            temp=Pool("temp", sizes.temp_bytes),
        )

    def seal(self) -> None:
        """Seal all three; called once, after warm-up."""
        for pool in (self.weight, self.cache, self.temp):
            pool.seal()

    def describe(self) -> dict[str, dict[str, int | bool]]:
        """Return size, use and seal of each pool, for health and printing."""
        return {
            pool.name: {"n_bytes": pool.n_bytes, "used_bytes": pool.used_bytes, "is_sealed": pool.is_sealed}
            for pool in (self.weight, self.cache, self.temp)
        }
