"""What "the other one" means: the one that is like what was just spoken of, in its room or else in the home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentkit.agent.acting import Acting
from agentkit.agent.answers import is_free_text
from agentkit.agent.dialogue import Answered, Pending, Wanted
from agentkit.agent.left_out import Targets
from agentkit.agent.memory import Done
from agentkit.agent.question import which
from agentkit.agent.rewriting import framed
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.devices.adapter import Device
from agentkit.types import Intent, Outcome, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import fold, fold_all, fold_listed
from agentkit.understanding.selecting import select
from agentkit.understanding.words import Words

_ANYTHING = frozenset({"switch", "input_boolean", "scene", "script"})
"""Types of things that have nothing in common: a coffee machine and a water heater."""


def read_other_one(
    turn: Turn,
    acting: Acting,
    words: Words,
    done: tuple[Done, ...],
    dropped: Pending | None,
    replacing: Callable[[Turn, tuple[Intent, ...]], Answered],
    targets: Targets,
) -> Answered | End | None:
    """What was asked or done last, for the other device; asked again where two are still open. None: not about that.

    `replacing` is what is done where the text corrects something that was done: "no, the other one". `targets` finds
    what a place beside the word means: "another in the kitchen".
    """
    is_corrected = any(_is_other(rest, words) for rest in framed(turn.text, words.talk.corrections))
    said = (turn.text.text, *framed(turn.text, words.talk.also))
    is_other = is_corrected or any(_is_other(text, words) for text in said)
    places = () if is_other else tuple(p for text in said if (p := _place_beside(text, words)))
    if not (is_other or places):
        return None
    if dropped is not None and dropped.wanted is Wanted.CHOICE:
        return acting.ask_again(turn, dropped)
    when = dropped.when if dropped is not None else None
    intents = dropped.intents if dropped is not None else tuple(d.intent for d in done)
    ids = [i.selector.device_ids for i in intents] if dropped is not None else [d.device_ids for d in done]
    device = turn.view.device(ids[0][0]) if len(ids) == 1 and len(ids[0]) == 1 else None
    if device is None or not intents[0].tool or _has_words(intents[0], acting):
        return None
    others = _others(device, turn.view)
    if places:
        alike = [s for p in places for s in targets(turn, p, (device.type,)) if s.areas or s.floors]
        others = tuple(d for s in alike[:1] for d in select(s, turn.view) if d.id != device.id)
        if not alike:
            return None
    if not others:
        return End(Outcome.REFUSED, (Sentence("refused.no_other", {"devices": (device.id,)}),))
    intent = replace(intents[0], selector=Selector(device_ids=tuple(d.id for d in others)))
    if len(others) > 1:
        return acting.ask_which(turn, (intent,), which(others, turn.view), when)
    if dropped is not None:
        return Answered((intent,), is_unsure=True, when=when, text=dropped.text, why="the other one")
    return replacing(turn, (intent,)) if is_corrected else Answered((intent,), why="the other one")


def _has_words(intent: Intent, acting: Acting) -> bool:
    """Whether an intent holds words of the speaker, so that the other one may be another of those: an item, a song."""
    tool = acting.tools.get(intent.tool)
    return tool is not None and any(p.name in intent.args and is_free_text(p) for p in tool.params)


def _place_beside(text: str, words: Words) -> str:
    """What is left of a text without its word for the other one ("another one in the kitchen"); "" without one."""
    folded = fold(text, words)
    for word in sorted((fold_listed(w, words) for w in words.talk.others), key=len, reverse=True):
        gap = " " if word.isascii() else ""
        if folded.startswith(f"{word}{gap}") or folded.endswith(f"{gap}{word}"):
            return folded.removeprefix(word).removesuffix(word).strip()
    return ""


def _is_other(text: str, words: Words) -> bool:
    """Whether a text is nothing but a word for the other one."""
    return fold(text, words) in fold_all(words.talk.others, words)


def _others(device: Device, view: HomeView) -> tuple[Device, ...]:
    """Devices of the same type and class: those of its room, else all of the home; a mere switch is like no other."""
    if device.type in _ANYTHING and device.device_class is None:
        return ()
    alike = [d for d in view.devices if (d.type, d.device_class) == (device.type, device.device_class)]
    alike = [d for d in alike if d.id != device.id]
    return tuple(d for d in alike if d.area == device.area) or tuple(alike)
