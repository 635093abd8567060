"""Keeps power and heat below their limits by short pauses between steps, and says what it did (rules A15, C5).

Evening out the load beats chasing the peak: a rail or a chip that reaches its limit is throttled for seconds, a pause
of milliseconds is not felt. If pauses are not enough, the decoder goes down to a leaner way of running.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agentkit.decoder.sensors import Reading, Sensors

EVERY_S: Final = 0.2
"""Sensors are read that often at most; they change no faster and cost some 20 µs each."""
MAX_PAUSE_S: Final = 0.05
STEP_DOWN_S: Final = 5.0
"""At the limit for that long in spite of pauses: go one level down."""
STEP_UP_S: Final = 60.0
"""Below where pauses begin for that long: go one level up."""
THROTTLED: Final = 0.8
"""A clock below this share of what it was at the start means that somebody else already slows down."""
DEFAULT_LIMIT_C: Final = 85.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """What must not be passed. None and rails that are not named are not watched."""

    temperature_c: float | None = DEFAULT_LIMIT_C
    margin_c: float = 10.0
    """Pauses begin so far below the limit."""
    currents_a: Mapping[str, float] = field(default_factory=dict)
    """Rail → ampere."""
    power_w: float | None = None
    margin_share: float = 0.1
    """For currents and power: pauses begin at this share below the limit."""


class Governor:
    """Called before every round of steps; belongs to the thread that drives them."""

    def __init__(
        self, sensors: Sensors, limits: Limits | None = None, *, n_levels: int = 1,
        clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep,
    ):  # fmt: skip
        """`n_levels` counts the ways of running, the full one included."""
        self.limits = limits or Limits(temperature_c=sensors.trip_c() or DEFAULT_LIMIT_C)
        self.level = 0
        """0 = full; the decoder looks at it before each turn."""
        self._sensors, self._n_levels, self._clock, self._sleep = sensors, n_levels, clock, sleep
        self._reading = sensors.read()
        self._full_share = self._reading.frequency_share
        self._pressure, self._why = self._judge(self._reading)
        self._read_at = self._resumed_at = clock()
        self._hot_since: float | None = None
        self._cool_since: float | None = None
        self._paused_s, self._n_pauses = 0.0, 0
        self._actions: deque[str] = deque(maxlen=20)

    def pace(self) -> None:
        """Pause as long as the pressure asks for: at the limit as long as the last round worked."""
        now = self._clock()
        if now - self._read_at >= EVERY_S:
            self._look(now)
        if self._pressure > 0:
            pause_s = min(MAX_PAUSE_S, max(0.0, now - self._resumed_at) * min(self._pressure, 1.0))
            if pause_s > 0:
                self._sleep(pause_s)
                self._paused_s += pause_s
                self._n_pauses += 1
        self._resumed_at = self._clock()

    def describe(self) -> dict[str, Any]:
        """Return readings, limits and what was done about them, for health reports."""
        reading, limits = self._reading, self.limits
        return {
            "temperature_c": reading.temperature_c,
            "limit_c": limits.temperature_c,
            "currents_a": dict(reading.currents_a),
            "limits_a": dict(limits.currents_a),
            "power_w": reading.power_w,
            "limit_w": limits.power_w,
            "frequency_share": reading.frequency_share,
            "pressure": round(self._pressure, 3),
            "why": self._why,
            "level": self.level,
            "n_pauses": self._n_pauses,
            "paused_s": round(self._paused_s, 3),
            "actions": list(self._actions),
        }

    def _look(self, now: float) -> None:
        self._read_at, self._reading = now, self._sensors.read()
        before = self._pressure
        self._pressure, self._why = self._judge(self._reading)
        if (before > 0) != (self._pressure > 0):
            self._note(f"pauses begin: {self._why}" if self._pressure > 0 else "pauses end")
        if self._pressure < 1:
            self._hot_since = None
        elif self._hot_since is None:
            self._hot_since = now
        if self._pressure > 0:
            self._cool_since = None
        elif self._cool_since is None:
            self._cool_since = now
        self._step(now)

    def _step(self, now: float) -> None:
        """Change the level if the limit was held, or left alone, for long enough."""
        is_hot = self._hot_since is not None and now - self._hot_since >= STEP_DOWN_S
        is_cool = self._cool_since is not None and now - self._cool_since >= STEP_UP_S
        if is_hot and self.level + 1 < self._n_levels:
            self.level += 1
            self._hot_since = now
            self._note(f"down to level {self.level}: {self._why} for {STEP_DOWN_S:g} s in spite of pauses")
        elif is_cool and self.level > 0:
            self.level -= 1
            self._cool_since = now
            self._note(f"up to level {self.level}: well below the limits for {STEP_UP_S:g} s")

    def _judge(self, reading: Reading) -> tuple[float, str]:
        """Return the highest pressure, 0 where pauses begin and 1 at the limit, and where it comes from."""
        limits, found = self.limits, [(0.0, "")]
        if limits.temperature_c is not None and reading.temperature_c is not None:
            begin_c = limits.temperature_c - limits.margin_c
            text = f"{reading.temperature_c:.0f} °C of {limits.temperature_c:g} °C"
            found.append(((reading.temperature_c - begin_c) / limits.margin_c, text))
        for rail, limit_a in limits.currents_a.items():
            if rail in reading.currents_a:
                value_a = reading.currents_a[rail]
                found.append((self._share(value_a, limit_a), f"{rail} {value_a:.2f} A of {limit_a:g} A"))
        if limits.power_w is not None and reading.power_w is not None:
            share = self._share(reading.power_w, limits.power_w)
            found.append((share, f"{reading.power_w:.1f} W of {limits.power_w:g} W"))
        if reading.frequency_share is not None and reading.frequency_share < THROTTLED * (self._full_share or 1.0):
            found.append((1.0, f"clock held at {reading.frequency_share:.0%}"))
        return max(found)

    def _share(self, value: float, limit: float) -> float:
        begin = limit * (1 - self.limits.margin_share)
        return (value - begin) / (limit - begin)

    def _note(self, action: str) -> None:
        self._actions.append(f"{time.strftime('%H:%M:%S')} {action}")
        _log.info("governor: %s", action)
