"""Who asks for a turn, told past the layers in between, which have no business with it.

A server knows that a client has hung up, a voice pipeline that somebody stands there and waits; the decoder needs both.
Whoever takes the request wraps its handling in `calling`; everything the decoder does inside of it, in that thread,
is done for that caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class Priority(IntEnum):
    """Whose steps go first."""

    VOICE = 0
    """Somebody stands in the room and waits."""
    CHAT = 1
    BACKGROUND = 2


@dataclass(frozen=True)
class Caller:
    """What is known of the one who asks."""

    is_gone: Callable[[], bool] | None = None
    """Looked at between steps; once it is true the turn ends within one step."""
    priority: Priority = Priority.CHAT
    while_waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    """Entered while the turn waits for the model, so that a caller can let others go on meanwhile."""


_CALLER: Final[ContextVar[Caller]] = ContextVar("caller", default=Caller())  # noqa: B039 - it is frozen


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Do what follows for this caller."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)


def current_caller() -> Caller:
    """Return the caller of whatever runs now."""
    return _CALLER.get()
