"""Words of a question that mean more than in a command: a state in all its senses, a name that is but a kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agentkit.types import Kind, Understanding
from agentkit.understanding.ask_map import AskMap
from agentkit.understanding.choosing import is_question
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.selecting import has_word, select
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words


def wider_of(
    first: Understanding,
    tries: Iterable[Understanding],
    asks: AskMap,
    words: Words,
    view: HomeView,
    tools: Mapping[str, Tool],
) -> Understanding | None:
    """The question about every door where one device is called "door", and a template took it for that one."""
    if not is_question(first, tools) or not _is_of_one(first, asks, words):
        return None
    found = next((t for t in tries if t.kind is not Kind.NONE), None)
    is_better = found is not None and is_question(found, tools) and _is_wider(first, found, view, asks)
    return found if is_better else None


def _is_of_one(found: Understanding, asks: AskMap, words: Words) -> bool:
    """Whether a question names one device by a word that means any of its kind: one "door" among several."""
    named = [(fold(n, words), str(i.args.get("state", ""))) for i in found.intents for n in i.selector.names]
    return any(asks.is_general(name, words, (state,)) for name, state in named)


def is_plain_question(found: Understanding, text: Normalised, words: Words, tools: Mapping[str, Tool]) -> bool:
    """Whether it is asked if the one thing called alarm is in a state, and not which or how many of them are."""
    is_one = not any(has_word(text.text, w) for w in words.timers.many)
    is_plain = all("state" in i.args and i.args.get("question") == "yes_no" for i in found.intents)
    return is_one and is_plain and is_question(found, tools)


def _is_wider(narrow: Understanding, wide: Understanding, view: HomeView, asks: AskMap) -> bool:
    """Whether a question reaches more than another one, or that one what cannot be so: a contact is never locked."""
    first, second = ({d.id: d for i in found.intents for d in select(i.selector, view)} for found in (narrow, wide))
    states = {str(i.args.get("state", "")) for i in narrow.intents}
    is_able = any(asks.can_be(d, s) for d in first.values() for s in states)
    return bool(first) and (first.keys() < second.keys() or (bool(second) and not is_able))


def meanings(items: Sequence[Item], lexicon: Lexicon) -> tuple[str, ...]:
    """Everything that the one state word may mean."""
    word = next(i for i in items if i.role is Role.ASKED)
    found = (i.value for i in lexicon.at(word.text, 0) if i.role is Role.ASKED and i.text == word.text)
    return tuple(dict.fromkeys(found))


def state_of(key: str, meanings: Sequence[str]) -> str | None:
    """The state of a class that a word means; None if the word says nothing of it."""
    kinds = key.split(".")
    tails = (m.rpartition(".")[2] for m in meanings if m.partition(".")[0] in kinds)
    return next((t for t in tails if t not in ("on", "off")), None)


def are_joined(kinds: Sequence[Item], cut: Sequence[Item], words: Words) -> bool:
    """Whether words for kinds stand side by side ("the windows and the doors") and are not one thing's."""
    joins = {fold(w, words) for w in words.also}
    return len(kinds) > 1 and any(i.text in joins for i in cut if kinds[0].end <= i.start < kinds[-1].start)
