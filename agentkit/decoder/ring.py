"""A ring buffer between two stages: one of them only writes, the other only reads, and neither ever locks."""

from __future__ import annotations

from typing import Generic, TypeVar

Item = TypeVar("Item")


class Ring(Generic[Item]):
    """A bounded queue of fixed memory for one producer and one consumer.

    The producer alone moves the tail and the consumer alone the head, each only after the place is filled or emptied,
    so two threads need no lock. Nothing is allocated after construction.
    """

    def __init__(self, capacity: int):
        self._items: list[Item | None] = [None] * (capacity + 1)  # one place stays empty: full differs from empty
        self._head, self._tail = 0, 0

    def __len__(self) -> int:
        return (self._tail - self._head) % len(self._items)

    def push(self, item: Item) -> None:
        """Add an item behind the others. Raises IndexError if the ring is full, which its owner must rule out."""
        after = (self._tail + 1) % len(self._items)
        if after == self._head:
            raise IndexError(f"ring of {len(self._items) - 1} is full; give it a place for every item in rotation")
        self._items[self._tail] = item
        self._tail = after  # last: the consumer looks at the tail

    def pop(self) -> Item | None:
        """Take the oldest item; None if there is none."""
        if self._head == self._tail:
            return None
        item = self._items[self._head]
        self._items[self._head] = None
        self._head = (self._head + 1) % len(self._items)
        return item
