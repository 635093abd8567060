"""The planned targets in order: one is in use, the next is opened when the one before fails (rule B10)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from agentkit.decoder.backend import Session
from agentkit.decoder.breaker import Breaker
from agentkit.decoder.lane import Lane
from agentkit.decoder.memory_pool import Pools
from agentkit.decoder.prefix_store import PrefixStore
from agentkit.errors import AgentKitError, DecoderError, StepFailed

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Opened:
    """What opening a target gives."""

    session: Session
    pools: Pools | None = None
    """Sealed after warm-up; None if the caller seals them."""
    prefixes: PrefixStore | None = None
    """Where static prefixes outlive the process; None = nowhere."""


Opener = Callable[[], Opened]
Planned = Session | Opener
"""A target that is open already, or how to open it when it is needed."""


@dataclass(eq=False)
class _Entry:
    """One planned target."""

    name: str
    planned: Planned
    breaker: Breaker
    lane: Lane | None = None
    is_hung: bool = False
    """A call into it never came back, so it must not even be closed."""
    probed: Lane | None = field(default=None, repr=False)
    """A lane that a probe found healthy and nobody has taken yet."""


class Targets:
    """Owns the lanes. A failed target is tried again in the background, and used again once that went well."""

    def __init__(
        self, planned: Sequence[tuple[str, Planned]], *, lean: Sequence[tuple[str, Planned]] = (),
        clock: Callable[[], float] = time.monotonic,
    ):  # fmt: skip
        """`lean` are ways of running that draw less and less power, for the levels of a governor."""
        if not planned:
            raise DecoderError("the decoder got no target, wanted at least one; see `agentkit plan`")
        self._planned = [_Entry(name, target, Breaker(clock)) for name, target in planned]
        self._lean = [_Entry(name, target, Breaker(clock)) for name, target in lean]
        self._entries = self._planned  # in the order that the level asks for
        self._used = self._entries[0]
        self._n_fallbacks = 0
        self._probe: threading.Thread | None = None

    @property
    def fallback_reason(self) -> str | None:
        """Why the first planned target is not the one in use; None if it is."""
        before = self._before_used()
        return "; ".join(f"{entry.name}: {entry.breaker.reason}" for entry in before if entry.breaker.is_open) or None

    @property
    def name(self) -> str:
        """Name of the target in use."""
        return self._used.name

    def set_level(self, level: int) -> None:
        """Prefer the lean way of that level, then those above it; 0 = none. Counts from the next `current` on."""
        self._entries = [*self._lean[:level][::-1], *self._planned]

    def current(self) -> Lane:
        """Return the lane of the first target that is not failing, opening it if need be.

        Raises the last target's error if none opens; then all count as untried again.
        """
        while True:
            entry = self._first_closed()
            if entry.probed is not None:
                entry.lane, entry.probed = entry.probed, None
            try:
                if entry.lane is None:
                    entry.lane = self._open(entry)
            except AgentKitError as err:
                self._fail(entry, err)
            else:
                self._used = entry
                return entry.lane

    def warm_up(self) -> None:
        """Run every bucket of the target in use three times; one that fails is replaced by the next."""
        while True:
            lane = self.current()
            if lane.warm_ms and self._used is not self._planned[0]:  # a fallback was warmed up when it was opened
                return
            try:
                lane.warm_up()
            except StepFailed as err:
                self.fail(err)
            else:
                return

    def fail(self, err: StepFailed, *, is_hung: bool = False) -> None:
        """Give up the target in use. Raises err if no other is left; then all count as untried again."""
        self._used.is_hung = self._used.is_hung or is_hung
        self._fail(self._used, err)

    def recover(self) -> None:
        """Try targets before the one in use whose back-off is over, in a thread of its own; returns at once."""
        due = [entry for entry in self._before_used() if entry.breaker.is_due and not entry.is_hung]
        if due and (self._probe is None or not self._probe.is_alive()):
            self._probe = threading.Thread(target=self._try, args=(due[0],), name=f"probe-{due[0].name}", daemon=True)
            self._probe.start()

    def close(self) -> None:
        """Close every open session."""
        if self._probe is not None:
            self._probe.join(timeout=1.0)  # it may hang in a target; then it is left behind
        for entry in (*self._planned, *self._lean):
            self._close(entry)

    def describe(self) -> dict[str, Any]:
        """Return target, order, reason and what failed for health reports."""
        return {
            "target": self.name,
            "planned": [entry.name for entry in self._planned],
            "fallback_reason": self.fallback_reason,
            "n_fallbacks": self._n_fallbacks,
            "breakers": {entry.name: entry.breaker.describe() for entry in (*self._lean, *self._planned)},
            **(self._used.lane.describe() if self._used.lane else {}),
        }

    def _before_used(self) -> list[_Entry]:
        at = self._entries.index(self._used) if self._used in self._entries else 0
        return self._entries[:at]

    def _first_closed(self) -> _Entry:
        return next(entry for entry in self._entries if not entry.breaker.is_open)

    def _open(self, entry: _Entry) -> Lane:
        if hasattr(entry.planned, "step"):
            return Lane(entry.name, cast(Session, entry.planned))
        opened = entry.planned()
        lane = Lane(entry.name, opened.session, opened.pools, prefixes=opened.prefixes)
        if entry is not self._planned[0]:  # somebody may be waiting for an answer: once over each path is enough
            lane.warm_up(n_runs=1)
        return lane

    def _fail(self, entry: _Entry, err: AgentKitError) -> None:
        entry.breaker.trip(str(err))
        if all(other.breaker.is_open for other in self._entries):
            for other in (*self._lean, *self._planned):  # nothing is left, so the next turn tries the plan from the top
                other.breaker.close()
                if other.is_hung:
                    other.lane, other.is_hung = None, False
            self._used = self._entries[0]
            raise err
        self._used = self._first_closed()
        self._n_fallbacks += 1
        _log.warning("decode: %s → %s (%s)", entry.name, self._used.name, err)

    def _try(self, entry: _Entry) -> None:
        try:
            if hasattr(entry.planned, "step"):
                lane = entry.lane or Lane(entry.name, cast(Session, entry.planned))
            else:
                self._close(entry)
                lane = self._open(entry)
            lane.warm_up(n_runs=1)
        except AgentKitError as err:
            entry.breaker.trip(str(err))
            _log.info("decode: %s still fails (%s)", entry.name, err)
        else:
            entry.probed = lane
            entry.breaker.close()  # last: from here on it may be taken
            _log.warning("decode: %s works again", entry.name)

    def _close(self, entry: _Entry) -> None:
        lanes = [lane for lane in (entry.lane, entry.probed) if lane is not None]
        entry.lane = entry.probed = None
        for lane in {id(lane): lane for lane in lanes}.values():
            if not entry.is_hung:
                lane.session.close()
