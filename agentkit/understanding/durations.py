"""Lengths of time in a sentence, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.time_words import TimeWords


@dataclass(frozen=True)
class Duration:
    """A length of time where it stands."""

    start: int
    end: int
    seconds: float


def find_durations(text: str, words: TimeWords) -> list[Duration]:
    """Find every length of time; pieces that follow each other ("one hour and ten minutes") are one."""
    found: list[Duration] = []
    at = 0
    while words.duration is not None and (piece := words.duration.search(text, at)):
        start, end = piece.span()
        if not _is_known(piece):
            at = end  # 两三分钟 is no length
            continue
        size = _unit(piece, words)
        seconds = _seconds(piece, words)
        while next_piece := _next(text, end, words):
            if _unit(next_piece, words) >= size:
                break
            size, end = _unit(next_piece, words), next_piece.end()
            seconds += _seconds(next_piece, words)
        found.append(Duration(start, end, seconds))
        at = end
    return found


def read_duration(text: str, words: TimeWords) -> float | None:
    """Read a text that is nothing but one length of time. None if it is not."""
    found = find_durations(text, words)
    if len(found) != 1:
        return None
    rest = (text[: found[0].start] + text[found[0].end :]).strip(" .,!?")
    return found[0].seconds if rest.lower() in ("", "for", "about", "大约", "约") else None


def _next(text: str, end: int, words: TimeWords) -> re.Match[str] | None:
    joined = words.joiner.match(text, end)
    at = joined.end() if joined else end
    piece = words.duration.match(text, at) if words.duration else None
    return piece if piece is not None and _is_known(piece) else None


def _is_known(piece: re.Match[str]) -> bool:
    return bool(piece["word"] or find_numbers(piece["number"].lower()))


def _unit(piece: re.Match[str], words: TimeWords) -> float:
    return words.units[" ".join(piece["unit"].lower().split())]


def _seconds(piece: re.Match[str], words: TimeWords) -> float:
    half = 0.5 if piece["mid"] or piece["end"] else 0.0
    return (_amount(piece, words) + half) * _unit(piece, words)


def _amount(piece: re.Match[str], words: TimeWords) -> float:
    if piece["word"]:
        return words.amounts[" ".join(piece["word"].lower().split())]
    numbers = find_numbers(piece["number"].lower())
    return numbers[0].value if numbers else 0.0
