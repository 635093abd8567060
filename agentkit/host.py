"""A running app as its edges see it: a registry at once, an agent as soon as start-up is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from agentkit.agent.schedule import Schedule
from agentkit.agent.trace import TurnRecord
from agentkit.devices.registry import Registry
from agentkit.errors import NotReady
from agentkit.types import ActionResult, Reply, Utterance


class Phase(StrEnum):
    """How far start-up is."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"


class Turns(Protocol):
    """What an edge needs of the agent."""

    def handle(self, utterance: Utterance, *, is_wanted: Callable[[], bool] = ...) -> Reply:
        """Run one turn. Raises Abandoned if it is no longer wanted when it begins."""
        ...

    def act(
        self, device_id: str, tool: str, args: Mapping[str, Any], *, is_wanted: Callable[[], bool] = ...
    ) -> ActionResult:
        """Run one action without language, under the same policy."""
        ...


@dataclass(frozen=True)
class Opened:
    """What start-up hands over when everything is warm."""

    agent: Turns
    plan: Mapping[str, Any] = field(default_factory=dict)
    """Chosen targets and rejections with their reasons; empty without a model."""
    status: Callable[[], Mapping[str, Any]] = dict
    """Target, fallback reason and pools as they are now."""
    close: Callable[[], None] = lambda: None
    schedule: Schedule | None = None
    """Timers, alarms and plans."""
    history: Callable[[], Sequence[TurnRecord]] = tuple
    """The last turns, oldest first."""


class Host:
    """Owns the phase of a running app. `start` may run in another thread than the readers."""

    def __init__(self, name: str, registry: Registry, open_agent: Callable[[Callable[[str], None]], Opened]):
        self.name = name
        self.registry = registry
        self.started_at = time.monotonic()
        self.detail = "not started"
        """One line for people: what start-up does now, or why it failed."""
        self._phase = Phase.STARTING
        self._open_agent = open_agent
        self._opened: Opened | None = None
        self._lock = threading.Lock()

    @property
    def phase(self) -> Phase:
        """How far start-up is."""
        return self._phase

    def start(self) -> None:
        """Run start-up to its end. Raises what it raises, after recording it."""
        try:
            opened = self._open_agent(self._report)
        except BaseException as err:
            self.detail, self._phase = str(err) or type(err).__name__, Phase.FAILED
            raise
        with self._lock:
            if self._phase is Phase.STARTING:
                self._opened, self._phase, self.detail = opened, Phase.READY, "ready"
                return
        opened.close()

    def agent(self) -> Turns:
        """The agent. Raises NotReady before start-up is over."""
        return self.opened().agent

    def opened(self) -> Opened:
        """All that start-up handed over. Raises NotReady before it is over."""
        opened = self._opened
        if opened is None or self._phase is not Phase.READY:
            raise NotReady(f"{self.name} is {self._phase}: {self.detail}")
        return opened

    def close(self) -> None:
        """Close what is open; calling it twice is harmless, also in the middle of start-up."""
        with self._lock:
            opened, self._opened = self._opened, None
            if self._phase is not Phase.FAILED:
                self._phase, self.detail = Phase.STOPPED, "shutting down"
        if opened is not None:
            opened.close()

    def _report(self, line: str) -> None:
        self.detail = line
