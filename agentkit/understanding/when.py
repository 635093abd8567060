"""Find the time in a sentence and cut it out: what is left is the command that is due then.

What was found is first replaced by marks, so that the frames ("in …", "every …") are short patterns of the app's data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from agentkit.understanding.time_marks import Clock, Mark, Sentence, in_part, marked
from agentkit.understanding.time_words import CLOCK, DATE, DAY, DURATION, TimeWords
from agentkit.when import MAX_SECONDS, When, WhenKind

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


@dataclass
class _Parts:
    """What the frames gave."""

    delays: list[float] = field(default_factory=list)
    periods: list[float] = field(default_factory=list)
    clocks: list[Clock] = field(default_factory=list)
    days: list[When] = field(default_factory=list)
    rules: list[tuple[int, ...]] = field(default_factory=list)
    halves: list[str] = field(default_factory=list)


def find_when(text: str, words: TimeWords, *, is_time: bool = False) -> Found:
    """Find the time of a sentence. Without one, `when` and `problem` are None.

    `is_time`: only a time can be meant, so a number alone is one ("an alarm for seven").
    """
    sentence = marked(text, words, is_time=is_time)
    unmarked = (*words.refused.get("sun", ()), *words.refused.get("vague", ()))
    if not sentence.marks and not any(_search(unmarked, sentence.text)):
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
        problem = "time" if sentence.marks[0].char == DURATION else "vague"
        return Found(rest=text, problem=problem, words=sentence.marks[0].text)
    rest = " ".join(sentence.text.split()).strip(_ENDS)
    when, trouble = _compose(parts)
    if when is None and trouble is None:
        return Found(rest=text)
    return Found(None if when is None else replace(when, text=text), rest, trouble, text)


def moment(marks: list[Mark]) -> When | None:
    """The one time that marks make by themselves, such as a day and a clock time; None if they make none."""
    parts = _Parts()
    for mark in marks:
        frame = {DURATION: "delay", CLOCK: "clock"}.get(mark.char, "day")
        _take(frame, set(), [mark], parts)
    return _compose(parts)[0]


def _search(patterns: tuple[re.Pattern[str], ...], text: str) -> Iterator[re.Match[str]]:
    return (hit for p in patterns if (hit := p.search(text)))


def _take_command(sentence: Sentence, words: TimeWords, parts: _Parts) -> None:
    """ "Set a timer for an hour to …": the frame of a command around its time."""
    for pattern in words.frames.get("command", ()):
        if hit := pattern.search(sentence.text):
            for mark in sentence.cut(hit.start(), hit.end()):
                if isinstance(mark.value, Clock):
                    parts.clocks.append(mark.value)
                elif isinstance(mark.value, float):
                    parts.delays.append(mark.value)


def _take_frames(sentence: Sentence, words: TimeWords, parts: _Parts) -> None:
    for name in ("every_duration", "delay", "every", "every_part", "day", "clock", "part"):
        for pattern in words.frames.get(name, ()):
            while hit := pattern.search(sentence.text):
                groups = {k for k, v in hit.groupdict().items() if v}
                _take(name, groups, sentence.cut(hit.start(), hit.end()), parts)


def _take(name: str, groups: set[str], marks: list[Mark], parts: _Parts) -> None:
    values = [m.value for m in marks]
    if name == "every_duration":
        parts.periods += [v for v in values if isinstance(v, float)]
    elif name == "delay":
        parts.delays += [v for v in values if isinstance(v, float)]
    elif name == "clock":
        parts.clocks += [v for v in values if isinstance(v, Clock)]
    elif name in ("every", "every_part"):
        parts.rules.append(tuple(sorted({d for v in values if isinstance(v, tuple) for d in v})))
    for mark in marks if name == "day" else ():
        parts.days.append(_day(mark, is_next="next" in groups))
        if mark.char == DAY and isinstance(mark.value, tuple) and mark.value[1]:
            parts.halves.append(str(mark.value[1]))
    parts.halves += [h.rstrip("2") for h in sorted(groups) if h.rstrip("2") in ("am", "pm", "night")]


def _day(mark: Mark, *, is_next: bool) -> When:
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
            return None, "too_far" if lengths[0] > 0 else "past"
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
