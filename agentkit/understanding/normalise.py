"""Bring an utterance into one spelling without changing what it says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

from agentkit.understanding.guard import guard
from agentkit.understanding.hanzi import simplify
from agentkit.understanding.numbers import in_percent
from agentkit.understanding.words import Words

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_APOSTROPHES = "‘’‚‛`\u00b4\u02b9\u02bb\u02bc\u02bd\u02c8\u02ca\u02cb\u05f3\u2032\u2035\ua78c\uff07"
_DOUBLE_QUOTES = "“”„‟«»「」『』\u2033\u2036\u301d\u301e\ufe41\ufe42\uff02"
_MARKS = str.maketrans({**dict.fromkeys(_APOSTROPHES, "'"), **dict.fromkeys(_DOUBLE_QUOTES, '"'), "。": ".", "、": ","})
_ALIKE = str.maketrans(
    "авеікмнорстухѕјԁһгпАВЕІКМНОРСТУХЅЈαεικνορτυχΑΒΕΗΙΚΜΝΟΡΤΥΧı",
    "abeikmhopctyxsjdhrnABEIKMHOPCTYXSJaeikvoptuxABEHIKMNOPTYXi",
)
"""Letters of other alphabets that look like Latin ones."""
_MIXED_WORD = re.compile(r"\b(?=\w*[a-zA-Z])\w*[\u0131\u0370-\u052f]\w*")
_SPACE = re.compile(r"\s+")
_CJK_SPACE = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")
_ENDS = " .,!?;:~…-"
_LATE = ("time", "duration", "condition")
"""Kinds of guards that hold for a command even if they stand in a clause of their own before or behind it."""
_N_FOLDED = 2048
"""Texts of a language that stay folded: the names of a home of some hundred devices and the sentences of some turns."""
_LOOSE = re.compile(r"[^\w%°.]+|(?<!\d)\.|\.(?!\d)|_")


@dataclass(frozen=True)
class Normalised:
    """An utterance ready to be understood."""

    text: str
    """Without frames of politeness, end marks and doubled spaces, in simplified characters; case is kept."""
    language: str
    original: str
    is_question: bool = False
    """It ended in a question mark."""
    is_request: bool = False
    """A polite frame stood around it, so that a question mark asks for doing, not for knowing."""
    taken_back: str = ""
    """What stood before the last correction ("no, I mean"); the text may lean on it."""

    def as_spoken(self, part: str) -> str:
        """A part of the text in the characters of the original, for free text that is kept or shown."""
        spelled = spell(self.original)
        at = simplify(spelled).casefold().find(part.casefold())
        is_safe = at >= 0 and len(spelled.casefold()) == len(spelled)
        return spelled[at : at + len(part)] if is_safe else part


def detect_language(text: str) -> str:
    """Tell "zh" if any Chinese character stands in the text, else "en"."""
    return "zh" if _CJK.search(text) else "en"


def normalise(text: str, language: str | None, words: Words) -> Normalised:
    """Clean an utterance: full width, control characters, spaces, polite frames, what the speaker took back."""
    clean = simplify(spell(text))
    is_question = clean.rstrip(" .!").endswith("?")
    taken_back = ""
    for pattern in words.corrections:
        if found := list(pattern.finditer(clean)):
            taken_back, clean = clean[: found[-1].start()], clean[found[-1].end() :]
    bare = _CJK_SPACE.sub("", clean).strip(_ENDS)
    core = without_frames(bare, words)
    is_asking = any(pattern.search(bare) for pattern in words.talk.questions)
    is_request = core != bare and not is_asking
    before = without_frames(_CJK_SPACE.sub("", taken_back).strip(_ENDS), words)
    return Normalised(core, language or detect_language(text), text, is_question or is_asking, is_request, before)


@lru_cache(maxsize=64)  # several readers of a turn begin with what was said
def spell(text: str) -> str:
    """One spelling per character: half width, plain quotes, Latin letters, nothing invisible, single spaces."""
    plain = unicodedata.normalize("NFKC", text.translate(_MARKS)).translate(_MARKS)
    visible = plain if plain.isprintable() else "".join(map(_visible, plain))
    visible = visible if visible.isascii() else _MIXED_WORD.sub(lambda word: word[0].translate(_ALIKE), visible)
    return " ".join(visible.split())


def _visible(char: str) -> str:
    """A character as one sees it: controls and separators are gaps, formatting marks are nothing."""
    category = unicodedata.category(char)
    return "" if category == "Cf" else " " if category[0] in "CZ" else char


def without_frames(text: str, words: Words) -> str:
    """Strip polite frames from both ends until none is left; never down to nothing."""
    before = ""
    while before != text:
        before = text
        for pattern in words.polite:
            if found := pattern.search(text):
                text = _without(found, words).strip(_ENDS) or text
    return text


def less_led(text: str, words: Words) -> Iterator[str]:
    """The text, and what is left of it without one or more of the frames at its beginning ("hey, yeah, right")."""
    left, seen = [text], {text}
    while left:
        yield (said := left.pop())
        for pattern in words.polite:
            hit = pattern.match(said) if not pattern.groupindex else None
            rest = said[hit.end() :].strip(_ENDS) if hit is not None else ""
            if rest and rest not in seen:
                seen.add(rest)
                left.append(rest)


def _without(found: re.Match[str], words: Words) -> str:
    """The text without a frame that was found in it; whole if the frame holds a time or condition of its own."""
    if "rest" in found.re.groupindex:
        return found["rest"]
    if "doing" in found.re.groupindex:
        base = words.bases.get(found["doing"].casefold())
        return found.string if base is None else base + found.string[found.end() :]
    hit = guard(found[0].strip(_ENDS), words, kinds=_LATE)
    if hit is not None and hit.words not in found.re.pattern:  # "if you could" is spelled out by its frame
        return found.string
    return found.string[: found.start()] + found.string[found.end() :]


def fold(text: str, words: Words) -> str:
    """Spell a text for comparison: lower case, no punctuation, one space, the words' own spellings.

    A sentence and its parts are folded by many readers of a turn, so the last texts are remembered.
    """
    return words.made("fold", _remembered)(text)


def _remembered(words: Words) -> Callable[[str], str]:
    return lru_cache(_N_FOLDED)(partial(_fold, words=words))


def _fold(text: str, words: Words) -> str:
    folded = _LOOSE.sub(" ", simplify(spell(text)).casefold().replace("'", "")).strip()
    folded = folded if folded.isascii() else in_percent(folded)
    for old, new in words.synonyms.items():
        if old in folded:
            folded = _replace(folded, old, new)
    return _CJK_SPACE.sub("", _SPACE.sub(" ", folded)).strip()


def fold_listed(phrase: str, words: Words) -> str:
    """Spell a phrase of the app's lists for comparison; each is folded once."""
    if (folded := words.folded.get(phrase)) is None:
        folded = words.folded[phrase] = fold(phrase, words)
    return folded


def fold_all(phrases: tuple[str, ...], words: Words) -> frozenset[str]:
    """The phrases of one of the app's lists in the spelling for comparison; each list is folded once."""
    lists: dict[tuple[str, ...], frozenset[str]] = words.made("fold_all", lambda _: {})
    if (folded := lists.get(phrases)) is None:
        folded = lists[phrases] = frozenset(fold_listed(p, words) for p in phrases)
    return folded


def _replace(text: str, old: str, new: str) -> str:
    if _CJK.search(old):
        return text.replace(old, new)
    return re.sub(rf"(?<![a-z0-9]){re.escape(old)}(?![a-z0-9])", new, text)
