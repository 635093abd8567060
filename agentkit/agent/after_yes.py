"""Read a yes with more behind it: the same command in other words is a yes, anything else leaves the question open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from agentkit.agent.acting import Acting
from agentkit.agent.binding import bind
from agentkit.agent.dialogue import Answered, Pending, Wanted
from agentkit.agent.rewriting import framed, is_in, put_name, says_it
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.words import Words

Understand = Callable[[Normalised, HomeView], Understanding]


def read_after_yes(
    turn: Turn, pending: Pending, acting: Acting, words: Words, understand: Understand, meant: Selector | None
) -> Answered | End | None:
    """What a yes and more means; `meant` is what a pronoun stands for. None if the text begins with no yes.

    What was asked for and what stands behind the yes would be done together or not at all, so it is asked again.
    """
    if pending.wanted is not Wanted.YES_OR_NO or pending.sentence is None or turn.text.is_question:
        return None
    rest = next(framed(turn.text, words.talk.yes_leads), "")
    if not rest:
        return None
    view = replace(turn.view, spoken_of=meant)
    found = (understand(replace(turn.text, text=said, original=said), view) for said in _spelled(rest, view, words))
    if pending.when is None and any(_is_same(one, turn, pending, acting) for one in found):
        same = Answered(pending.intents, is_confirmed=True, when=pending.when, text=pending.text, asked=pending.asked)
        return replace(same, why="confirmed in the words of the command")
    turn.why.append("more than a yes: the open question stays and nothing was done")
    return acting.wait(turn, pending, pending.sentence, (Sentence("say.not_yet"),))


def _spelled(rest: str, view: HomeView, words: Words) -> Iterator[str]:
    """The text, and with the names of the one device that its pronoun means."""
    yield rest
    ids = view.spoken_of.device_ids if view.spoken_of is not None else ()
    device = view.device(ids[0]) if len(ids) == 1 else None
    names = [n for n in device.names[:3] if is_in(n, words.language)] if device is not None else []
    for name in names:
        framed_rests = [rest, *(f.format(rest=rest) for f in words.talk.frames)]
        yield from (put_name(r, name, words.talk) for r in framed_rests if says_it(r, words.talk))


def _is_same(found: Understanding, turn: Turn, pending: Pending, acting: Acting) -> bool:
    """Whether a text is the command that was asked about and no more."""
    is_plain = found.kind is Kind.CALLS and not (found.when or found.then or found.reply_key)
    return is_plain and _calls(found.intents, turn, acting) == _calls(pending.intents, turn, acting)


def _calls(intents: tuple[Intent, ...], turn: Turn, acting: Acting) -> tuple[object, ...]:
    bound = bind(intents, turn.view, acting.known)
    calls = bound.calls(is_running=False)
    return (bound.question is None and not bound.refusals, *((c.tool, dict(c.args), set(c.targets)) for c in calls))
