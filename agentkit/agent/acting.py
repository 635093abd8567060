"""From intents to results: resolve → policy → execute. The way of every turn and of every direct action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agentkit.agent.asker import Asker
from agentkit.agent.binding import Bound, bind
from agentkit.agent.dialogue import Answered, Pending, Wanted
from agentkit.agent.direct import direct_step
from agentkit.agent.execute import Executor, Moved
from agentkit.agent.failures import named_as_stopped, not_run
from agentkit.agent.kept_tools import KEPT_TOOLS
from agentkit.agent.memory import Done, Memory, reached, told_entries
from agentkit.agent.planning import new_entry, planned_call, planned_sentence, times
from agentkit.agent.policy import Ruling, stricter
from agentkit.agent.question import Question
from agentkit.agent.reply import Replies
from agentkit.agent.resolve import Resolved, Step
from agentkit.agent.scene_guard import Judge, consent
from agentkit.agent.schedule import Schedule
from agentkit.agent.settling import settled
from agentkit.agent.turn import End, Sentence, Turn, outcome_of
from agentkit.agent.undo import RESTORE, RESTORE_TOOL
from agentkit.devices.view import View
from agentkit.errors import ScheduleError
from agentkit.planned import NO_CONSENT, Consent, Entry
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.types import ActionResult, Outcome, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Tool
from agentkit.when import When

MANY = 4
"""More devices than this are counted in the question before a risky action; the risky ones are named."""


@dataclass(frozen=True)
class Speaker:
    """Who wants something: what the policy and the tools of the home may look at."""

    user: str | None = None
    source: str = "cli"
    language: str = "en"
    is_confirmed: bool = False
    """The risky part was asked about and answered with yes."""
    has_pin: bool = False
    """The code was given."""
    asked: Consent = NO_CONSENT
    """What the yes or the code was given for."""
    session: str = "default"
    text: str = ""


@dataclass(frozen=True)
class Acting(Asker):
    """The parts that an intent passes on its way to a device."""

    tools: Mapping[str, Tool]
    rules: Sequence[PolicyRule]
    executor: Executor
    memory: Memory
    replies: Replies
    now: Callable[[], datetime]
    max_actions: int
    schedule: Schedule
    unlocked: Callable[[], AbstractContextManager[None]] = nullcontext
    """Entered while devices are waited for: nothing of the conversation is touched then."""

    @property
    def known(self) -> Mapping[str, Tool]:
        """The app's tools and those that put things back or are about entries, which nobody can ask for by name."""
        return {**self.tools, **KEPT_TOOLS, RESTORE: RESTORE_TOOL}

    def perform(self, turn: Turn, meant: Answered) -> End:
        """Ask what is unclear, refuse what cannot be, wait for a yes where the policy wants one, else run."""
        with turn.timed("resolve"):
            bound = bind(meant.intents, turn.view, self.known)
            if meant.when is None and bound.question is not None:
                judged = self.judge(turn.utterance.user, turn.utterance.source).of
                bound = settled(bound, turn.view, self.tools, self.executor.decide_all, judged)
            turn.calls = (
                bound.calls(is_running=False) if meant.when is None else (planned_call(bound, meant.when, None),)
            )
        question = meant.question or bound.question
        if question is not None:
            return self._ask(turn, question, meant)
        refused = tuple(Sentence(r.reply_key, r.values) for r in bound.refusals)
        if not bound.steps:
            return End(Outcome.REFUSED, refused)
        if bound.n_moved > self.max_actions:
            return End(Outcome.REFUSED, (Sentence("refused.too_many", {"n": bound.n_moved}),))
        with turn.timed("policy"):
            ruling = self._judge(turn, bound.steps, meant)
        if ruling.verdict is Verdict.DENY:
            return End(Outcome.REFUSED, (Sentence("refused.denied", {"devices": ruling.device_ids}),))
        if meant.when is not None:
            return self._later(turn, bound, meant, meant.when, ruling)
        if turn.utterance.is_dry_run:
            results = tuple(not_run(step) for step in bound.steps)
            return End(Outcome.ANSWER, refused, results, bound.failures)
        if ruling.verdict in (Verdict.CONFIRM, Verdict.PIN):
            return self._confirm(turn, bound, meant, ruling)
        turn.calls = bound.calls(is_running=True)
        said = turn.utterance
        given = (meant.is_confirmed, meant.has_pin, meant.asked)
        speaker = Speaker(said.user, said.source, turn.language, *given, said.session, said.text)
        journal: list[Moved] = []
        with turn.timed("execute"):
            results = self._execute(bound.steps, turn.view, speaker, journal, turn.is_wanted)
        self._remember(turn, bound, results, journal, meant)
        sentences = (*refused, *meant.notes)
        return End(outcome_of(results, bound.failures, self.known), sentences, results, bound.failures)

    def judge(self, user: str | None, source: str) -> Judge:
        """The policy as it holds for a speaker."""
        return Judge(self.rules, self.tools, self.executor.decide_all, user, source)

    def perform_planned(self, entry: Entry, view: HomeView) -> End:
        """Carry out what was planned: understood and bound then, judged and verified now."""
        bound = bind(entry.intents, view, self.tools)
        refused = tuple(Sentence(r.reply_key, r.values) for r in bound.refusals)
        if bound.question is not None or not bound.steps:
            return End(Outcome.FAILED, refused or (Sentence("failed.not_found"),), (), bound.failures)
        ruling = self.judge(entry.user, entry.source).of_named(bound.steps, view)
        is_cleared = {Verdict.CONFIRM: entry.is_confirmed or entry.has_pin, Verdict.PIN: entry.has_pin}
        is_same = entry.asked.covers(consent(bound.steps, ruling, view))
        if ruling.verdict is not Verdict.ALLOW and not (is_same and is_cleared.get(ruling.verdict, False)):
            return End(Outcome.REFUSED, (Sentence("refused.denied", {"devices": ruling.device_ids}),))
        given = (entry.is_confirmed, entry.has_pin, entry.asked)
        speaker = Speaker(entry.user, entry.source, entry.language, *given, entry.session, entry.text)
        results = self._execute(bound.steps, view, speaker)
        return End(outcome_of(results, bound.failures, self.tools), refused, results, bound.failures)

    def _later(self, turn: Turn, bound: Bound, meant: Answered, when: When, ruling: Ruling) -> End:
        """Plan instead of running; what cannot be planned is refused by its reason."""
        now = self.now()
        if bound.refusals:
            return End(Outcome.REFUSED, tuple(Sentence(r.reply_key, r.values) for r in bound.refusals))
        if any(step.tool.is_query for step in bound.steps):
            return End(Outcome.REFUSED, (Sentence("refused.not_yet", {"kind": "question"}),))
        due = when.due(now)
        if not self.replies.has(turn.language, "planned.delay"):
            return End(Outcome.REFUSED, (Sentence("refused.not_yet", {"kind": "time"}),))
        if due is None:
            return End(Outcome.REFUSED, (Sentence("refused.not_yet", {"kind": "past"}),))
        turn.calls = (planned_call(bound, when := when.settled(now), due),)
        if ruling.verdict in (Verdict.CONFIRM, Verdict.PIN):
            return self._confirm(turn, bound, meant, ruling)
        sentence = planned_sentence(self.replies, turn, bound, when, due, now)
        if turn.utterance.is_dry_run:
            return End(Outcome.ANSWER, (sentence,))
        try:
            entry = new_entry(turn, bound, meant, when, due, now)
            kept = self.schedule.add(replace(entry, text=self.pin.masked(entry.text)))
        except ScheduleError as err:
            turn.why.append(str(err))
            return End(Outcome.FAILED, (Sentence("failed.not_saved"),))
        said = turn.utterance
        self.memory.keep(said.session, said.user, (), [], entries=(kept.id,), is_new=True)
        return End(Outcome.SCHEDULED, (sentence,))

    def perform_direct(
        self,
        device_id: str,
        tool: str,
        args: Mapping[str, Any],
        view: HomeView,
        speaker: Speaker,
        is_wanted: Callable[[], bool],
    ) -> ActionResult:
        """Run one action given by ids; there is nobody to ask, so without a yes it is skipped."""
        step = direct_step(device_id, tool, args, view, self.tools)
        if isinstance(step, ActionResult):
            return step
        ruling = self.judge(speaker.user, speaker.source).of([step], view)
        if ruling.verdict is Verdict.DENY:
            return ActionResult(step.action, Status.SKIPPED, "denied", ruling.reason)
        if ruling.verdict is Verdict.PIN and not speaker.has_pin:
            return ActionResult(step.action, Status.SKIPPED, "needs_pin", ruling.reason)
        if ruling.verdict is Verdict.CONFIRM and not speaker.is_confirmed:
            return ActionResult(step.action, Status.SKIPPED, "needs_confirmation", ruling.reason)
        asked = replace(speaker, asked=consent([step], ruling, view))
        return self._execute((step,), view, asked, is_wanted=is_wanted)[0]

    def _judge(self, turn: Turn, steps: tuple[Step, ...], meant: Answered) -> Ruling:
        said = turn.utterance
        ruling = self.judge(said.user, said.source).of(steps, turn.view)
        is_changed = not meant.asked.covers(consent(steps, ruling, turn.view))
        if (meant.is_confirmed or meant.has_pin) and is_changed:
            return stricter(ruling, Ruling(Verdict.CONFIRM, "what was asked about is not the same any more"))
        if meant.is_unsure:
            ruling = stricter(ruling, Ruling(Verdict.CONFIRM, "understood with too little evidence"))
        if ruling.verdict is not Verdict.ALLOW:
            turn.why.append(f"policy says {ruling.verdict}: {ruling.reason or 'by rule'}")
        is_cleared = {Verdict.CONFIRM: meant.is_confirmed or meant.has_pin, Verdict.PIN: meant.has_pin}
        return Ruling() if is_cleared.get(ruling.verdict, False) else ruling

    def _ask(self, turn: Turn, found: tuple[int, Question], meant: Answered) -> End:
        index, question = found
        wanted = Wanted.VALUE if question.param is not None else Wanted.CHOICE
        pending = Pending(wanted, meant.intents, turn.language, turn.utterance.user, index, question, meant.is_unsure)
        pending = replace(pending, when=meant.when, text=meant.text or turn.utterance.text)
        return self.wait(turn, pending, Sentence(question.reply_key, question.values), meant.notes)

    def _confirm(self, turn: Turn, bound: Bound, meant: Answered, ruling: Ruling) -> End:
        actions = (*bound.actions, *ruling.actions)
        guarded = {*ruling.device_ids, *(a.device_id for a in ruling.actions if a.device_id)}
        apart = guarded if len({a.device_id for a in actions}) > MANY else ()
        action = self.replies.describe(turn.language, actions, turn.view, apart)
        values: dict[str, Any] = {"action": action, "n": bound.n_moved}
        text, said = meant.text or turn.utterance.text, turn.utterance
        asked = consent(bound.steps, ruling, turn.view)
        if meant.when is not None:
            values |= times(meant.when, meant.when.due(self.now()), self.now())
        if ruling.verdict is Verdict.PIN:
            pending = Pending(Wanted.PIN, bound.pinned(), turn.language, said.user, when=meant.when, text=text)
            has_time = meant.when is not None and self.replies.has(turn.language, "planned.pin")
            key = "planned.pin" if has_time else "ask.pin"
            return self.ask_pin(turn, replace(pending, asked=asked), Sentence(key, values), meant.notes)
        key = "ask.confirm_many" if bound.n_moved > MANY else "ask.confirm"
        key = key if meant.when is None else "planned.confirm"
        pending = Pending(Wanted.YES_OR_NO, bound.pinned(), turn.language, said.user, when=meant.when, text=text)
        return self.wait(turn, replace(pending, asked=asked), Sentence(key, values), meant.notes)

    def _remember(
        self, turn: Turn, bound: Bound, results: Sequence[ActionResult], journal: Sequence[Moved], meant: Answered
    ) -> None:
        """Keep what was done or answered, as intents and ids; what a correction put back is over and done with."""
        bindings = [*zip(bound.intents, bound.found, strict=True)]
        pairs = [(i, f) for i, f in bindings if isinstance(f, Resolved)][meant.n_back :]
        tried = [Done(intent, found.device_ids) for intent, found in pairs]
        done = [Done(intent, ids or ()) for intent, found in pairs if (ids := reached(found, results)) is not None]
        back = {i for intent in bound.intents[: meant.n_back] for i in intent.selector.device_ids}
        moved = [m for m in journal if m.before.id not in back]
        is_asking = all(step.tool.is_query for step in bound.steps)
        said = turn.utterance
        entries, is_new = told_entries(results)
        moved_now = None if is_asking else moved
        kept = (said.session, said.user, done or tried, moved_now)
        self.memory.keep(*kept, entries=entries, is_new=is_new, is_further=meant.is_further)

    def _execute(
        self,
        steps: tuple[Step, ...],
        view: HomeView,
        speaker: Speaker,
        journal: list[Moved] | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> tuple[ActionResult, ...]:
        places = (view.devices, view.areas, view.floors)
        home = View(self.now(), *places, speaker.language, view.speaker_area, speaker.user)
        entries = self.schedule.entries()
        home = replace(home, entries=entries, session=speaker.session, source=speaker.source, text=speaker.text)
        stopped: list[str] = []
        guard = self.judge(speaker.user, speaker.source).guard(
            view, speaker.asked, is_confirmed=speaker.is_confirmed, has_pin=speaker.has_pin, stopped=stopped
        )
        with self.unlocked():
            results = self.executor.execute(steps, home, guard=guard, journal=journal, is_wanted=is_wanted)
        return tuple(named_as_stopped(result, stopped) for result in results)
