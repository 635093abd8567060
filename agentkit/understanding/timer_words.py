"""How a language speaks of timers, alarms and plans, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from agentkit.yaml_lines import load_mapping
from agentkit.yaml_shape import WORDS, Keys, check_shape

ACTS = ("set", "cancel", "pause", "resume", "add", "subtract", "status", "all", "wake", "remind")


@dataclass(frozen=True)
class TimerWords:
    """One language's words; all empty = the language has no timers."""

    timer: tuple[str, ...] = ()
    alarm: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    reminder: tuple[str, ...] = ()
    """Nouns for an alarm that says something."""
    many: tuple[str, ...] = ()
    """Those of these words that mean all there are ("cancel the alarms")."""
    acts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Each of ACTS → phrases; what follows one of remind is what to be reminded of."""
    left: tuple[str, ...] = ()
    """Whole utterances that ask for the time left of the timer without naming one."""
    after_noun: tuple[str, ...] = ()
    """Words that may stand between an amount and the timer ("off", "to")."""
    named: tuple[str, ...] = ()
    """Words before a name that follows the noun."""
    no_names: tuple[str, ...] = ()
    """Words that no timer is called: verbs that speak of another device ("arm")."""
    fillers: tuple[str, ...] = ()
    """Words that mean nothing here."""


def load_timer_words(path: Path) -> TimerWords:
    """Read words/timers_LANGUAGE.yaml; an app without one has no such sentences of its own. Raises ConfigError."""
    if not path.is_file():
        return TimerWords()
    raw = load_mapping(path)
    lists = {f.name: WORDS for f in fields(TimerWords) if f.name != "acts"}
    check_shape(raw, Keys({**lists, "acts": Keys(dict.fromkeys(ACTS, WORDS))}), raw.error)
    return TimerWords(
        acts={k: _texts(v) for k, v in (raw.get("acts") or {}).items()},
        **{k: _texts(v) for k, v in raw.items() if k != "acts"},
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(x).lower() for x in value or ())
