"""The planned targets in order: one is in use, the next is opened when the one before fails (rule B10)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agentkit.decoder.backend import Session
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


class Targets:
    """Owns the lanes. A target that failed is used again only when all those after it have failed too."""

    def __init__(self, planned: Sequence[tuple[str, Planned]]):
        if not planned:
            raise DecoderError("the decoder got no target, wanted at least one; see `agentkit plan`")
        self._planned = list(planned)
        self._lanes: dict[int, Lane] = {}
        self._index = 0
        self._reasons: list[str] = []

    @property
    def fallback_reason(self) -> str | None:
        """Why the first planned target is not the one in use; None if it is."""
        return "; ".join(self._reasons) or None

    @property
    def name(self) -> str:
        """Name of the target in use."""
        return self._planned[self._index][0]

    def current(self) -> Lane:
        """Return the lane in use, opening it if need be. Raises the last target's error if none opens."""
        while self._index not in self._lanes:
            try:
                self._lanes[self._index] = self._open()
            except AgentKitError as err:
                self._next(err)
        return self._lanes[self._index]

    def warm_up(self) -> None:
        """Run every bucket of the target in use three times; one that fails is replaced by the next."""
        while True:
            lane = self.current()
            if lane.warm_ms and self._index > 0:  # a fallback was warmed up when it was opened
                return
            try:
                lane.warm_up()
            except StepFailed as err:
                self.fail(err)
            else:
                return

    def fail(self, err: StepFailed) -> None:
        """Give up the target in use and move to the next. Raises err if there is none; then the first is up again."""
        self._next(err)

    def close(self) -> None:
        """Close every open session."""
        for lane in self._lanes.values():
            lane.session.close()
        self._lanes.clear()

    def describe(self) -> dict[str, Any]:
        """Return target, order and reason for health reports."""
        lane = self._lanes.get(self._index)
        return {
            "target": self.name,
            "planned": [name for name, _ in self._planned],
            "fallback_reason": self.fallback_reason,
            **(lane.describe() if lane else {}),
        }

    def _open(self) -> Lane:
        name, planned = self._planned[self._index]
        if hasattr(planned, "step"):
            return Lane(name, cast(Session, planned))
        opened = planned()
        lane = Lane(name, opened.session, opened.pools, prefixes=opened.prefixes)
        if self._index > 0:  # somebody may be waiting for an answer: once over each path is enough
            lane.warm_up(n_runs=1)
        return lane

    def _next(self, err: AgentKitError) -> None:
        if self._index + 1 >= len(self._planned):
            self._index, self._reasons = 0, []  # nothing is left, so the next turn tries the plan from the top
            raise err
        self._index += 1
        self._reasons.append(f"{self._planned[self._index - 1][0]}: {err}")
        _log.warning("decode: %s → %s (%s)", self._planned[self._index - 1][0], self.name, err)
