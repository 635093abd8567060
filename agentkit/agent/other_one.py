"""What "the other one" means: the one that is like what was just spoken of, in its room or else in the home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentkit.agent.acting import Acting
from agentkit.agent.answers import is_free_text
from agentkit.agent.dialogue import Answered, Pending, Wanted
from agentkit.agent.memory import Done
from agentkit.agent.question import which
from agentkit.agent.rewriting import framed
from agentkit.agent.turn import End, Turn
from agentkit.devices.adapter import Device
from agentkit.types import Intent, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import fold, fold_all
from agentkit.understanding.words import Words


def read_other_one(
    turn: Turn,
    acting: Acting,
    words: Words,
    done: tuple[Done, ...],
    dropped: Pending | None,
    replacing: Callable[[Turn, tuple[Intent, ...]], Answered],
) -> Answered | End | None:
    """What was asked or done last, for the other device; asked again where two are still open. None: not about that.

    `replacing` is what is done where the text corrects something that was done: "no, the other one".
    """
    is_corrected = any(_is_other(rest, words) for rest in framed(turn.text, words.talk.corrections))
    said = (turn.text.text, *framed(turn.text, words.talk.also))
    if not is_corrected and not any(_is_other(text, words) for text in said):
        return None
    if dropped is not None and dropped.wanted is Wanted.CHOICE:
        return acting.ask_again(turn, dropped)
    when = dropped.when if dropped is not None else None
    intents = dropped.intents if dropped is not None else tuple(d.intent for d in done)
    ids = [i.selector.device_ids for i in intents] if dropped is not None else [d.device_ids for d in done]
    device = turn.view.device(ids[0][0]) if len(ids) == 1 and len(ids[0]) == 1 else None
    others = () if device is None else _others(device, turn.view)
    if not others or not intents[0].tool or _has_words(intents[0], acting):
        return None
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


def _is_other(text: str, words: Words) -> bool:
    """Whether a text is nothing but a word for the other one."""
    return fold(text, words) in fold_all(words.talk.others, words)


def _others(device: Device, view: HomeView) -> tuple[Device, ...]:
    """Devices of the same type and class: those of its room, else all of the home."""
    alike = [d for d in view.devices if (d.type, d.device_class) == (device.type, device.device_class)]
    alike = [d for d in alike if d.id != device.id]
    return tuple(d for d in alike if d.area == device.area) or tuple(alike)
