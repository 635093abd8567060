"""Find the words that were to name a device, so that a refusal can say what this home lacks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agentkit.understanding.entries import VALUES, Item, Role
from agentkit.understanding.evidence import read_sentence
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.words import Words

_MAX_LENGTH, _MAX_WORDS, _MAX_SERIES = 40, 5, 20
_ENDS_NAME = VALUES | {Role.TO, Role.AT, Role.BY, Role.ACT, Role.ALSO, Role.SLIGHT, Role.UNIT}
_NO_NAME = frozenset({Role.FILLER, Role.PREPOSITION, Role.ALL, Role.ALSO, Role.SLIGHT, Role.IT})
_THINGS = frozenset({Role.NAME, Role.PART, Role.KIND, Role.CLASS})
_SETTING = frozenset({"set", "adjust", "up", "down"})
"""Acts on things of many sorts, also such that are none of the home's ("set the table")."""
_SAYS = frozenset({Role.COPULA, Role.WISH})


def unknown_name(text: str, lexicon: Lexicon, words: Words, naming_acts: Collection[str]) -> str | None:
    """The object of a verb that acts on devices, if it holds a word that this home does not know."""
    sentence = read_sentence(text, lexicon, words)
    folded, mentions = sentence.folded, sentence.mentions
    verbs = [m for m in mentions if m.role is Role.ACT]
    acts = sentence.verbs
    is_naming = bool(acts) and not acts[0].isdisjoint(naming_acts)
    is_led = bool(verbs) and _is_command(verbs[0], folded)
    if not is_led and not (folded.isascii() and not any(m.role in _SAYS for m in mentions)):
        return None
    is_set = not is_naming and any(not _SETTING.isdisjoint(a) for a in acts)
    if is_led and not is_naming and not is_set:
        return None
    low = verbs[0].end if is_led and not folded[: verbs[0].start].strip() else 0
    things = {m.start for m in mentions if m.role in _THINGS}
    ends = [m for m in mentions if m.start >= low and m.role in _ENDS_NAME and m.start not in things]
    ends = [m for m in ends if not _is_series(m, mentions, low, folded)]
    end = ends[0].start if ends else None
    inside = [m for m in mentions if low <= m.start and (end is None or m.end <= end) and m.role is not Role.NUMBER]
    name = _strip(folded[low:end], low, inside)
    if not is_led and not (
        ends and _is_thing(name, lexicon) and name.count(" ") < _MAX_WORDS and _is_told(ends, mentions, folded)
    ):
        return None
    has_value = bool({m.role for m in ends if m.start == end} & {Role.TO, *VALUES}) and any(
        m.role in VALUES for m in ends
    )
    is_crumb = len(name) < 2 and not name.isascii()  # a single sign is what is left of a word, not a name
    if (is_led and is_set and not has_value) or not name or is_crumb or len(name) > _MAX_LENGTH:
        return None
    return name if _has_rest(folded[low:end], low, inside) else None


def is_lacking(name: str, lexicon: Lexicon) -> bool:
    """Whether a name is a kind with unknown words before it or behind "in": no other device of the kind is meant."""
    terms = name.split()
    strange = [w.isalpha() and w not in lexicon.vocabulary for w in terms]
    if not name.isascii() or len(terms) < 2 or len(terms) > _MAX_WORDS:
        return False
    if _is_thing(name, lexicon):
        return any(strange[:-1])
    return strange[-1] and _is_thing(terms[0], lexicon) and not strange[1]


def _is_command(verb: Item, folded: str) -> bool:
    """The verb stands first, or in Chinese behind what it acts on."""
    return verb.start == 0 or (not folded.isascii() and verb.end == len(folded))


def _is_thing(name: str, lexicon: Lexicon) -> bool:
    """Whether a name ends in a word for a kind of device, or in that and the number of one of a series."""
    word = name.rstrip("0123456789 ").rpartition(" ")[2]
    return bool(word) and any(i.role in (Role.KIND, Role.CLASS) and i.text == word for i in lexicon.at(word, 0))


def _is_told(ends: Sequence[Item], mentions: Sequence[Item], folded: str) -> bool:
    """Whether a sentence without a verb before its thing says what to do with it ("spare lamp off", "... to 20 %")."""
    first = [m for m in ends if m.start == ends[0].start]
    is_verb = any(m.role is Role.ACT and m.end == len(folded) for m in first)
    has_value = any(m.role in VALUES and m.start >= first[0].end for m in mentions)
    return is_verb or (has_value and any(m.role is Role.TO for m in first))


def _is_series(number: Item, mentions: Sequence[Item], low: int, folded: str) -> bool:
    """Whether a number is one of a series ("lamp 2"): behind the thing, without unit, at the end or before "to"."""
    is_small = number.role is Role.NUMBER and 1 <= number.number <= _MAX_SERIES and number.number % 1 == 0
    after = min((m.start for m in mentions if m.start >= number.end), default=len(folded))
    is_before_to = any(m.role is Role.TO for m in mentions if m.start == after)
    is_last = not folded[number.end :].strip()
    return is_small and bool(folded[low : number.start].strip()) and (is_last or is_before_to)


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
