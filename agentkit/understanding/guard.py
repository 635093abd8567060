"""Words that forbid acting at once: what the templates did not consume must not be overheard."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from agentkit.types import Kind, Understanding
from agentkit.understanding.words import Words

_SCRIPTS = re.compile(r"(?<=[\u3400-\u9fff])(?=[a-zA-Z])|(?<=[a-zA-Z])(?=[\u3400-\u9fff])")
_N_TEXTS = 32


@dataclass(frozen=True)
class GuardHit:
    """Why a sentence must not run now."""

    kind: str
    """time, duration, condition, negation, exception, report … as the words name it."""
    words: str
    """The part of the sentence that says so."""

    @property
    def why(self) -> str:
        """What a trace says of it."""
        return f"{self.kind}: {self.words!r} is not understood, so nothing runs"


def guard(text: str, words: Words, *, kinds: Collection[str] = ()) -> GuardHit | None:
    """Find the first time, condition, negation, exception or report in a text. `kinds`: only these, if any.

    Several readers of a turn ask about the same texts, so the last ones are remembered.
    """
    return words.made("guard", _remembered)(text, kinds if isinstance(kinds, frozenset) else frozenset(kinds))


def _remembered(words: Words) -> Callable[[str, frozenset[str]], GuardHit | None]:
    return lru_cache(_N_TEXTS)(partial(_find, words))


def _find(words: Words, text: str, kinds: frozenset[str]) -> GuardHit | None:
    spaced = text if text.isascii() else _SCRIPTS.sub(" ", text)  # a word ends where the script changes
    for kind, patterns in words.guards.items():
        if kinds and kind not in kinds:
            continue
        for pattern in patterns:
            if found := pattern.search(spaced):
                return GuardHit(kind, found.group(0).strip())
    return None


def guard_any(text: str, own: Words, all_words: Iterable[Words]) -> GuardHit | None:
    """Find what forbids acting in the words of the speaker's language or, where scripts mix, of any other."""
    found = guard(text, own)
    if found is not None or not is_mixed(text):
        return found
    return next((hit for words in all_words if words is not own and (hit := guard(text, words))), None)


def is_mixed(text: str) -> bool:
    """Whether Latin letters stand beside other scripts."""
    return not text.isascii() and any(c.isascii() and c.isalpha() for c in text)


def not_yet(hit: GuardHit, timings: Mapping[str, float]) -> Understanding:
    """Refuse a sentence for what forbids acting, by its kind."""
    values = {"kind": hit.kind, "words": hit.words}
    return Understanding(Kind.REFUSE, (), "not_yet", values, "guard", hit.why, timings_ms=timings)
