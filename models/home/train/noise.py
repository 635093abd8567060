"""What happens to a sentence between a mouth and a text: fillers, repeats, slips of tongue, ear and keyboard."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pypinyin import Style, pinyin

_HEARD = {"off": ["of"], "of": ["off"], "lamp": ["lamb", "lam"], "light": ["lite", "like", "lied"],
          "lights": ["lice", "like", "lite"], "dim": ["deem", "dem"], "kitchen": ["kitchin", "chicken"],
          "turn": ["tern", "turned"], "set": ["said", "sat"], "close": ["clothes", "closed"], "cool": ["coal"],
          "heat": ["heed", "eat"], "fan": ["van", "fans"], "blinds": ["blind"], "curtains": ["curtain"],
          "to": ["two", "too"], "four": ["for"], "blue": ["blew"], "red": ["read"], "room": ["rum", "rooms"],
          "the": ["a", "da"], "door": ["doors"], "lock": ["luck", "log"], "unlock": ["on lock"], "plug": ["plugs"],
          "volume": ["volum"], "bedroom": ["bed room"], "bathroom": ["bath room"], "on": ["own"],
          "vacuum": ["vacum", "vacuume"], "percent": ["per cent", "percents"], "brightness": ["brightnes"]}  # fmt: skip
_KEPT = frozenset(["not", "don", "never", "no", "without", "except", "but"])
_DROPPED = frozenset(["the", "to", "in", "of", "a", "my", "please", "and", "is", "at", "on"])


def blur(rng: random.Random, text: str, phrases: Mapping[str, Any], language: str) -> str:
    """Bring one or two slips into a sentence; numbers and words of denial stay."""
    for _ in range(rng.choice((1, 1, 2))):
        text = rng.choice(_CHINESE if language == "zh" else _ENGLISH)(rng, text, phrases)
    return text


def _filler(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    words = _words(text)
    at = rng.randrange(len(words) + 1)
    return _glue([*words[:at], rng.choice(phrases["fillers"]), *words[at:]], text)


def _repeat(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    words = _words(text)
    n = rng.randint(1, min(2, len(words)))
    at = rng.randrange(len(words) - n + 1)
    if any(w.isdigit() for w in words[at : at + n]):
        return text
    return _glue([*words[: at + n], *words[at:]], text)


def _letters(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    places = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isalpha()]
    if not places:
        return text
    at = rng.choice(places)
    roll = rng.random()
    if roll < 0.4:
        return text[:at] + text[at + 1 :]
    if roll < 0.7:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + (text[at] if roll < 0.85 else rng.choice("aeiourstnl")) + text[at:]


def _heard(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    words = text.split()
    places = [i for i, w in enumerate(words) if w in _HEARD]
    if places:
        at = rng.choice(places)
        words[at] = rng.choice(_HEARD[words[at]])
    return " ".join(words)


def _dropped(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    words = text.split()
    places = [i for i, w in enumerate(words) if w in _DROPPED and len(words) > 3]
    if places:
        del words[rng.choice(places)]
    return " ".join(words)


def _joined(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    """Two words written as one, or a long one as two."""
    words = text.split()
    at = rng.randrange(len(words))
    if at + 1 < len(words) and words[at].isalpha() and words[at + 1].isalpha() and rng.random() < 0.7:
        words[at : at + 2] = [words[at] + words[at + 1]]
    elif len(words[at]) > 6 and words[at].isalpha():
        cut = rng.randint(3, len(words[at]) - 3)
        words[at : at + 1] = [words[at][:cut], words[at][cut:]]
    return " ".join(words)


def _bare(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    return " ".join(w for w in text.split() if w not in ("the", "a", "my", "please"))


def _homophone(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    places = [i for i, c in enumerate(text) if "\u4e00" <= c <= "\u9fff" and c not in "零一二三四五六七八九十百不别没"]
    if not places:
        return text
    at = rng.choice(places)
    rivals = _by_sound().get(_sound(text[at]), text[at])
    return text[:at] + rng.choice(rivals) + text[at + 1 :]


def _ending(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    return text + rng.choice("吧啊呀哦呢嘛哈啦")


def _lost(rng: random.Random, text: str, phrases: Mapping[str, Any]) -> str:
    places = [i for i, c in enumerate(text) if c in "的把一下里请给个啊"]
    if not places:
        return text
    at = rng.choice(places)
    return text[:at] + text[at + 1 :]


_ENGLISH = (_filler, _repeat, _letters, _letters, _heard, _heard, _dropped, _bare, _joined)
_CHINESE = (_filler, _repeat, _homophone, _homophone, _ending, _lost, _lost)


def _words(text: str) -> list[str]:
    return text.split() if text.isascii() else list(text)


def _glue(words: Sequence[str], like: str) -> str:
    return (" " if like.isascii() else "").join(words)


@cache
def _sound(char: str) -> str:
    toned = pinyin(char, style=Style.TONE)[0][0]
    plain = "".join(c for c in unicodedata.normalize("NFD", toned) if not unicodedata.combining(c))
    return plain.replace("zh", "z").replace("ch", "c").replace("sh", "s").removesuffix("g")


@cache
def _by_sound() -> Mapping[str, str]:
    """Usual characters by their sound, without tone and with what many do not tell apart made one."""
    table: dict[str, str] = {}
    for high in range(0xB0, 0xD8):
        for low in range(0xA1, 0xFF):
            try:
                char = bytes((high, low)).decode("gb2312")
            except UnicodeDecodeError:
                continue
            table[_sound(char)] = table.get(_sound(char), "") + char
    return table
