"""Put a correction into the sentence it corrects: "the hall lamp on, no, the kitchen" means the kitchen lamp."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.choosing import is_question
from agentkit.understanding.entries import TARGETS, Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold, fold_all, spell
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

Match = Callable[[Normalised, HomeView], Understanding]
_IDLE = frozenset({Role.FILLER, Role.COPULA, Role.WISH, Role.POINTER, Role.ALSO, Role.IT})
_PLACES = frozenset({Role.AREA, Role.FLOOR, Role.HERE, Role.HOME})
_THINGS = TARGETS - _PLACES - {Role.IT}
_NUMBERS = frozenset({Role.NUMBER, Role.LEVEL})
_LOOKS = frozenset({Role.COLOR, Role.WHITE, Role.MODE})
_VERBS = frozenset({Role.ACT})
_MEASURES = frozenset({Role.UNIT, Role.TO, Role.TOPIC})
_MAX_TRIED = 24

Edit = tuple[int, int, str]
"""Start and end of what goes, and what comes there."""


def amend(before: str, after: str, lexicon: Lexicon) -> list[str]:
    """Sentences that a folded correction may make of a folded command, the likelier ones first; empty if there is none.

    A place that was said before still holds if the correction names none.
    """
    olds = [c for c in itertools.islice(lexicon.cuts(before), _MAX_TRIED) if c]
    news = [c for c in itertools.islice(lexicon.cuts(after), _MAX_TRIED) if c and not _is_no_part(c, lexicon)]
    news.sort(key=lambda c: not (c[0].role is Role.ACT and any(i.role is Role.IT for i in c)))  # "lock it": no thing
    is_placed = any(i.role in _PLACES for cut in news for i in cut)  # "the hall light" is told its room by its name
    found: dict[str, None] = {}
    for new, keeps_place, is_one_verb, old in itertools.product(news, (True, False), (False, True), olds):
        if keeps_place and is_placed and any(i.role is Role.NAME for i in new):
            continue
        if text := _replaced(before, old, after, new, keeps_place=keeps_place, is_one_verb=is_one_verb):
            found[text] = None
    return list(found)


def _is_no_part(cut: Sequence[Item], lexicon: Lexicon) -> bool:
    """Whether a text is no part of a command: it tells or asks how something is ("is it off")."""
    told = next((n for n, i in enumerate(cut) if i.role is Role.COPULA), len(cut))
    return _has_thing_as_verb(cut, lexicon) or any(i.role in _VERBS | {Role.STATE} for i in cut[told:])


def _has_thing_as_verb(cut: Sequence[Item], lexicon: Lexicon) -> bool:
    """Whether a word for a thing was taken for a verb although it does not lead: "the hall light"."""
    verbs = [i for i in cut if i.role is Role.ACT and i.start > 0 and i.text.isascii()]
    return any(t.role in (Role.KIND, Role.CLASS) for v in verbs for t in lexicon.at(v.text, 0) if t.text == v.text)


def corrected(
    text: Normalised, match: Match, lexicon: Lexicon, words: Words, view: HomeView, tools: Mapping[str, Tool]
) -> Understanding:
    """Read what follows "no, I mean" as a command of its own, else as what it makes of the command before it."""
    mentions = lexicon.mentions(fold(text.taken_back, words))
    idle = {i.start for i in mentions if i.role is Role.FILLER}  # 把 may be half a verb
    is_verbless = not any(i.role is Role.ACT and i.start not in idle for i in mentions)
    is_begun = is_verbless and any(i.role in _PLACES for i in mentions)
    own = match(replace(text, taken_back=""), view)
    is_command = own.kind is Kind.CALLS and not own.reply_key
    is_whole = is_command and (is_question(own, tools) or _stands_alone(text, lexicon, words))
    if is_whole and not is_begun:
        return own
    for candidate in _corrections(text, lexicon, words):
        found = match(replace(text, text=candidate, taken_back=""), view)
        if found.kind is Kind.CALLS and not found.reply_key and not is_question(found, tools):
            return replace(found, why=f"corrected to {candidate!r}; {found.why}")
    refused = Understanding(Kind.REFUSE, (), "not_understood", {}, "none", "the correction fits nowhere")
    return own if is_whole else refused


def _corrections(text: Normalised, lexicon: Lexicon, words: Words) -> list[str]:
    """What a text may mean as the correction of what stood before it."""
    before, after = fold(text.taken_back, words), fold(text.text, words)
    if not before or not after:
        return []
    both = [{i.role for i in lexicon.mentions(part)} for part in (before, after)]
    is_rest = not both[0] & both[1] & (_NUMBERS | _LOOKS | _VERBS)  # "turn on the, no wait, hall lamp"
    return [*amend(before, after, lexicon), *([_join(before, after)] if is_rest else [])]


def _stands_alone(text: Normalised, lexicon: Lexicon, words: Words) -> bool:
    """Whether a correction has a verb and something to act on, so that nothing before it is needed."""
    cuts = itertools.islice(lexicon.cuts(fold(text.text, words)), _MAX_TRIED)
    return any(any(i.role is Role.ACT for i in c) and any(i.role in _THINGS for i in c) for c in cuts)


def _replaced(
    before: str, old: Sequence[Item], after: str, new: Sequence[Item], *, keeps_place: bool, is_one_verb: bool
) -> str:
    """The command with each part of the correction in place of its like; "" if a part has none."""
    new = [i for i in new if i.role is not Role.IT]
    amounts = _NUMBERS | ({Role.UNIT} if any(i.role is Role.UNIT for i in new) else set())
    edits: list[Edit] = []
    done = 0
    for roles in (_VERBS, TARGETS, amounts, _LOOKS):
        if not any(i.role in roles for i in new):
            continue
        made = _verb_edits(old, new, before, is_one_verb=is_one_verb) if roles is _VERBS else []
        made = made or list(_edits(old, roles, new, before, after, keeps_place=keeps_place))
        if not made:
            return ""
        edits += made
        done += sum(i.role in roles - _MEASURES for i in new)
    if not edits or done != sum(i.role not in _IDLE | _MEASURES for i in new):
        return ""
    text = before
    for start, end, part in sorted(edits, reverse=True):
        text = f"{text[:start]}{part}{text[end:]}"
    return " ".join(text.split())


def _edits(
    old: Sequence[Item], roles: frozenset[Role], new: Sequence[Item], before: str, after: str, *, keeps_place: bool
) -> Iterator[Edit]:
    """Where a part of the correction goes; nothing if there is no place for it."""
    first, last = _span(new, roles) or (0, 0)
    part = after[first:last]
    if roles is not TARGETS:
        if place := _last_span(old, roles):
            yield (*place, part)
        return
    has_thing = any(i.role in _THINGS for i in new)
    is_placed = any(i.role in _PLACES for i in old)
    if not has_thing and not is_placed and not keeps_place and (thing := _last_span(old, _THINGS)):
        yield thing[0], thing[0], f"{part} " if part.isascii() else part  # the lamp, no, in the hall: the hall lamp
        return
    is_kept = is_placed and has_thing and not any(i.role in _PLACES for i in new)
    if keeps_place and has_thing and not is_kept:
        return
    place = _last_span(old, _THINGS if keeps_place and is_kept else TARGETS if has_thing else _PLACES)
    if place is not None:
        yield (*place, part)
    elif not any(i.role in TARGETS for i in old):
        at = len(before) if before.isascii() else 0
        yield at, at, f" {part}" if at else part


def _verb_edits(old: Sequence[Item], new: Sequence[Item], before: str, *, is_one_verb: bool) -> list[Edit]:
    """The new verb in place of the old one, or of its last half."""
    verbs = [i for i in old if i.role is Role.ACT]
    texts = [i.text for i in new if i.role is Role.ACT]
    said = " ".join(texts) if before.isascii() else "".join(texts)
    if not verbs:  # what was taken back had not come to its verb yet
        at = 0 if before.isascii() else len(before)
        return [(at, at, f"{said} " if at == 0 else said)]
    kept = verbs if is_one_verb else verbs[-1:]
    return [(kept[0].start, kept[0].end, said), *((i.start, i.end, "") for i in kept[1:])]


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


def _join(left: str, right: str) -> str:
    return f"{left} {right}" if left.isascii() else f"{left}{right}"


def is_called_off(text: Normalised, words: Words) -> bool:
    """Whether the utterance, or its last clause in Chinese, calls off what was asked; or answers itself with a no."""
    asked, _, answer = spell(text.original).rpartition("?")
    said = [] if text.taken_back else fold(answer, words).split()
    if asked and said and said[0] in fold_all((*words.no, *words.cancel), words):
        return True
    cancels = fold_all(words.cancel, words)
    last = re.split("[,.;]", text.text)[-1] if not text.text.isascii() else text.text
    return fold(text.text, words) in cancels or fold(last, words) in cancels
