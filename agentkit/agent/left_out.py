"""What a text leaves out of the last turn: "not the light strip" puts that back, or takes it out of what was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentkit.agent.acting import Acting
from agentkit.agent.dialogue import Answered, Pending, Wanted
from agentkit.agent.memory import Done
from agentkit.agent.rewriting import framed
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.agent.undo import plan_undo
from agentkit.types import Intent, Outcome, Selector
from agentkit.understanding.selecting import select
from agentkit.understanding.words import Words

Targets = Callable[[Turn, str, tuple[str, ...]], tuple[Selector, ...]]
"""What a text names among some types; empty if it names nothing or says more."""


def read_left_out(
    turn: Turn, acting: Acting, words: Words, done: tuple[Done, ...], dropped: Pending | None, targets: Targets
) -> Answered | End | None:
    """The last turn without the devices that a text excludes; None if it excludes none of several."""
    asked = dropped.intents if dropped is not None and dropped.wanted is Wanted.YES_OR_NO else ()
    bases = [(i, i.selector.device_ids) for i in asked] or [(d.intent, d.device_ids) for d in done]
    reached = {i for _, ids in bases for i in ids}
    types = tuple(dict.fromkeys(d.type for i in reached if (d := turn.view.device(i))))
    for rest in framed(turn.text, words.talk.excludes):
        ids = {d.id for selector in targets(turn, rest, types) for d in select(selector, turn.view)} & reached
        if not ids or ids == reached:
            continue
        if dropped is None:
            return _put_back(turn, acting, ids)
        if asked:
            intents = tuple(less for intent, own in bases if (less := _less(intent, own, ids)) is not None)
            return Answered(intents, is_unsure=True, when=dropped.when, text=dropped.text, why="less what is left out")
    return None


def _less(intent: Intent, own: tuple[str, ...], ids: set[str]) -> Intent | None:
    left = tuple(i for i in own if i not in ids)
    return replace(intent, selector=replace(intent.selector, device_ids=left)) if left else None


def _put_back(turn: Turn, acting: Acting, ids: set[str]) -> Answered | End:
    """What the last turn changed of some devices, as it was; what it found so already stays."""
    said = turn.utterance
    moved = [m for m in acting.memory.moved(said.session, said.user) if m.before.id in ids]
    plan = plan_undo(moved, turn.view, acting.tools, acting.executor.decide)
    stuck = (Sentence("refused.cannot_undo", {"devices": plan.stuck_ids}),) if plan.stuck_ids else ()
    if not plan.intents:
        return End(Outcome.REFUSED if stuck else Outcome.ANSWER, stuck or (Sentence("say.nevermind"),))
    return Answered(plan.intents, notes=stuck, why="left out of the last turn")
