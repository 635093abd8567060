"""Bring an utterance into one spelling without changing what it says."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from agentkit.understanding.words import Words

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": "'", "。": ".", "、": ",", "「": '"', "」": '"'})
_SPACE = re.compile(r"\s+")
_CJK_SPACE = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")
_ENDS = " .,!?;:~…-"
_LOOSE = re.compile(r"[^\w%°.]+|(?<!\d)\.|\.(?!\d)|_")


@dataclass(frozen=True)
class Normalised:
    """An utterance ready to be understood."""

    text: str
    """Without frames of politeness, end marks and doubled spaces; case is kept for titles and names."""
    language: str
    original: str
    is_question: bool = False
    """It ended in a question mark."""
    is_request: bool = False
    """A polite frame stood around it, so that a question mark asks for doing, not for knowing."""


def detect_language(text: str) -> str:
    """Tell "zh" if any Chinese character stands in the text, else "en"."""
    return "zh" if _CJK.search(text) else "en"


def normalise(text: str, language: str | None, words: Words) -> Normalised:
    """Clean an utterance: full width, control characters, spaces, polite frames, what the speaker took back."""
    clean = spell(text)
    is_question = clean.rstrip(" .!").endswith("?")
    for pattern in words.corrections:
        if found := list(pattern.finditer(clean)):
            clean = clean[found[-1].end() :]
    bare = _CJK_SPACE.sub("", clean).strip(_ENDS)
    core = _unframe(bare, words)
    is_asking = any(pattern.search(bare) for pattern in words.talk.questions)
    is_request = core != bare and not is_asking
    return Normalised(core, language or detect_language(text), text, is_question or is_asking, is_request)


def spell(text: str) -> str:
    """One spelling per character: half width, plain quotes, no control characters, single spaces."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    visible = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in plain)
    return _SPACE.sub(" ", visible).strip()


def _unframe(text: str, words: Words) -> str:
    """Strip polite frames from both ends until none is left; never down to nothing."""
    before = ""
    while before != text:
        before = text
        for pattern in words.polite:
            shorter = pattern.sub("", text).strip(_ENDS)
            text = shorter or text
    return text


def fold(text: str, words: Words) -> str:
    """Spell a text for comparison: lower case, no punctuation, one space, the words' own spellings."""
    folded = _LOOSE.sub(" ", spell(text).casefold().replace("'", "")).strip()
    for old, new in words.synonyms.items():
        if old in folded:
            folded = _replace(folded, old, new)
    return _CJK_SPACE.sub("", _SPACE.sub(" ", folded)).strip()


def _replace(text: str, old: str, new: str) -> str:
    if _CJK.search(old):
        return text.replace(old, new)
    return re.sub(rf"(?<![a-z0-9]){re.escape(old)}(?![a-z0-9])", new, text)
