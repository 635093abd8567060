"""Marks for the times in a sentence: lengths, clock times, days and dates, each replaced by one character."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agentkit.understanding.durations import find_durations
from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.time_words import CLOCK, DATE, DAY, DURATION, WEEKDAY, WEEKDAYS, TimeWords

MARKS = frozenset((DURATION, CLOCK, DAY, WEEKDAY, WEEKDAYS, DATE))
_NOT_A_CLOCK = re.compile(
    r"\s*(?:%|percent|per cent|degrees?|°|k\b|kelvin|celsius|fahrenheit|度|seconds?\b|minutes?\b|hours?\b|"
    r"秒|分钟|分鐘)",
    re.I,
)


@dataclass(frozen=True)
class Clock:
    """A time of day as said."""

    hour: int
    minute: int
    is_half_open: bool
    is_bare: bool = False


@dataclass(frozen=True)
class Mark:
    """What one character stands for."""

    char: str
    value: object
    text: str


@dataclass
class Sentence:
    """A sentence with marks in place of what was found; `marks` are in the order of their characters in it."""

    text: str
    marks: list[Mark] = field(default_factory=list)

    def put(self, start: int, end: int, char: str, value: object) -> None:
        """Replace a stretch by one mark; it may not hold other marks."""
        place = sum(c in MARKS for c in self.text[:start])
        self.marks.insert(place, Mark(char, value, self.text[start:end]))
        self.text = self.text[:start] + char + self.text[end:]

    def cut(self, start: int, end: int) -> list[Mark]:
        """Remove a stretch and return its marks."""
        place = sum(c in MARKS for c in self.text[:start])
        n = sum(c in MARKS for c in self.text[start:end])
        taken = self.marks[place : place + n]
        del self.marks[place : place + n]
        is_spaced = self.text[start - 1 : start].isascii() or self.text[end : end + 1].isascii()
        self.text = self.text[:start] + (" " if is_spaced else "") + self.text[end:]
        return taken

    def spelled(self, text: str | None = None) -> str:
        """The text with what the marks stand for."""
        marks = iter(self.marks)
        return "".join(next(marks).text if c in MARKS else c for c in (self.text if text is None else text))


def marked(text: str, words: TimeWords, *, is_time: bool = False, is_end: bool = False) -> Sentence:
    """Replace every time in a sentence by a mark; with `is_time` a number alone may be one, with `is_end` an end."""
    sentence = Sentence(text)
    _mark(sentence, words.dates, DATE, lambda m: _date(m, words))
    for days, offset, part in sorted(words.days, key=lambda row: -len(row[0].pattern)):
        _mark(sentence, (days,), DAY, lambda m, o=offset, p=part: (o, p))  # type: ignore[misc]
    _mark(sentence, words.clocks, CLOCK, lambda m: _clock(m, words))
    for duration in reversed(find_durations(sentence.text, words)):
        if not any(c in MARKS for c in sentence.text[duration.start : duration.end]):
            sentence.put(duration.start, duration.end, DURATION, duration.seconds)
    for pattern, numbers, is_plural in words.weekdays:
        _mark(sentence, (pattern,), WEEKDAYS if is_plural else WEEKDAY, lambda m, d=numbers: d)  # type: ignore[misc]
    weak = (*words.weak_clocks, *(words.bare_clocks if is_time else ()), *(words.end_clocks if is_end else ()))
    _mark(sentence, weak, CLOCK, lambda m: _bare(_clock(m, words)))
    return sentence


def _mark(
    sentence: Sentence,
    patterns: tuple[re.Pattern[str], ...],
    char: str,
    read: Callable[[re.Match[str]], object | None],
) -> None:
    for pattern in patterns:
        at = 0
        while hit := pattern.search(sentence.text, at):
            value = None if any(c in MARKS for c in hit.group(0)) else read(hit)
            if value is None or not hit.group(0):
                at = max(hit.end(), at + 1)
                continue
            sentence.put(hit.start(), hit.end(), char, value)
            at = hit.start() + 1


def _number(text: str) -> int | None:
    found = find_numbers(text.lower().removeprefix("oh ").removeprefix("o ").strip())
    return int(found[0].value) if found else None


def _clock(hit: re.Match[str], words: TimeWords) -> Clock | None:
    got = hit.groupdict()
    if got.get("fixed"):
        hour, minute = words.fixed[got["fixed"].lower()]
        return Clock(hour, minute, False)
    end = hit.string[hit.end() :]
    before, after = hit.string[: hit.start()][-1:], end[:1]
    is_cut = (hit.group(0)[0].isdigit() and (before.isdigit() or before in ".:")) if before else False
    if is_cut or (after.isascii() and after.isalnum() and hit.group(0)[-1].isascii()) or _NOT_A_CLOCK.match(end):
        return None
    read, minute = _number(got["hour"]), 0
    if read is None or read > 24:
        return None
    hour = read
    if got.get("minute"):
        minute = _number(got["minute"]) or 0
        if minute == hour and _is_stutter(hit.group(0)):
            return None  # "nine nine am" is nine o'clock said twice, and no nine past
    elif got.get("half"):
        minute = 30
    elif got.get("past"):
        if (past := _past(got["past"])) is None:
            return None  # 八点二三十分: about half past
        minute = past
    elif got.get("to"):
        before_hour = _past(got["to"])
        if hour > 12 or before_hour is None or not _is_minutes(hit.group(0), before_hour):
            return None  # "the bedroom one to 24"
        hour, minute = (hour - 1) % 12 or 12, 60 - before_hour
    if not 0 <= minute < 60:
        return None
    part = words.parts.get(" ".join((got.get("part") or "").lower().split()))
    is_plain = not part and 0 < hour <= 12 and not got["hour"].startswith("0")
    return Clock(in_part(hour, part), minute, is_plain)


def _is_stutter(said: str) -> bool:
    """Whether a clock time begins with one word said twice: seven past is "seven oh seven"."""
    first, *rest = said.lower().split()
    return rest[:1] == [first]


def _is_minutes(said: str, amount: int) -> bool:
    """Whether the amount before "to" tells minutes: by its unit, a quarter, or as a clock's face has them."""
    return amount % 5 == 0 or len(said.split()) > 3


def _past(text: str) -> int | None:
    """Minutes in words; None if they are but an estimate."""
    if text.lower() == "quarter":
        return 15
    if text.endswith("刻"):
        return 15 * (_number(text[:-1]) or 1)
    return _number(text)


def _bare(clock: Clock | None) -> Clock | None:
    """A bare number is an hour only if it is one of the twelve."""
    return replace(clock, is_bare=True) if clock is not None and clock.is_half_open else None


def in_part(hour: int, part: str | None) -> int:
    """Hour of the day, up to 29 for the small hours of a night, of an hour in a part of the day."""
    if part is None or hour > 12:
        return hour
    if part == "am":
        return hour % 12
    if part == "noon":
        return hour if hour > 9 else hour + 12
    if part == "night" and (hour == 12 or hour < 6):
        return hour % 12 + 24
    return hour % 12 + 12


def _date(hit: re.Match[str], words: TimeWords) -> tuple[int, int] | None:
    got = hit.groupdict()
    name = (got.get("month") or "").lower()
    month = words.months.index(name) + 1 if name in words.months else _number(name)
    day = _number(got["mday"])
    return (month, day) if month and day and month <= 12 and day <= 31 else None
