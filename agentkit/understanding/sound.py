"""Mend Chinese words that sound like a word of this home: a listener writes the right sound with the wrong characters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from agentkit.understanding.entries import Entry, Item, Role
from agentkit.understanding.lexicon import Lexicon

_MENDED = frozenset({Role.NAME, Role.AREA, Role.FLOOR, Role.KIND, Role.CLASS, Role.TOPIC})
_MAX_GAP = 6
_MAX_READINGS = 8
_BLURS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ing", "in"), ("eng", "en"), ("ang", "an"))
"""Sounds that many speakers do not tell apart."""


def mend_sound(folded: str, lexicon: Lexicon) -> list[str]:
    """Sentences with one run of characters replaced by a known word of the same sound; none if all is known."""
    if folded.isascii():
        return []
    spoken = [_sounds(c) for c in folded]
    known = _spans(lexicon.mentions(folded))
    found: dict[str, None] = {}
    for word, sounds in _words_by_sound(lexicon):
        for start in range(len(folded) - len(word) + 1):
            end = start + len(word)
            if folded[start:end] == word or all(n in known for n in range(start, end)):
                continue
            if all(_is_alike(spoken[start + n], sound) for n, sound in enumerate(sounds)):
                found[folded[:start] + word + folded[end:]] = None
    return list(found)[:_MAX_READINGS]


def _spans(items: Iterable[Item]) -> set[int]:
    """Places of names and of longer known words; a short one may be what was misheard."""
    return {n for i in items if i.end - i.start > 1 for n in range(i.start, i.end)}


def _words_by_sound(lexicon: Lexicon) -> list[tuple[str, list[frozenset[str]]]]:
    words = {e.text for e in lexicon.entries if e.role in _MENDED and _is_word(e)}
    return [(w, [_sounds(c) for c in w]) for w in sorted(words, key=lambda w: (-len(w), w))]


def _is_word(entry: Entry) -> bool:
    return 1 < len(entry.text) <= _MAX_GAP and all("\u4e00" <= c <= "\u9fff" for c in entry.text)


def _is_alike(spoken: frozenset[str], meant: frozenset[str]) -> bool:
    return bool(spoken & meant)


@cache
def _sounds(char: str) -> frozenset[str]:
    """How a character may be read, without tones; a character that is none sounds like nothing else."""
    read = _reader()(char)
    return frozenset(_blur(s) for s in read if s and s != char and s.isascii())


def _blur(sound: str) -> str:
    for clear, blurred in _BLURS:
        sound = sound.replace(clear, blurred)
    return sound


@cache
def _reader() -> Callable[[str], list[str]]:
    from pypinyin import Style, pinyin  # a few megabytes, needed only when something was misheard

    def read(char: str) -> list[str]:
        found: list[list[str]] = pinyin(char, style=Style.NORMAL, heteronym=True, errors="ignore")
        return found[0] if found else []

    return read

