"""A sentence with several times, done part by part: all of it is certain before the first part begins."""

from __future__ import annotations

import itertools
from dataclasses import replace

from agentkit.agent.acting import Acting
from agentkit.agent.binding import bind
from agentkit.agent.dialogue import Answered
from agentkit.agent.holding import all_steps
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.policy_rules import Verdict
from agentkit.types import Call, Outcome


def perform_apart(acting: Acting, turn: Turn, meant: Answered) -> End:
    """Do each part at its time; refused as a whole if one of them would be asked about or cannot be."""
    parts = (replace(meant, then=()), *meant.then)
    if not all(_is_plain(acting, turn, part) for part in parts):
        return End(Outcome.REFUSED, (Sentence("refused.not_yet", {"kind": "apart"}),))
    dues = [part.when.due(acting.now()) for part in parts if part.when is not None]
    if any(a is None or b is None or a > b for a, b in itertools.pairwise(dues)):
        return End(Outcome.REFUSED, (Sentence("refused.not_yet", {"kind": "apart"}),))  # "eight" may be 20:00 by now
    ends: list[End] = []
    calls: list[Call] = []
    for part in parts:
        ends.append(acting.perform(turn, part))
        calls += turn.calls
    turn.calls = tuple(calls)
    return End(
        _outcome([end.outcome for end in ends]),
        tuple(sentence for end in ends for sentence in end.sentences),
        tuple(result for end in ends for result in end.results),
        tuple(failure for end in ends for failure in end.failures),
    )


def _is_plain(acting: Acting, turn: Turn, part: Answered) -> bool:
    """Whether a part needs no question: its devices are clear, its time is still to come and the policy allows it."""
    bound = bind(part.intents, turn.view, acting.known)
    if bound.question is not None or bound.refusals or not bound.steps or bound.n_moved > acting.max_actions:
        return False
    if part.when is not None and part.when.due(acting.now()) is None:
        return False
    hold = acting.holder.foresee(turn, bound, part)
    if isinstance(hold, End):
        return False
    ruling = acting.judge(turn.utterance.user, turn.utterance.source).of(all_steps(bound, hold), turn.view)
    return ruling.verdict is Verdict.ALLOW


def _outcome(outcomes: list[Outcome]) -> Outcome:
    """That of all parts if it is the same or nothing failed, else partly done."""
    if len(set(outcomes)) == 1:
        return outcomes[0]
    is_fine = all(o in (Outcome.DONE, Outcome.SCHEDULED, Outcome.ANSWER) for o in outcomes)
    return Outcome.DONE if is_fine else Outcome.PARTIAL
