"""Put a correction into the sentence it corrects: "the hall lamp on, no, the kitchen" means the kitchen lamp."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from agentkit.understanding.entries import TARGETS, Item, Role
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold, fold_listed
from agentkit.understanding.words import Words

_IDLE = frozenset({Role.FILLER, Role.COPULA, Role.WISH, Role.POINTER, Role.ALSO})
_PLACES = frozenset({Role.AREA, Role.FLOOR, Role.HERE, Role.HOME})
_AMOUNTS = frozenset({Role.NUMBER, Role.LEVEL})
_LOOKS = frozenset({Role.COLOR, Role.WHITE, Role.MODE})
_VERBS = frozenset({Role.ACT})
_MAX_TRIED = 24


def amend(before: str, after: str, lexicon: Lexicon) -> list[str]:
    """Sentences that a folded correction may make of a folded command; empty if it can stand in no place of it."""
    found: dict[str, None] = {}
    afters = [c for c in itertools.islice(lexicon.cuts(after), _MAX_TRIED) if c]
    for old in itertools.islice(lexicon.cuts(before), _MAX_TRIED):
        for new in afters:
            if text := _replaced(before, old, after, new):
                found[text] = None
    return list(found)


def corrections(text: Normalised, lexicon: Lexicon, words: Words) -> list[str]:
    """What a text may mean as the correction of what stood before it; empty if it is a command of its own."""
    before, after = fold(text.taken_back, words), fold(text.text, words)
    if not before or _stands_alone(after, lexicon):
        return []
    joined = f"{before} {after}" if before.isascii() else f"{before}{after}"
    return [*amend(before, after, lexicon), joined]


def _stands_alone(after: str, lexicon: Lexicon) -> bool:
    """Whether a correction is a command of its own: it has a verb and something to act on."""
    cuts = itertools.islice(lexicon.cuts(after), _MAX_TRIED)
    return any(any(i.role is Role.ACT for i in c) and any(i.role in TARGETS for i in c) for c in cuts)


def _replaced(before: str, old: Sequence[Item], after: str, new: Sequence[Item]) -> str:
    """The command with each part of the correction in place of its like; "" if a part has none."""
    text, done = before, 0
    spans: list[tuple[int, int, str]] = []
    for roles in (_VERBS, TARGETS, _AMOUNTS, _LOOKS):
        piece = _span(new, roles)
        if piece is None:
            continue
        wanted = roles
        if roles is TARGETS and all(i.role in _PLACES | _IDLE for i in new if i.role in TARGETS):
            wanted = _PLACES
        place = _last_span(old, wanted)
        if place is None:
            return ""
        spans.append((*place, after[piece[0] : piece[1]]))
        done += sum(i.role in roles for i in new)
    known = sum(i.role not in _IDLE and i.role not in (Role.UNIT, Role.TO, Role.TOPIC) for i in new)
    if not spans or done != known:
        return ""
    for start, end, part in sorted(spans, reverse=True):
        text = text[:start] + part + text[end:]
    return text


def _span(items: Sequence[Item], roles: frozenset[Role]) -> tuple[int, int] | None:
    found = [i for i in items if i.role in roles]
    return (found[0].start, found[-1].end) if found else None


def _last_span(items: Sequence[Item], roles: frozenset[Role]) -> tuple[int, int] | None:
    """The last run of such pieces with nothing but idle words between them."""
    run: list[Item] = []
    for item in reversed(items):
        if item.role in roles:
            run.append(item)
        elif run and item.role not in _IDLE:
            break
    return (run[-1].start, run[0].end) if run else None


def is_called_off(text: Normalised, words: Words) -> bool:
    """Whether the utterance, or its last clause in Chinese, calls off what was asked."""
    cancels = {fold_listed(c, words) for c in words.cancel}
    last = re.split("[,.;]", text.text)[-1] if not text.text.isascii() else text.text
    return fold(text.text, words) in cancels or fold(last, words) in cancels
