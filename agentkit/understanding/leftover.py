"""What a reading that need not use every word has passed over: a clause that nothing of it answers to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.types import Intent, Kind, Understanding
from agentkit.understanding.choosing import is_question
from agentkit.understanding.entries import TARGETS, VALUES, Item, Role
from agentkit.understanding.evidence import Sentence, acts_of
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.names import link_words
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.piece_checks import joined
from agentkit.understanding.propose import HINTED
from agentkit.understanding.selecting import select
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_USED = (TARGETS - {Role.PART}) | VALUES | {Role.TOPIC, Role.UNIT, Role.SLIGHT, Role.STATE}
_KINDS = frozenset({Role.KIND, Role.CLASS})
_TELLING = frozenset({Role.NAME, Role.AREA, Role.FLOOR, Role.HERE, Role.HOME, Role.ALL, Role.IT, Role.HINT})
_THINGS = _KINDS | {Role.NAME}
_IDLE = frozenset({Role.FILLER, Role.ALSO, Role.WISH, Role.POINTER, Role.TO})


@dataclass(frozen=True)
class _Part:
    start: int
    end: int
    mentions: tuple[Item, ...]


def whole(
    tier: PhraseTier,
    tools: Mapping[str, Tool],
    all_words: Mapping[str, Words],
    found: Understanding,
    text: Normalised,
    view: HomeView,
) -> Understanding:
    """A reading of parts of a sentence; refused by the words of what it leaves out, if that is something to do."""
    if found.kind is not Kind.CALLS or found.why == HINTED or is_question(found, tools):
        return found
    words, is_asked = all_words[text.language], found.needs_confirmation
    lexicon = tier.lexicon(view, words)
    left = _strange(text, lexicon, words) if is_asked else ""
    left = left or passed_over(text, found.intents, lexicon, view, words, tier.phrases, is_asked=is_asked)
    if not left:
        return found
    why = f"{found.why}; but nothing is called for {left!r}"
    return replace(found, kind=Kind.REFUSE, intents=(), reply_key="part", reply_values={"name": left}, why=why)


def passed_over(
    text: Normalised,
    intents: Sequence[Intent],
    lexicon: Lexicon,
    view: HomeView,
    words: Words,
    phrases: PhraseMap,
    *,
    is_asked: bool = False,
) -> str:
    """The first part behind a command, as it was said, that its calls have nothing to do with; "" if there is none.

    `is_asked`: there is a question before anything runs, so what a mere comma sets apart may be the reason.
    """
    folded = fold(text.text if is_asked else joined(text.text, words), words)
    types = {d.type for i in intents for d in select(i.selector, view)}
    acts = set().union(*(acts_of(i.tool, types, phrases) for i in intents))
    parts = list(_parts(folded, lexicon.mentions(folded)))
    if is_asked and len(parts) == 1:
        return ""  # nothing is joined to it: what is left is how it was wished for
    used = [_is_used(part, folded, acts, lexicon, words) for part in parts]
    begun = itertools.dropwhile(lambda pair: not pair[1], zip(parts, used, strict=True))
    rests = (_unknown(_tail(part, folded), folded) if is_used else _unknown(part, folded) for part, is_used in begun)
    return next((rest for rest in rests if rest), "")


def _parts(folded: str, mentions: Sequence[Item]) -> Iterator[_Part]:
    """The stretches between the words that join, those inside a longer piece left alone."""
    joins = sorted(
        (m.start, m.end)
        for m in mentions
        if m.role is Role.ALSO
        and not any(o.start <= m.start and m.end <= o.end and len(o.text) > len(m.text) for o in mentions)
    )
    edges = [0, *(n for span in joins for n in span), len(folded)]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if folded[start:end].strip():
            yield _Part(start, end, tuple(m for m in mentions if start <= m.start and m.end <= end))


def _strange(text: Normalised, lexicon: Lexicon, words: Words) -> str:
    """Of several things, the first said by its kind with an unknown word, or in an unknown place."""
    folded = fold(text.text, words)
    mentions = lexicon.mentions(folded)
    parts = [p for p in _parts(folded, mentions) if any(m.role in _THINGS for m in p.mentions)]
    for part in parts if len(parts) > 1 else ():
        said = [m for m in part.mentions if m.role not in _IDLE]
        is_kind = any(m.role in _KINDS for m in said) and not any(m.role in _TELLING for m in said)
        if (is_kind or _ends_elsewhere(part, folded, words)) and len(_rest(part, folded, part.mentions)) > (
            1 if not folded.isascii() else 0
        ):
            verbs = [m.end for m in said if m.role is Role.ACT and not folded[part.start : m.start].strip()]
            return folded[max(verbs, default=part.start) : part.end].strip()
    return ""


def _ends_elsewhere(part: _Part, folded: str, words: Words) -> bool:
    """Whether the last words of a part are an unknown place: "the fan in the cabin"."""
    links = link_words(words)
    last = max((m.end for m in part.mentions), default=part.end)
    before = folded[part.start : last].split()
    while before and before[-1] in words.fillers and before[-1] not in links:
        before.pop()
    return bool(folded[last : part.end].strip()) and bool(before) and before[-1] in links


def _is_used(part: _Part, folded: str, acts: set[str], lexicon: Lexicon, words: Words) -> bool:
    """Whether a part holds a thing or a value, or nothing but known words, and no verb but those of the calls."""
    is_known = not _rest(part, folded, part.mentions)
    is_about = any(m.role in _USED for m in part.mentions)
    if said := Sentence(folded[part.start : part.end].strip(), part.mentions, lexicon, words).verbs:
        return (is_about or is_known) and any(verb & acts for verb in said)
    return is_about or (is_known and not any(m.role is Role.ACT for m in part.mentions))


def _tail(part: _Part, folded: str) -> _Part:
    """What follows the last piece that means something, in a script without spaces; else nothing."""
    ends = [m.end for m in part.mentions if m.role not in _IDLE and not m.text.isascii()]
    start = max(ends, default=part.end)
    start = part.end if folded[start : part.end].isascii() else start
    return _Part(start, part.end, tuple(m for m in part.mentions if m.start >= start))


def _unknown(part: _Part, folded: str) -> str:
    """The part, if it holds more than idle words."""
    is_idle = not _rest(part, folded, [m for m in part.mentions if m.role in _IDLE])
    return "" if is_idle else folded[part.start : part.end].strip()


def _rest(part: _Part, folded: str, mentions: Sequence[Item]) -> str:
    """What a part holds beside some pieces of it."""
    left = list(folded[part.start : part.end])
    for m in mentions:
        left[m.start - part.start : m.end - part.start] = " " * (m.end - m.start)
    return "".join(left).strip()
