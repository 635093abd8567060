"""How a language speaks of timers, alarms and plans, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from agentkit.errors import ConfigError

ACTS = ("set", "cancel", "pause", "resume", "add", "subtract", "status", "all", "wake", "remind")


@dataclass(frozen=True)
class TimerWords:
    """One language's words; all empty = the language has no timers."""

    timer: tuple[str, ...] = ()
    alarm: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    acts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Each of ACTS → phrases; what follows one of remind is what to be reminded of."""
    after_noun: tuple[str, ...] = ()
    """Words that may stand between an amount and the timer ("off", "to")."""
    named: tuple[str, ...] = ()
    """Words before a name that follows the noun."""
    fillers: tuple[str, ...] = ()
    """Words that mean nothing here."""


def load_timer_words(path: Path) -> TimerWords:
    """Read words/timers_LANGUAGE.yaml; an app without one has no such sentences of its own. Raises ConfigError."""
    if not path.is_file():
        return TimerWords()
    try:
        raw = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as err:
        raise ConfigError(f"is no YAML: {err}", path=path) from err
    known = {f.name for f in fields(TimerWords)}
    if not isinstance(raw, Mapping) or set(raw) - known:
        wrong = ", ".join(sorted(map(str, set(raw) - known))) if isinstance(raw, Mapping) else type(raw).__name__
        raise ConfigError(f"{wrong} is not known; known are {', '.join(sorted(known))}", path=path)
    acts = raw.get("acts") or {}
    if unknown := set(acts) - set(ACTS):
        raise ConfigError(f"acts.{min(unknown)} is not known; known are {', '.join(ACTS)}", path=path, key="acts")
    lists = {k: _texts(v, k, path) for k, v in raw.items() if k != "acts"}
    return TimerWords(acts={k: _texts(v, k, path) for k, v in acts.items()}, **lists)


def _texts(value: Any, key: str, path: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise ConfigError(f"{key} is no list of words; put on, off, yes and no in quotes", path=path, key=key)
    return tuple(x.lower() for x in value)
