"""One more of what the last turn was about, always asked about: "and bread" after "add milk to the list"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from agentkit.agent.acting import Acting
from agentkit.agent.answers import is_free_text
from agentkit.agent.dialogue import Answered
from agentkit.agent.memory import Done, pinned
from agentkit.agent.rewriting import framed
from agentkit.agent.turn import Turn
from agentkit.understanding.entries import TARGETS, VALUES, Role
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import fold, fold_all, fold_listed
from agentkit.understanding.words import Words

_MAX_WORDS, _MAX_SIGNS = 2, 4
_TELLING = TARGETS | VALUES | {Role.ACT, Role.TOPIC}


def read_one_more(
    turn: Turn, acting: Acting, words: Words, done: tuple[Done, ...], lexicon: Callable[[], Lexicon]
) -> Answered | None:
    """The last call with other free text; None if the text may be anything else than that."""
    last = done[-1] if done else None
    tool = acting.tools.get(last.intent.tool) if last is not None else None
    if last is None or tool is None or turn.text.is_question or len({d.intent.tool for d in done}) > 1:
        return None
    name = next((p.name for p in tool.params if p.is_required and is_free_text(p)), None)
    rest = next(framed(turn.text, words.talk.also), "") if name is not None and last.device_ids else ""
    items = [i for i in re.split(_joints(words), rest) if i]
    if name is None or not items or not all(_is_item(i, words, lexicon()) for i in items):
        return None
    base = pinned(last)
    intents = tuple(replace(base, args={**base.args, name: item}) for item in items)
    return Answered(intents, is_unsure=True, is_further=True, why="one more for the last turn")


def _joints(words: Words) -> str:
    spelled = (rf"\s+{re.escape(w)}\s+" if w.isascii() else re.escape(w) for w in words.items.get("joins", ()))
    return "|".join((r"\s*[,、]\s*", *spelled))


def _is_item(text: str, words: Words, lexicon: Lexicon) -> bool:
    """Whether a text is short and holds no word of a sentence: "and thank you" and "me too" are no things."""
    folded = fold(text, words)
    is_short = len(folded) <= _MAX_SIGNS if not folded.isascii() else len(folded.split()) <= _MAX_WORDS
    is_said = any(p.fullmatch(text) for patterns in words.talk.says.values() for p in patterns)
    asking = (w for listed in words.questions.values() for phrase in listed for w in phrase.split())
    idle = fold_all((*words.fillers, *words.yes, *words.no, *words.copulas, *asking, *words.it), words)
    is_task = any(folded.startswith(fold_listed(w, words)) for w in words.items.get("tasks", ()))
    said = [folded] if not folded.isascii() else folded.split()
    if not is_short or is_said or is_task or idle & set(said):
        return False
    return not any(m.role in _TELLING for m in lexicon.mentions(folded))
