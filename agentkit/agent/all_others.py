"""What "all the other lights" means: all of them but those of the last turn, if that was about some of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentkit.agent.acting import Acting
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.types import Intent, Kind, Outcome, Selector, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, spell
from agentkit.understanding.selecting import select
from agentkit.understanding.words import Words

_EDGES = " .,!?;"


def read_all_others(
    turn: Turn, acting: Acting, words: Words, understand: Callable[[Normalised, HomeView], Understanding]
) -> Understanding | End | None:
    """The command for all without the devices of the last turn, refused if it was about none of them.

    None if the text does not speak of "the others".
    """
    text = _of_all(turn, words)
    if text is None or turn.text.is_question:
        return None
    found = understand(text, replace(turn.view, spoken_of=None))
    if found.kind is not Kind.CALLS:
        return None
    done = acting.memory.done(turn.utterance.session, turn.utterance.user)
    kept = {i for d in done for i in d.device_ids}
    less = [_less(intent, kept, turn.view) for intent in found.intents]
    if found.then or not less or not all(less):
        return End(Outcome.REFUSED, (Sentence("refused.not_yet", {"kind": "exception"}),))
    why = f"{found.why}; less what was just spoken of"
    return replace(found, intents=tuple(i for i in less if i), why=why)


def _of_all(turn: Turn, words: Words) -> Normalised | None:
    """The text with "all" for "the other"."""
    everything = next(iter(words.everything), "")
    for said in dict.fromkeys((turn.text.text, spell(turn.text.original).strip(_EDGES))):
        found = next((m for p in words.talk.rests if (m := p.match(said))), None)
        if found is not None and everything:
            start, end = found.span("rest")
            text = f"{said[:start]}{everything}{said[end:]}"
            return replace(turn.text, text=text, original=text)
    return None


def _less(intent: Intent, kept: set[str], view: HomeView) -> Intent | None:
    """The intent for the devices that are left; None if none of those to keep is among them, or all are."""
    reached = [d.id for d in select(intent.selector, view)]
    left = tuple(i for i in reached if i not in kept)
    if not left or len(left) == len(reached) or intent.selector.names:
        return None
    return replace(intent, selector=Selector(device_ids=left))
