"""Random homes in one language: rooms, devices and the names that people give them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentkit.understanding.pointer.format import Line

Phrases = Mapping[str, Mapping[str, Any]]
_WEIGHTS = {"light": 8, "switch": 3, "fan": 2, "climate": 3, "cover": 4, "lock": 2, "media_player": 3, "vacuum": 1.5,
            "lawn_mower": 0.5, "valve": 1, "scene": 1.5, "sensor": 1}  # fmt: skip
_SIZES = (1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 10, 12, 14)
_N_AREAS = (1, 2, 3, 3, 4, 5, 6, 8)
_SYLLABLES = ("ka", "ri", "to", "lu", "mi", "za", "no", "xe", "fi", "bo", "wyn", "dor", "el", "tra",
              "sen", "qu", "ip", "ax", "an", "ster", "ley", "mon", "gar", "ish", "ron")  # fmt: skip
_HANZI = "星云米家智慧小大海天山风华美乐居安宁静月光晨曦蓝白金东西南北左右上下前后"


@dataclass
class House:
    """A random home in one language, in the order of its shortlist."""

    language: str
    areas: list[str]
    devices: list[Line]
    here: int | None = None

    def of_type(self, *types: str) -> list[int]:
        """Indices of the devices of these types."""
        return [i for i, d in enumerate(self.devices) if d.type in types]

    def named(self, text: str) -> list[int]:
        """Indices of the devices with exactly this name."""
        return [i for i, d in enumerate(self.devices) if text in d.names]

    @property
    def names(self) -> list[str]:
        """Every name of every device."""
        return [n for d in self.devices for n in d.names]


class Builder:
    """Draws homes."""

    def __init__(self, rng: random.Random, phrases: Phrases, words: Mapping[str, list[str]]) -> None:
        self.rng, self.phrases, self.words = rng, phrases, words

    def draw(self, language: str) -> House:
        """One home; nobody has spoken in it yet."""
        p, rng = self.phrases[language], self.rng
        rooms = rng.sample(p["rooms"], rng.choice(_N_AREAS))
        areas = list(dict.fromkeys(self.made_up(language) if rng.random() < 0.05 else room for room in rooms))
        habit = rng.choice((0.1, 0.4, 0.8))  # how often this home writes the room into a name
        kinds = list(p["devices"])
        devices: list[Line] = []
        for _ in range(rng.choice(_SIZES)):
            kind = rng.choices(kinds, weights=[_WEIGHTS[k] for k in kinds])[0]
            area = rng.randrange(len(areas)) if rng.random() < 0.92 else None
            devices.append(Line(kind, self._names(areas, area, language, kind, habit), area))
        return House(language, areas, devices)

    def _names(self, areas: list[str], area: int | None, language: str, kind: str, habit: float) -> tuple[str, ...]:
        rng, glue, p = self.rng, " " if language == "en" else "", self.phrases[language]
        name = rng.choice(p["devices"][kind])
        roll = rng.random()
        if kind != "scene" and area is not None and rng.random() < habit:
            name = f"{areas[area]}{glue}{rng.choice((name, rng.choice(p['kinds'].get(kind, [name]))))}"
        elif roll < 0.10:
            name = f"{rng.choice(p['owners'])}{'s ' if language == 'en' else '的'}{name}"
        elif roll < 0.18:
            name = f"{name}{glue}{rng.choice((str(rng.randint(1, 9)), spell(rng.randint(1, 9), language)))}"
        elif roll < 0.26:
            name = f"{self.made_up(language)}{glue}{name}"
        elif roll < 0.31:
            name = self.made_up(language)
        if rng.random() < 0.12:
            return (name, rng.choice(p["devices"][kind]))
        if rng.random() < 0.1:
            return (name, rng.choice(self.phrases["zh" if language == "en" else "en"]["devices"][kind]))
        return (name,)

    def made_up(self, language: str) -> str:
        """A word that no list of devices holds."""
        rng = self.rng
        if language == "zh":
            if rng.random() < 0.4:
                return rng.choice(self.words["zh"])
            if rng.random() < 0.5:
                return "".join(bytes((rng.randint(0xB0, 0xD6), rng.randint(0xA1, 0xFE))).decode("gb2312") for _ in "ab")
            return "".join(rng.choice(_HANZI) for _ in "ab")
        if rng.random() < 0.6:
            return " ".join(rng.choice(self.words["en"]) for _ in range(rng.choice((1, 1, 2))))
        return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 3)))


_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
         "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
         "nineteen")  # fmt: skip
_TENS = ("_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")  # fmt: skip


def spell(number: int, language: str) -> str:
    """Write a number up to 100 in words."""
    if language == "zh":
        digits = "零一二三四五六七八九"
        if number >= 100:
            return "一百"
        tens, ones = divmod(number, 10)
        head = "" if tens == 0 else "十" if tens == 1 else digits[tens] + "十"
        return (head + (digits[ones] if ones else "")) or "零"
    if number >= 100:
        return "one hundred"
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f" {_ONES[ones]}" if ones else "")
