"""How a language says time, as data: units, parts of the day, days, and the frames they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentkit.errors import ConfigError
from agentkit.yaml_lines import load_mapping
from agentkit.yaml_shape import PATTERNS, WORDS, Keys, MapOf, Scalar, check_shape

DURATION, CLOCK, DAY, WEEKDAY, WEEKDAYS, DATE = (chr(0xE000 + n) for n in range(6))
"""Stand in a sentence for what was found; no text holds private characters after normalising."""
NUMBER = (
    r"(?:\d+(?:\.\d+)?|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"(?:[\s-]+(?:one|two|three|four|five|six|seven|eight|nine))?)\b|[零一二两兩三四五六七八九十百]+)"
)
_HOUR = (
    r"(?P<hour>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"[零一二两兩三四五六七八九十]{1,3})"
)
_MINUTE = (
    r"(?P<minute>[0-5]?\d|(?:oh?\s+)?(?:one|two|three|four|five|six|seven|eight|nine)\b|ten|fifteen|"
    r"(?:twenty|thirty|forty|fifty)(?:[\s-]+(?:one|two|three|four|five|six|seven|eight|nine))?)"
)
Patterns = tuple[re.Pattern[str], ...]
_TABLES = ("units", "amounts", "parts", "days", "weekdays")
_FRAMES = ("frames", "refused")
_CLOCKS = ("clocks", "weak_clocks", "dates")
_BARE, _ENDS = "bare_clocks", "end_clocks"
_CLOCK_TIME = Scalar("a time such as 12:00", lambda x: re.fullmatch(r"\d{1,2}:\d\d", str(x)) is not None)
_SHAPE = Keys(
    {
        **dict.fromkeys(_TABLES, MapOf(WORDS)),
        **dict.fromkeys(_FRAMES, MapOf(PATTERNS)),
        **dict.fromkeys(_CLOCKS, PATTERNS),
        _BARE: PATTERNS,
        _ENDS: PATTERNS,
        "stays": MapOf(PATTERNS),
        **dict.fromkeys(("months", "halves", "joiners", "counters", "plural_weekdays"), WORDS),
        "fixed": MapOf(_CLOCK_TIME),
    },
    required=(*_TABLES, *_FRAMES, *_CLOCKS, "months", "fixed"),
)


@dataclass(frozen=True)
class TimeWords:
    """One language's words for time, compiled."""

    duration: re.Pattern[str] | None = None
    """One piece: amount, half, unit, half again."""
    joiner: re.Pattern[str] = re.compile(r"\s*")
    amounts: Mapping[str, float] = field(default_factory=dict)
    units: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    """Word → am, pm, night or noon."""
    fixed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    clocks: Patterns = ()
    weak_clocks: Patterns = ()
    bare_clocks: Patterns = ()
    """Numbers that are a time only where nothing but a time can be meant: in an alarm, or as the answer to "when"."""
    end_clocks: Patterns = ()
    """Numbers that are a time only as an end, or as the beginning of what has one ("until ten", "from 8 to 10")."""
    stays: Mapping[str, Patterns] = field(default_factory=dict)
    """Word → what means it where an end is told ("leave it on until ten" is to keep it on)."""
    days: tuple[tuple[re.Pattern[str], int, str | None], ...] = ()
    weekdays: tuple[tuple[re.Pattern[str], tuple[int, ...], bool], ...] = ()
    """Pattern, days, and whether the word is a plural, which says "every" by itself."""
    dates: Patterns = ()
    months: tuple[str, ...] = ()
    frames: Mapping[str, Patterns] = field(default_factory=dict)
    refused: Mapping[str, Patterns] = field(default_factory=dict)

    def says(self, frame: str, text: str) -> bool:
        """Whether one of the patterns of a frame stands in a text."""
        return any(p.search(text) for p in self.frames.get(frame, ()))


def load_time_words(path: Path) -> TimeWords:
    """Read words/when_LANGUAGE.yaml; an app without one knows no time. Raises ConfigError."""
    if not path.is_file():
        return TimeWords()
    raw = load_mapping(path)
    check_shape(raw, _SHAPE, raw.error)
    try:
        return read_time_words(raw)
    except (re.error, KeyError, TypeError, ValueError, AttributeError) as err:
        raise ConfigError(
            f"cannot be used ({type(err).__name__}: {err}); compare it with when_en.yaml", path=path
        ) from err


def read_time_words(raw: Mapping[str, Any]) -> TimeWords:
    """Compile the tables. Raises what a wrong table raises; the loader names the file."""
    units = {w.lower(): float(size) for size, found in raw["units"].items() for w in found}
    amounts = {w.lower(): float(value) for value, found in raw["amounts"].items() for w in found}
    parts = {w.lower(): part for part, found in raw["parts"].items() for w in found}
    months = tuple(str(m).lower() for m in raw["months"])
    fill = {
        "duration": DURATION,
        "clock": CLOCK,
        "day": f"[{DAY}{WEEKDAY}]",
        "date": DATE,
        "when": f"[{DURATION}{CLOCK}]",
        "weekdays": _listed(f"[{WEEKDAY}{WEEKDAYS}]"),
        "plural_weekdays": _listed(WEEKDAYS),
        "number": NUMBER,
        "hour": _HOUR,
        "minute": _MINUTE,
        "month": f"(?P<month>{_any(months)})",
        "ampm": f"(?P<part>{_any(parts)})",
    }
    plural = {w.lower() for w in raw.get("plural_weekdays") or ()}
    return TimeWords(
        duration=_piece(units, amounts, raw.get("counters") or (), raw.get("halves") or ()),
        joiner=re.compile(rf"\s*(?:{_any(raw.get('joiners') or ['-'])})?\s*", re.IGNORECASE),
        amounts=amounts,
        units=units,
        parts=parts,
        fixed={w.lower(): _clock(text) for w, text in raw["fixed"].items()},
        clocks=_compile(raw["clocks"], fill),
        weak_clocks=_compile(raw["weak_clocks"], fill),
        bare_clocks=_compile(raw.get(_BARE) or (), fill),
        end_clocks=_compile(raw.get(_ENDS) or (), fill),
        stays={str(word): _compile(found, fill) for word, found in (raw.get("stays") or {}).items()},
        days=tuple(_day(key, found) for key, found in raw["days"].items()),
        weekdays=tuple(row for key, found in raw["weekdays"].items() for row in _weekday(key, found, plural)),
        dates=_compile(raw["dates"], fill),
        months=months,
        frames={name: _compile(found, fill) for name, found in raw["frames"].items()},
        refused={name: _compile(found, fill) for name, found in raw["refused"].items()},
    )


def _any(words: Iterable[str]) -> str:
    """Alternatives, the longest first; spaces may be any."""
    ordered = sorted({str(w) for w in words}, key=len, reverse=True)
    return "|".join(
        rf"(?<![a-z]){_spell(w)}(?!\w)" if w[-1].isascii() and w[0].isalpha() else _spell(w) for w in ordered
    )


def _spell(word: str) -> str:
    return re.escape(word).replace(r"\ ", r"\s+")


def _listed(mark: str) -> str:
    return rf"{mark}(?:\s*(?:,|and|&|和|及|、)\s*(?:on\s+)?{mark})*"


def _piece(
    units: Iterable[str], amounts: Iterable[str], counters: Iterable[str], halves: Iterable[str]
) -> re.Pattern[str]:
    counter = rf"(?:{_any(counters)})?" if counters else ""
    half = _any(halves) if halves else "(?!)"
    unit = "|".join(
        rf"{_spell(u)}(?![a-z])" if u.isascii() else rf"{_spell(u)}(?!之[零一二两三四五六七八九十百0-9])"
        for u in sorted(units, key=len, reverse=True)
    )
    return re.compile(
        rf"(?:(?P<word>{_any(amounts)})|(?P<number>(?<![\d.:]){NUMBER})[\s-]*(?P<mid>{half})?)[\s-]*{counter}[\s-]*"
        rf"(?P<unit>{unit})(?:\s*(?P<end>{half}))?",
        re.IGNORECASE,
    )


def _day(key: str, found: Iterable[str]) -> tuple[re.Pattern[str], int, str | None]:
    offset, _, part = str(key).partition(" ")
    return re.compile(_any(found), re.IGNORECASE), int(offset), part or None


def _weekday(
    key: str, found: Iterable[str], plural: set[str]
) -> Iterable[tuple[re.Pattern[str], tuple[int, ...], bool]]:
    days = tuple(int(x) for x in str(key).split())
    for is_plural in (True, False):
        words = [w for w in found if (w.lower() in plural) is is_plural]
        if words:
            yield re.compile(_any(words), re.IGNORECASE), days, is_plural


def _clock(text: str) -> tuple[int, int]:
    hour, minute = str(text).split(":")
    return int(hour), int(minute)


def _compile(patterns: Iterable[str], fill: Mapping[str, str]) -> Patterns:
    return tuple(re.compile(_filled(p, fill), re.IGNORECASE) for p in patterns)


def _filled(pattern: str, fill: Mapping[str, str]) -> str:
    for name, text in fill.items():
        pattern = pattern.replace("{" + name + "}", text)
    return pattern
