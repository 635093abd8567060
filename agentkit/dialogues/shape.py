"""What a file of dialogues must look like."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from agentkit.types import Outcome
from agentkit.yaml_shape import FLAG, TEXT, WORD, WORDS, Anything, Either, Keys, ListOf, MapOf, Scalar

OUTCOMES = tuple(o.value for o in Outcome)
_UNITS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "day": 86_400}
_WAIT = re.compile(rf"(\d{{1,6}}(?:\.\d+)?) ?({'|'.join(_UNITS)})s?")
MAX_WAIT_S = 31 * 86_400


def seconds_of(text: Any) -> float | None:
    """Read a length of time such as 10 min. None if it is none."""
    found = _WAIT.fullmatch(str(text))
    seconds = float(found[1]) * _UNITS[found[2]] if found else None
    return seconds if seconds is not None and 0 < seconds <= MAX_WAIT_S else None


def moment_of(text: Any) -> datetime | None:
    """Read a local time such as 2026-01-15 21:30. None if it is none."""
    try:
        moment = datetime.fromisoformat(str(text)).replace(tzinfo=None)
    except ValueError:
        return None
    return moment if 1970 <= moment.year < 2200 else None


_DEVICES = MapOf(Keys({"state": WORD, "attributes": MapOf(Anything()), "available": FLAG}))
_GIVEN = Keys(
    {
        **dict.fromkeys(("area", "language", "user"), TEXT),
        "now": Scalar("a local time such as 2026-01-15 21:30", lambda x: moment_of(x) is not None),
        "pin": Scalar("4 to 12 digits", lambda x: re.fullmatch(r"\d{4,12}", str(x)) is not None),
        "devices": _DEVICES,
        "policy": Anything(),
    }
)
_TURN = Keys(
    {
        "say": TEXT,
        "wait": Scalar("a time such as 10 min, 2 h or 1 day", lambda x: seconds_of(x) is not None),
        "area": TEXT,
        "given": _DEVICES,
        "outcome": Scalar(f"one of {', '.join(OUTCOMES)}", lambda x: x in OUTCOMES),
        "reason": WORD,
        "calls": ListOf(Keys({"tool": WORD, "targets": WORDS, "args": MapOf(Anything())}, required=("tool",))),
        "answer": Either((TEXT, WORDS)),
        "slots": MapOf(Anything()),
        "states": MapOf(Either((WORD, MapOf(Anything())))),
        "planned": Scalar("how many timers and plans there are", lambda x: type(x) is int and x >= 0),
    }
)
DIALOGUE = Keys(
    {"name": TEXT, "given": _GIVEN, "turns": ListOf(_TURN), "mutate": FLAG, "gap": TEXT}, required=("turns",)
)

KEYS = (*DIALOGUE.known, *_GIVEN.known, *_TURN.known)
