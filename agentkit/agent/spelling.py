"""Find the words of a policy in the names of devices, however these are spelled.

Whoever names a device may write it in capitals, with accents, as one word or letter by letter, in traditional
characters or in ones that only look like others: what a reader takes for "door" counts as "door".
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from agentkit.understanding.hanzi import simplify

_JOINED = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])"
    r"|(?<=[a-zA-Z])(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])(?=[a-zA-Z])"
)
_LOOKALIKES = str.maketrans(
    "аеёорсухіїјѕԁһԛԝӏвгкмнтαβεικνορτυχγøłđħıɡ\u115f\u1160", "aeeopcyxiijsdhqwlbrkmhtabeiknoptuxyoldhig  "
)
"""Cyrillic and Greek letters as the Latin ones that they look like, Latin ones that no accent makes of others, and
letters that show nothing."""
_DIGITS = str.maketrans("013457", "oleast")
"""Digits in the place of letters: "d00r"."""
_LETTERS = re.compile(r"[a-z]*$")
_PLURALS = ("", "s", "es")
_MAX_WORD = 40
"""Longest word that is looked for over several pieces of a name, in characters."""
_MIN_HEAD, _MIN_REST = 4, 4
"""Shortest word that may end a longer one, and the least before it: "frontdoor", neither "outdoor" nor "clock"."""
_MIN_START = 5
"""Shortest word that may begin a longer one: "unlockbutton", not "doorbell"."""
_MIN_BEFORE_END = 3
"""The same where a rule asks for the end of a name: "maglock", not "clock"."""


@dataclass(frozen=True)
class Spelled:
    """A name as it is compared."""

    words: tuple[str, ...]
    """In one case, without accents, simplified; "GarageDoor2" is three of them."""
    runs: frozenset[str]
    """Words, and neighbours written together: "fire place" holds "fireplace", "D o o r" holds "door"."""
    joined: str
    """All of it as one word."""


@lru_cache(maxsize=8192)
def spelled(name: str) -> Spelled:
    """Read a name as words."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    folded = _JOINED.sub(" ", simplify(plain)).casefold().translate(_LOOKALIKES)
    words = tuple("".join(c if c.isalnum() else " " for c in folded).split())
    return Spelled(words, frozenset(_runs(words)), "".join(words))


def has_word(name: Spelled, words: tuple[str, ...]) -> bool:
    """Whether a name holds one of the words, an English one as a whole, in singular or plural; "*door" must end it.

    A long word also counts as a part of a longer one ("frontdoor"), a Chinese one wherever it stands.
    """
    wanted = _wanted(words)
    if not wanted.whole.isdisjoint(name.runs) or any(w in name.joined for w in wanted.chinese):
        return True
    for word in wanted.parts:
        if word in name.joined and (_is_start(name, word) or any(_is_head(name, word + p) for p in _PLURALS)):
            return True
    return any(w in name.joined and any(_ends(name, w + plural) for plural in _PLURALS) for w in wanted.ends)


@dataclass(frozen=True)
class _Wanted:
    """The words of a rule, by how they are looked for."""

    whole: frozenset[str]
    parts: tuple[str, ...]
    chinese: tuple[str, ...]
    ends: tuple[str, ...]


@lru_cache(maxsize=1024)
def _wanted(words: tuple[str, ...]) -> _Wanted:
    plain = tuple(spelled(w).joined for w in words if not w.startswith("*"))
    latin = tuple(w for w in plain if w.isascii())
    return _Wanted(
        frozenset(w + plural for w in latin for plural in _PLURALS),
        tuple(w for w in latin if len(w) >= _MIN_HEAD),
        tuple(w for w in plain if not w.isascii()),
        tuple(spelled(w[1:]).joined for w in words if w.startswith("*")),
    )


def _is_start(name: Spelled, wanted: str) -> bool:
    if len(wanted) < _MIN_START:
        return False
    return any(w.startswith(wanted) and len(w) - len(wanted) >= _MIN_REST for w in name.words)


def _is_head(name: Spelled, wanted: str) -> bool:
    return any(w.endswith(wanted) and _n_letters_before(w, wanted) >= _MIN_REST for w in name.words)


def _ends(name: Spelled, wanted: str) -> bool:
    """Whether a name ends with a word, apart from a number ("Door 2", "2号门")."""
    words = list(name.words)
    while words and (words[-1].isdigit() or words[-1] == "号"):
        words.pop()
    if not "".join(words).removesuffix("号").endswith(wanted):
        return False
    if not wanted.isascii():
        return True
    n_before = _n_letters_before(words[-1], wanted) if words[-1].endswith(wanted) else 0
    return n_before == 0 or n_before >= _MIN_BEFORE_END


def _n_letters_before(word: str, ending: str) -> int:
    """How many Latin letters stand directly before an ending."""
    found = _LETTERS.search(word.removesuffix(ending))
    return len(found[0]) if found else 0


def _runs(words: tuple[str, ...]) -> set[str]:
    found = set()
    for start in range(len(words)):
        run = ""
        for word in words[start:]:
            run += word
            if len(run) > _MAX_WORD:
                break
            found |= {run} if run.isalpha() or run.isdigit() else {run, run.translate(_DIGITS)}
    return found
