"""Find the time in a sentence and cut it out: what is left is the command that is due then.

What was found is first replaced by marks, so that the frames ("in …", "every …") are short patterns of the app's data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from agentkit.understanding.durations import find_durations
from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.time_words import CLOCK, DATE, DAY, DURATION, WEEKDAY, WEEKDAYS, TimeWords
from agentkit.when import MAX_SECONDS, When, WhenKind

_MARKS = frozenset((DURATION, CLOCK, DAY, WEEKDAY, WEEKDAYS, DATE))
_NOT_A_CLOCK = re.compile(
    r"\s*(?:%|percent|per cent|degrees?|°|k\b|kelvin|celsius|fahrenheit|度|seconds?\b|minutes?\b|hours?\b|秒|分钟|分鐘)", re.I
)
_ENDS = " ,.;:!?-"


@dataclass(frozen=True)
class Found:
    """What a sentence says about time."""

    when: When | None = None
    rest: str = ""
    """The sentence without it."""
    problem: str | None = None
    """Why it cannot be kept: sun, until, range, duration, vague, several, too_far."""
    words: str = ""
    """The words of the problem."""


@dataclass(frozen=True)
class _Clock:
    hour: int
    minute: int
    is_half_open: bool
    is_bare: bool = False


@dataclass(frozen=True)
class _Mark:
    char: str
    value: object
    text: str


@dataclass
class _Sentence:
    """A sentence with marks in place of what was found; `marks` are in the order of their characters in it."""

    text: str
    marks: list[_Mark] = field(default_factory=list)

    def put(self, start: int, end: int, char: str, value: object) -> None:
        """Replace a stretch by one mark; it may not hold other marks."""
        place = sum(c in _MARKS for c in self.text[:start])
        self.marks.insert(place, _Mark(char, value, self.text[start:end]))
        self.text = self.text[:start] + char + self.text[end:]

    def cut(self, start: int, end: int) -> list[_Mark]:
        """Remove a stretch and return its marks."""
        place = sum(c in _MARKS for c in self.text[:start])
        n = sum(c in _MARKS for c in self.text[start:end])
        taken = self.marks[place : place + n]
        del self.marks[place : place + n]
        is_spaced = self.text[start - 1 : start].isascii() or self.text[end : end + 1].isascii()
        self.text = self.text[:start] + (" " if is_spaced else "") + self.text[end:]
        return taken

    def spelled(self, text: str | None = None) -> str:
        """The text with what the marks stand for."""
        marks = iter(self.marks)
        return "".join(next(marks).text if c in _MARKS else c for c in (self.text if text is None else text))


@dataclass
class _Parts:
    """What the frames gave."""

    delays: list[float] = field(default_factory=list)
    periods: list[float] = field(default_factory=list)
    clocks: list[_Clock] = field(default_factory=list)
    days: list[When] = field(default_factory=list)
    rules: list[tuple[int, ...]] = field(default_factory=list)
    halves: list[str] = field(default_factory=list)


def find_when(text: str, words: TimeWords) -> Found:
    """Find the time of a sentence. Without one, `when` and `problem` are None."""
    sentence = _marked(text, words)
    if not sentence.marks and not any(_search(words.refused.get("sun", ()), sentence.text)):
        fixed = [p for name in ("every_part", "part") for p in words.frames.get(name, ())]
        if not any(p.search(sentence.text) for p in fixed):
            return Found(rest=text)
    parts = _Parts()
    _take_command(sentence, words, parts)
    for kind, patterns in words.refused.items():
        if hit := next(_search(patterns, sentence.text), None):
            return Found(rest=text, problem=kind, words=sentence.spelled(hit.group(0)) if not sentence.marks else text)
    _take_frames(sentence, words, parts)
    if sentence.marks:
        problem = "duration" if sentence.marks[0].char == DURATION else "vague"
        return Found(rest=text, problem=problem, words=sentence.marks[0].text)
    rest = " ".join(sentence.text.split()).strip(_ENDS)
    when, problem = _compose(parts)
    if when is None and problem is None:
        return Found(rest=text)
    return Found(None if when is None else replace(when, text=text), rest, problem, text)


def _search(patterns: tuple[re.Pattern[str], ...], text: str) -> Iterator[re.Match[str]]:
    return (hit for p in patterns if (hit := p.search(text)))


def _marked(text: str, words: TimeWords) -> _Sentence:
    sentence = _Sentence(text)
    _mark(sentence, words.dates, DATE, lambda m: _date(m, words))
    for days, offset, part in sorted(words.days, key=lambda row: -len(row[0].pattern)):
        _mark(sentence, (days,), DAY, lambda m, o=offset, p=part: (o, p))  # type: ignore[misc]
    _mark(sentence, words.clocks, CLOCK, lambda m: _clock(m, words))
    for duration in reversed(find_durations(sentence.text, words)):
        if not any(c in _MARKS for c in sentence.text[duration.start : duration.end]):
            sentence.put(duration.start, duration.end, DURATION, duration.seconds)
    for pattern, numbers, is_plural in words.weekdays:
        _mark(sentence, (pattern,), WEEKDAYS if is_plural else WEEKDAY, lambda m, d=numbers: d)  # type: ignore[misc]
    _mark(sentence, words.weak_clocks, CLOCK, lambda m: _bare(_clock(m, words)))
    return sentence


def _mark(
    sentence: _Sentence,
    patterns: tuple[re.Pattern[str], ...],
    char: str,
    read: Callable[[re.Match[str]], object | None],
) -> None:
    for pattern in patterns:
        at = 0
        while hit := pattern.search(sentence.text, at):
            value = None if any(c in _MARKS for c in hit.group(0)) else read(hit)
            if value is None or not hit.group(0):
                at = max(hit.end(), at + 1)
                continue
            sentence.put(hit.start(), hit.end(), char, value)
            at = hit.start() + 1


def _number(text: str) -> int | None:
    found = find_numbers(text.lower().removeprefix("oh ").removeprefix("o ").strip())
    return int(found[0].value) if found else None


def _clock(hit: re.Match[str], words: TimeWords) -> _Clock | None:
    got = hit.groupdict()
    if got.get("fixed"):
        hour, minute = words.fixed[got["fixed"].lower()]
        return _Clock(hour, minute, False)
    end = hit.string[hit.end() :]
    before, after = hit.string[: hit.start()][-1:], end[:1]
    is_cut = (hit.group(0)[0].isdigit() and (before.isdigit() or before in ".:")) if before else False
    if is_cut or (after.isascii() and after.isalnum() and hit.group(0)[-1].isascii()) or _NOT_A_CLOCK.match(end):
        return None
    hour, minute = _number(got["hour"]), 0
    if hour is None or hour > 24:
        return None
    if got.get("minute"):
        minute = _number(got["minute"]) or 0
    elif got.get("half"):
        minute = 30
    elif got.get("past"):
        minute = _past(got["past"])
    elif got.get("to"):
        hour, minute = (hour - 1) % 12 or 12, 60 - _past(got["to"])
    if not 0 <= minute < 60:
        return None
    part = words.parts.get(" ".join((got.get("part") or "").lower().split()))
    is_plain = not part and 0 < hour <= 12 and not got["hour"].startswith("0")
    return _Clock(in_part(hour, part), minute, is_plain)


def _past(text: str) -> int:
    if text.lower() == "quarter":
        return 15
    if text.endswith("刻"):
        return 15 * (_number(text[:-1]) or 1)
    return _number(text) or 0


def _bare(clock: _Clock | None) -> _Clock | None:
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


def _take_command(sentence: _Sentence, words: TimeWords, parts: _Parts) -> None:
    """ "Set a timer for an hour to …": the frame of a command around its time."""
    for pattern in words.frames.get("command", ()):
        if hit := pattern.search(sentence.text):
            for mark in sentence.cut(hit.start(), hit.end()):
                if isinstance(mark.value, _Clock):
                    parts.clocks.append(mark.value)
                elif isinstance(mark.value, float):
                    parts.delays.append(mark.value)


def _take_frames(sentence: _Sentence, words: TimeWords, parts: _Parts) -> None:
    for name in ("every_duration", "delay", "every", "every_part", "day", "clock", "part"):
        for pattern in words.frames.get(name, ()):
            while hit := pattern.search(sentence.text):
                groups = {k for k, v in hit.groupdict().items() if v}
                _take(name, groups, sentence.cut(hit.start(), hit.end()), parts)


def _take(name: str, groups: set[str], marks: list[_Mark], parts: _Parts) -> None:
    values = [m.value for m in marks]
    if name == "every_duration":
        parts.periods += [v for v in values if isinstance(v, float)]
    elif name == "delay":
        parts.delays += [v for v in values if isinstance(v, float)]
    elif name == "clock":
        parts.clocks += [v for v in values if isinstance(v, _Clock)]
    elif name in ("every", "every_part"):
        parts.rules.append(tuple(sorted({d for v in values if isinstance(v, tuple) for d in v})))
    for mark in marks if name == "day" else ():
        parts.days.append(_day(mark, is_next="next" in groups))
        if mark.char == DAY and isinstance(mark.value, tuple) and mark.value[1]:
            parts.halves.append(str(mark.value[1]))
    parts.halves += [h.rstrip("2") for h in sorted(groups) if h.rstrip("2") in ("am", "pm", "night")]


def _day(mark: _Mark, *, is_next: bool) -> When:
    value = mark.value
    assert isinstance(value, tuple), mark
    if mark.char == DATE:
        return When(WhenKind.AT, month_day=(value[0], value[1]))
    if mark.char == DAY:
        return When(WhenKind.AT, day_offset=value[0])
    return When(WhenKind.AT, weekdays=value, weeks=int(is_next))


def _compose(parts: _Parts) -> tuple[When | None, str | None]:
    """The one time that all parts make, or why they make none."""
    if len(parts.clocks) > 1 or len(parts.days) > 1 or len(parts.rules) > 1 or len(set(parts.halves)) > 1:
        return None, "several"
    lengths = [*parts.delays, *parts.periods]
    has_point = bool(parts.clocks or parts.days or parts.rules or parts.halves)
    if len(lengths) > 1 or (lengths and has_point):
        return None, "several"
    if lengths:
        if not 0 < lengths[0] <= MAX_SECONDS:
            return None, "too_far"
        kind = WhenKind.DELAY if parts.delays else WhenKind.RECURRING
        return When(kind, lengths[0]), None
    if not parts.clocks:
        return None, "vague" if has_point else None
    clock, half = parts.clocks[0], next(iter(parts.halves), None)
    hour = in_part(clock.hour, half) if clock.is_half_open else clock.hour
    base = parts.days[0] if parts.days else When(WhenKind.AT)
    if parts.rules:
        base = replace(base, kind=WhenKind.RECURRING, weekdays=parts.rules[0] or base.weekdays, day_offset=None)
    is_open = clock.is_half_open and half is None
    return replace(base, hour=hour, minute=clock.minute, is_half_open=is_open, is_bare=clock.is_bare), None
