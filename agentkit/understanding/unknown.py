"""Find the words that were to name a device, so that a refusal can say what this home lacks."""

from __future__ import annotations

from collections.abc import Collection

from agentkit.understanding.entries import VALUES, Item, Role
from agentkit.understanding.evidence import read_sentence, verbs_said
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.words import Words

_MAX_LENGTH = 40
_ENDS_NAME = VALUES | {Role.TO, Role.AT, Role.BY, Role.ACT, Role.ALSO, Role.SLIGHT, Role.UNIT}
_NO_NAME = frozenset({Role.FILLER, Role.PREPOSITION, Role.ALL, Role.ALSO, Role.SLIGHT, Role.IT})


def unknown_name(text: str, lexicon: Lexicon, words: Words, naming_acts: Collection[str]) -> str | None:
    """The object of a verb that acts on devices, if it holds a word that this home does not know."""
    sentence = read_sentence(text, lexicon, words)
    verbs = [m for m in sentence.mentions if m.role is Role.ACT]
    said = verbs_said(sentence, words)
    if not verbs or not said or not said[0] & set(naming_acts):
        return None
    verb = verbs[0]
    if not _is_command(verb, sentence.folded):
        return None
    end = min((m.start for m in sentence.mentions if m.role in _ENDS_NAME and m.start >= verb.end), default=None)
    start, end = (verb.end, end) if sentence.folded[: verb.start].strip() == "" else (0, verb.start)
    inside = [m for m in sentence.mentions if start <= m.start and (end is None or m.end <= end)]
    name = _strip(sentence.folded[start:end], start, inside)
    if not name or len(name) > _MAX_LENGTH or not _has_rest(sentence.folded[start:end], start, inside):
        return None
    return name


def _is_command(verb: Item, folded: str) -> bool:
    """The verb stands first, or in Chinese behind what it acts on."""
    return verb.start == 0 or (not folded.isascii() and verb.end == len(folded))


def _has_rest(span: str, offset: int, inside: list[Item]) -> bool:
    """Whether some word of the span is none of the known pieces."""
    rest = list(span)
    for item in inside:
        rest[item.start - offset : item.end - offset] = " " * (item.end - item.start)
    return bool("".join(rest).strip())


def _strip(span: str, offset: int, inside: list[Item]) -> str:
    """The span without meaningless pieces at its ends."""
    low, high = 0, len(span)
    idle = [i for i in inside if i.role in _NO_NAME]
    for item in idle:
        if not span[low : item.start - offset].strip():
            low = max(low, item.end - offset)
    for item in reversed(idle):
        if item.end - offset > low and not span[item.end - offset : high].strip():
            high = min(high, item.start - offset)
    return span[low:high].strip()
