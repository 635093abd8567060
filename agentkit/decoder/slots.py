"""Remembers which static prefix each cache slot holds, so that none is computed twice.

Reuse never changes an answer: a prefix is kept whole, or up to a border between full largest chunks, where a fresh
computation would have run the very same steps.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from agentkit.decoder.kv_cache import KVCache


@dataclass
class _Held:
    """What one slot holds."""

    ids: list[int] = field(default_factory=list)
    """Tokens whose rows are committed and stay."""
    used_at: int = 0


class PrefixSlots:
    """Chooses a slot for each turn; the least recently used prefix makes room."""

    def __init__(self, kv: KVCache, *, chunk: int):
        """`chunk` is the largest bucket."""
        self._kv, self._chunk = kv, chunk
        self._held = [_Held() for _ in range(kv.n_slots)]
        self._clock = 0

    def place(self, prefix_ids: Sequence[int], *, busy: Collection[int] = ()) -> int:
        """Return a slot whose committed rows are the reusable part of the prefix, maybe none of it.

        Slots in `busy` are being written to: they are not returned, but what they hold of the prefix is copied.
        """
        wanted = list(prefix_ids)
        self._clock += 1
        free = [slot for slot in range(len(self._held)) if slot not in busy]
        assert free, "every slot is busy; the scheduler admits no more turns than there are slots"
        slot = next((slot for slot in free if self._held[slot].ids == wanted), None)
        if slot is None:
            slot = min(free, key=lambda i: self._held[i].used_at)
            self._take_over(slot, wanted)
        self._kv.truncate(slot, len(self._held[slot].ids))
        self._held[slot].used_at = self._clock
        return slot

    def keep(self, slot: int, prefix_ids: Sequence[int]) -> None:
        """Note that the slot's committed rows now are this prefix, or its beginning."""
        self._held[slot].ids = list(prefix_ids[: self._kv.length(slot)])

    def forget(self, slot: int) -> None:
        """Drop what the slot holds, because its rows cannot be trusted."""
        self._held[slot] = _Held()
        self._kv.reset(slot)

    def describe(self) -> list[dict[str, int]]:
        """Return the prefix and sequence length of every slot."""
        return [
            {"slot": i, "n_prefix": len(held.ids), "n_tokens": self._kv.length(i)} for i, held in enumerate(self._held)
        ]

    def _take_over(self, slot: int, wanted: list[int]) -> None:
        """Make the slot hold as much of the wanted prefix as any slot can give."""
        source = max(range(len(self._held)), key=lambda i: (self._n_reusable(i, wanted), i == slot))
        n_reusable = self._n_reusable(source, wanted)
        if n_reusable:
            self._kv.copy(source, slot, n_reusable)
        self._held[slot] = _Held(wanted[:n_reusable])

    def _n_reusable(self, slot: int, wanted: list[int]) -> int:
        held = self._held[slot].ids
        if held == wanted:
            return len(wanted)
        n_equal = next((i for i, (a, b) in enumerate(zip(held, wanted, strict=False)) if a != b), None)
        n_equal = min(len(held), len(wanted)) if n_equal is None else n_equal
        return n_equal // self._chunk * self._chunk
