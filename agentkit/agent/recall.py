"""Answer what is said about the conversation itself: thanks, and what was just said or done in it."""

from __future__ import annotations

from agentkit.agent.reply import Replies
from agentkit.agent.trace import Trace, TurnRecord
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.types import Outcome
from agentkit.understanding.normalise import spell
from agentkit.understanding.talk import Talk

_DID = frozenset({Outcome.DONE, Outcome.PARTIAL, Outcome.SCHEDULED})
_MARKS = " .,!?;:~"


def recall(turn: Turn, talk: Talk, trace: Trace, replies: Replies) -> End | None:
    """The answer to talk about the conversation, None for anything else; it asks no device and drops no question."""
    said = spell(turn.utterance.text).strip(_MARKS)
    key = next((k for k, patterns in talk.says.items() if any(p.fullmatch(said) for p in patterns)), "")
    if not key:
        return None
    turn.path = "dialogue"
    own = [r for r in reversed(trace.turns()) if _is_of(r, turn)]
    if key == "did":
        done = next((r for r in own if r.reply.outcome in _DID), None)
        return _answer("did_nothing") if done is None else _answer(key, _told(done, turn, replies))
    if key == "said":
        return _answer(key, own[0].utterance.text) if own else _answer("said_nothing")
    return _answer(key)


def _is_of(record: TurnRecord, turn: Turn) -> bool:
    """Whether a turn was of this conversation and of this person."""
    before, now = record.utterance, turn.utterance
    return (before.session, before.user) == (now.session, now.user) and not before.is_dry_run


def _told(record: TurnRecord, turn: Turn, replies: Replies) -> str:
    """What was reported then, in the language that is spoken now."""
    results = record.reply.actions
    if record.reply.language == turn.language or not results:
        return record.reply.say
    return replies.compose(turn.language, results, turn.view)


def _answer(key: str, said: str = "") -> End:
    return End(Outcome.ANSWER, (Sentence(f"say.{key}", {"said": said} if said else {}),))
