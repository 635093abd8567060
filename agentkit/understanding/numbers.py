"""Numbers in words and digits, English and Chinese, with their places in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_UNITS = {w: n for n, w in enumerate(_SMALL.split())}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_ENGLISH = {**_UNITS, **_TENS, "hundred": 100, "thousand": 1000}
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2, "〇": 0, "俩": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000, "万": 10000, "萬": 10000}

_ESTIMATE = re.compile(
    r"(?:[一二两三四五六七八九]?十)?(?:一两|一二|[二两]三|三四|三五|四五|五六|六七|七八|八九)[十百千万萬]?"
)
"""Two digits that follow each other say "about": 两三 is no 23, 七八十 no 80, 十七八 no 18."""
_CIPHERS = "零一二三四五六七八九"
_CHINESE = rf"(?:\d+(?:\.\d+)?|[{_CIPHERS}两俩十廿卅]*百?[{_CIPHERS}两俩十廿卅]+(?:点[{_CIPHERS}]+)?|一?百)"
_PERCENT = re.compile(
    rf"百分之(?P<hundredths>{_CHINESE})|(?P<whole>百分之?百)|(?P<parts>[二三四五六八十])分之(?P<of>[一二三四五六七八九])"
    r"|(?P<tenths>[一二三四五六七八九两]|(?<!\d)\d)成(?P<half>半)?(?!熟)"
)
_WORD = "|".join(sorted(_ENGLISH, key=len, reverse=True))
_SPOKEN = {"a couple of": 2.0, "a couple": 2.0, "half a": 0.5}
"""Amounts that are numbers before a unit only: "half a degree", but "a couple of notches"."""
_AND = r"(?<=hundred|housand)\s+and\s+"
"""Elsewhere "and" stands between two numbers; a look-behind takes words of one length only."""
_NUMBER = re.compile(
    rf"(?:(?P<spoken>\b(?:{'|'.join(_SPOKEN)})(?=\s+degrees?\b))"
    r"|(?P<digits>(?<![\w.])-?\d+(?:\.\d+)?(?![\d])|(?<=[^\x00-\x7f])\d+(?:\.\d+)?)"
    rf"|(?P<english>\b(?:{_WORD}|a hundred)(?:(?:\s+|-|{_AND})(?:{_WORD}))*(?:\s+point\s+(?:{_WORD}))?\b)"
    r"|(?P<chinese>(?:负|零下)?(?:[零一二三四五六七八九两兩俩〇十廿卅千万萬]|百(?!分))+(?:点[零一二三四五六七八九]+)?))"
    r"(?P<half>(?=度半)|\s+and\s+a\s+half\b)?"
)


@dataclass(frozen=True)
class Number:
    """A number where it stands."""

    start: int
    end: int
    value: float


def find_numbers(text: str) -> list[Number]:
    """Find every number of a folded text, longest first at each place."""
    found = []
    for match in _NUMBER.finditer(text):
        value = _read(match)
        if value is not None:
            found.append(Number(match.start(), match.end(), value))
    return found


def is_estimate(text: str) -> bool:
    """Whether a text holds what is but about a number: 三五分钟."""
    return any(_ESTIMATE.fullmatch(hit[0]) for hit in re.finditer(r"[零一二两兩三四五六七八九十百千万萬]+", text))


def in_digits(text: str) -> str:
    """The text with its number words as digits, where they cannot be part of another word."""
    lower = text.lower()
    for number in reversed(find_numbers(lower if len(lower) == len(text) else text)):
        said = text[number.start : number.end]
        if said.isascii() or len(said) > 1:
            text = f"{text[: number.start]}{plain(number.value)}{text[number.end :]}"
    return text


def in_percent(text: str) -> str:
    """The text with Chinese percentages, tenths and fractions as digits: 百分之五十, 五成, 四分之三."""
    return _PERCENT.sub(_percent, text) if "成" in text or "分之" in text or "百分" in text else text


def _percent(match: re.Match[str]) -> str:
    if match["whole"]:
        return "100%"
    if match["parts"]:
        return f"{round(100 * (_chinese(match['of']) or 0) / (_chinese(match['parts']) or 1))}%"
    if match["tenths"]:
        tenths = (_number(match["tenths"]) or 0) + (0.5 if match["half"] else 0)
        return f"{plain(10 * tenths)}%"
    value = _number(match["hundredths"])
    return match[0] if value is None else f"{plain(value)}%"


def _number(text: str) -> float | None:
    return float(text) if text[0].isdigit() else _chinese(text)


def plain(value: float) -> int | float:
    """The whole number, if it is one."""
    return int(value) if float(value).is_integer() else float(value)


def _read(match: re.Match[str]) -> float | None:
    half = 0.0 if match["half"] is None else 0.5
    if match["spoken"]:
        return _SPOKEN[match["spoken"]]
    if match["digits"]:
        return float(match["digits"]) + half
    if match["english"]:
        value = _english(match["english"])
        return None if value is None else value + half
    value = _chinese(match["chinese"])
    return None if value is None else value + half


def _english(text: str) -> float | None:
    whole, _, fraction = text.partition(" point ")
    words = re.split(r"[\s-]+", whole.replace("a hundred", "one hundred"))
    total = current = 0
    for word in words:
        if word == "and":
            continue
        value = _ENGLISH[word]
        if value == 100:
            current = max(current, 1) * 100
        elif value == 1000:
            total, current = total + max(current, 1) * 1000, 0
        elif current % 10 and value < 100:
            return None  # "one two": a list, not one number
        else:
            current += value
    return total + current + (_ENGLISH[fraction] / 10 if fraction else 0)


def _chinese(text: str) -> float | None:
    minus = next((m for m in ("负", "零下") if text.startswith(m) and text != m), "")
    sign, text = (-1 if minus else 1), text[len(minus) :].replace("廿", "二十").replace("卅", "三十")
    if not text or _ESTIMATE.fullmatch(text):
        return None
    whole, _, fraction = text.partition("点")
    value = _chinese_whole(whole)
    if value is None:
        return None
    tail = float("0." + "".join(str(_DIGITS[c]) for c in fraction)) if fraction else 0.0
    return sign * (value + tail)


def _chinese_whole(text: str) -> float | None:
    if not any(c in _PLACES for c in text):
        digits = "".join(str(_DIGITS[c]) for c in text)
        return float(digits) if digits else None
    total = current = 0
    for c in text:
        if c in _DIGITS:
            current = _DIGITS[c]
        elif _PLACES[c] == 10000:
            total, current = (total + current) * 10000, 0
        else:
            total, current = total + (current or 1) * _PLACES[c], 0
    return float(total + current)
