"""When something is due: a delay, a clock time, or a rule that repeats. Pure; the clock is passed in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

MAX_SECONDS = 366 * 86_400
"""Longest delay and longest timer."""


class WhenKind(StrEnum):
    """How a time was said."""

    NOW = "now"
    """At once, with an end."""
    DELAY = "delay"
    AT = "at"
    RECURRING = "recurring"


@dataclass(frozen=True)
class When:
    """A time as said; `due` makes a moment of it."""

    kind: WhenKind
    seconds: float | None = None
    """Of a delay, or between two repetitions ("every two hours")."""
    hour: int | None = None
    minute: int = 0
    is_half_open: bool = False
    """Neither morning nor evening was said: "nine" is the next nine o'clock."""
    day_offset: int | None = None
    """0 = today, 1 = tomorrow …"""
    weekdays: tuple[int, ...] = ()
    """Monday is 1; of a rule, empty = every day."""
    weeks: int = 0
    """Weeks to skip ("on Friday next week" is 1)."""
    month_day: tuple[int, int] | None = None
    text: str = ""
    """The words that said it."""
    is_bare: bool = False
    """Only a number said it ("at nine"), which might be a value as well."""
    until: When | None = None
    """When it is undone: a delay counts from its beginning. None = never."""

    @property
    def start(self) -> When | None:
        """The same without its end; None = now."""
        return None if self.kind is WhenKind.NOW else replace(self, until=None)

    def due(self, now: datetime) -> datetime | None:
        """The first moment after `now` that fits. None if there is none, for example today at a time that is past."""
        if self.kind is WhenKind.NOW:
            return now
        if self.hour is None:
            return None if self.seconds is None else now + timedelta(seconds=self.seconds)
        found = [m for h in self._hours() for d in self._days(now) if (m := _at(now, d, h, self.minute)) and m > now]
        return min(found, default=None)

    def settled(self, now: datetime) -> When:
        """The same with the half of the day decided, so that a rule does not drift."""
        due = self.due(now)
        if due is None or self.hour is None:
            return self
        return replace(self, hour=due.hour, is_half_open=False)

    def _hours(self) -> tuple[int, ...]:
        assert self.hour is not None, self
        is_either = self.is_half_open and 0 < self.hour <= 12 and self.kind is WhenKind.AT
        return (self.hour % 12, self.hour % 12 + 12) if is_either else (self.hour,)

    def _days(self, now: datetime) -> tuple[int, ...]:
        """Days from today that may fit, in order."""
        if self.month_day is not None:
            return tuple(n for n in range(367) if _month_day(now + timedelta(days=n)) == self.month_day)
        if self.day_offset is not None:
            return (self.day_offset,)
        days = range(8) if self.kind is WhenKind.RECURRING or not self.weekdays else range(8 + 7 * self.weeks)
        fits = [n for n in days if not self.weekdays or (now + timedelta(days=n)).isoweekday() in self.weekdays]
        if self.weeks and self.weekdays:  # "next week": the days of the calendar week after this one
            monday = 8 - now.isoweekday()
            fits = [n for n in range(monday, monday + 7) if (now + timedelta(days=n)).isoweekday() in self.weekdays]
        return tuple(fits)

    def spec(self) -> str:
        """A clock time as a tool's argument: 07:00, "7:00" (either half of the day), "07:00 +1" (tomorrow),
        "07:00 on 5", "07:00 every 1,2", "07:00 on 01-20"."""
        assert self.hour is not None, self
        hour = str(self.hour) if self.is_half_open else f"{self.hour:02}"
        text = f"{hour}:{self.minute:02}"
        days = ",".join(map(str, self.weekdays or (range(1, 8) if self.kind is WhenKind.RECURRING else ())))
        if self.kind is WhenKind.RECURRING:
            return f"{text} every {days}"
        if self.month_day is not None:
            return f"{text} on {self.month_day[0]:02}-{self.month_day[1]:02}"
        if self.weekdays:
            return f"{text} on {days}" + "+" * self.weeks
        return text if self.day_offset is None else f"{text} +{self.day_offset}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for the store, without the end: what undoes a command is an entry of its own."""
        fields = {k: getattr(self, k) for k in self.__dataclass_fields__ if k != "until"}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items() if v not in (None, (), False)}


_SPEC = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)"
    r"(?: \+(?P<offset>\d+)| on (?P<month>\d\d)-(?P<day>\d\d)|"
    r" (?P<rule>on|every) (?P<days>[1-7](?:,[1-7])*)(?P<next>\+*))?"
)


def read_spec(text: str) -> When | None:
    """Read what `When.spec` writes. None if it is none."""
    got = _SPEC.fullmatch(text.strip())
    if got is None or int(got["hour"]) > 29:
        return None
    hour = int(got["hour"])
    days = tuple(int(x) for x in got["days"].split(",")) if got["days"] else ()
    return When(
        WhenKind.RECURRING if got["rule"] == "every" else WhenKind.AT,
        None,
        hour,
        int(got["minute"]),
        not got["hour"].startswith("0") and 0 < hour <= 12 and got["rule"] != "every",
        None if got["offset"] is None else int(got["offset"]),
        () if len(days) == 7 else days,
        len(got["next"] or ""),
        None if got["month"] is None else (int(got["month"]), int(got["day"])),
        text,
    )


def end_of(start: When | None, until: When, now: datetime) -> tuple[When, datetime] | None:
    """When what begins at `start` (None = now) is undone: by which rule, and the first time. None if never.

    A time without a day is the first one after the beginning; what repeats ends at the same time after each beginning.
    """
    begins = now if start is None else start.due(now)
    if begins is None:
        return None
    has_day = until.day_offset is not None or bool(until.weekdays) or until.month_day is not None
    ends = until.due(now if has_day else begins)
    if ends is None or ends <= begins:
        return None
    if start is not None and start.kind is WhenKind.RECURRING:
        rule = _recurring_end(start, begins, ends)
        return None if rule is None or has_day else (rule, ends)
    if until.kind is WhenKind.DELAY and (start is None or start.kind is WhenKind.DELAY):
        return When(WhenKind.DELAY, (ends - now).total_seconds()), ends
    return When(WhenKind.AT, hour=ends.hour, minute=ends.minute), ends


def _recurring_end(start: When, begins: datetime, ends: datetime) -> When | None:
    """The rule of the end; None if it would not come before the next beginning, or at no whole minute."""
    n_days = (ends.date() - begins.date()).days
    if start.hour is None or ends.second or ends - begins >= timedelta(days=1):
        return None
    days = tuple(sorted((d - 1 + n_days) % 7 + 1 for d in start.weekdays))
    return When(WhenKind.RECURRING, hour=ends.hour, minute=ends.minute, weekdays=days)


def when_from_dict(row: Mapping[str, Any]) -> When:
    """Build it from plain data. Raises KeyError, TypeError or ValueError for what is none."""
    pair = row.get("month_day")
    return When(
        WhenKind(row["kind"]),
        None if row.get("seconds") is None else float(row["seconds"]),
        None if row.get("hour") is None else int(row["hour"]),
        int(row.get("minute", 0)),
        bool(row.get("is_half_open", False)),
        None if row.get("day_offset") is None else int(row["day_offset"]),
        tuple(int(x) for x in row.get("weekdays", ())),
        int(row.get("weeks", 0)),
        None if pair is None else (int(pair[0]), int(pair[1])),
        str(row.get("text", "")),
        bool(row.get("is_bare", False)),
    )


def _at(now: datetime, n_days: int, hour: int, minute: int) -> datetime | None:
    day = now + timedelta(days=n_days + hour // 24)
    return day.replace(hour=hour % 24, minute=minute, second=0, microsecond=0)


def _month_day(day: datetime) -> tuple[int, int]:
    return day.month, day.day
