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
from agentkit.agent.holding import Hold, Holder, all_steps
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
from agentkit.agent.speaker import Speaker
from agentkit.agent.turn import End, Sentence, Turn, outcome_of
from agentkit.agent.undo import RESTORE, RESTORE_TOOL
from agentkit.devices.view import View
from agentkit.errors import ScheduleError
from agentkit.planned import Entry, EntryChange
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.types import ActionResult, Outcome, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Tool
from agentkit.when import When

MANY = 4
"""More devices than this are counted in the question before a risky action; the risky ones are named."""


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

    @property
    def holder(self) -> Holder:
        """What plans the end of what is done for a while."""
        decide, masked = self.executor.decide_all, self.pin.masked
        return Holder(self.tools, self.known, decide, self.schedule, self.replies, self.now, masked)

    def perform(self, turn: Turn, meant: Answered) -> End:
        """Ask what is unclear, refuse what cannot be, wait for a yes where the policy wants one, else run."""
        start = None if meant.when is None else meant.when.start
        with turn.timed("resolve"):
            bound = bind(meant.intents, turn.view, self.known)
            if start is None and bound.question is not None:
                judged = self.judge(turn.utterance.user, turn.utterance.source).of
                bound = settled(bound, turn.view, self.tools, self.executor.decide_all, judged)
            turn.calls = bound.calls(is_running=False) if start is None else (planned_call(bound, start, None),)
        question = meant.question or bound.question
        if question is not None:
            return self._ask(turn, question, meant)
        refused = tuple(Sentence(r.reply_key, r.values) for r in bound.refusals)
        if not bound.steps:
            return End(Outcome.REFUSED, refused)
        if bound.n_moved > self.max_actions:
            return End(Outcome.REFUSED, (Sentence("refused.too_many", {"n": bound.n_moved}),))
        hold = self.holder.foresee(turn, bound, meant)
        if isinstance(hold, End):
            return hold
        with turn.timed("policy"):
            ruling = self._judge(turn, all_steps(bound, hold), meant)
        if ruling.verdict is Verdict.DENY:
            return End(Outcome.REFUSED, (Sentence("refused.denied", {"devices": ruling.device_ids}),))
        if start is not None:
            return self._later(turn, bound, meant, start, ruling, hold)
        if turn.utterance.is_dry_run:
            results = tuple(not_run(step) for step in bound.steps)
            ending = () if hold is None else self.holder.told(turn, hold)
            return End(Outcome.ANSWER, (*refused, *ending), results, bound.failures)
        if ruling.verdict in (Verdict.CONFIRM, Verdict.PIN):
            return self._confirm(turn, bound, meant, ruling, hold)
        try:
            return self._run(turn, bound, meant, refused, hold)
        except ScheduleError as err:
            turn.why.append(str(err))
            return End(Outcome.FAILED, (Sentence("failed.not_saved"),))

    def _run(self, turn: Turn, bound: Bound, meant: Answered, refused: tuple[Sentence, ...], hold: Hold | None) -> End:
        """Run now, and plan the end if there is one. Raises ScheduleError; nothing has run then."""
        turn.calls = bound.calls(is_running=True)
        said = turn.utterance
        given = (meant.is_confirmed, meant.has_pin, meant.asked)
        speaker = Speaker(said.user, said.source, turn.language, *given, said.session, said.text)
        journal: list[Moved] = []
        entry = None if hold is None else self.holder.reserve(turn, hold, meant)
        with turn.timed("execute"):
            results = self._execute(bound.steps, turn.view, speaker, journal, turn.is_wanted, is_last_word=hold is None)
        outcome = outcome_of(results, bound.failures, self.known)
        ending: tuple[Sentence, ...] = ()
        if hold is not None:
            hold, entry = self.holder.settle(turn, bound, meant, entry, results, journal)
            turn.calls += (hold.call,) if hold is not None and hold.steps else ()
            ending = () if outcome is Outcome.FAILED else self.holder.told(turn, hold)
        self._remember(turn, bound, results, journal, meant, entry)
        return End(outcome, (*refused, *meant.notes, *ending), results, bound.failures)

    def judge(self, user: str | None, source: str) -> Judge:
        """The policy as it holds for a speaker."""
        return Judge(self.rules, self.tools, self.executor.decide_all, user, source)

    def perform_planned(self, entry: Entry, view: HomeView) -> End:
        """Carry out what was planned: understood and bound then, judged and verified now."""
        bound = bind(entry.intents, view, self.known)
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
        results = self._execute(bound.steps, view, speaker, is_last_word=not entry.is_end)
        return End(outcome_of(results, bound.failures, self.known), refused, results, bound.failures)

    def _later(self, turn: Turn, bound: Bound, meant: Answered, when: When, ruling: Ruling, hold: Hold | None) -> End:
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
        turn.calls += () if hold is None else (hold.call,)
        if ruling.verdict in (Verdict.CONFIRM, Verdict.PIN):
            return self._confirm(turn, bound, meant, ruling, hold)
        told = [planned_sentence(self.replies, turn, bound, when, due, now)]
        told += () if hold is None else self.holder.told(turn, hold)
        if turn.utterance.is_dry_run:
            return End(Outcome.ANSWER, tuple(told))
        try:
            entry = new_entry(turn, bound, meant, when, due, now)
            text = entry.text if hold is None else self.replies.describe(turn.language, bound.actions, turn.view)
            entries = [replace(entry, text=self.pin.masked(text))]
            entries += () if hold is None else (self.holder.entry(turn, hold, meant),)
            kept = self.schedule.apply([EntryChange(one) for one in entries])
        except ScheduleError as err:
            turn.why.append(str(err))
            return End(Outcome.FAILED, (Sentence("failed.not_saved"),))
        said = turn.utterance
        self.memory.keep(said.session, said.user, (), [], entries=(e.id for e in kept), is_new=True)
        return End(Outcome.SCHEDULED, tuple(told))

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
        pending = replace(pending, when=meant.when, n_back=meant.n_back, text=meant.text or turn.utterance.text)
        return self.wait(turn, pending, Sentence(question.reply_key, question.values), meant.notes)

    def _confirm(self, turn: Turn, bound: Bound, meant: Answered, ruling: Ruling, hold: Hold | None) -> End:
        hold = hold if hold is not None and hold.steps else None  # what is so already needs no end
        actions = (*bound.actions, *(ruling.actions if hold is None else ()))
        guarded = {*ruling.device_ids, *(a.device_id for a in ruling.actions if a.device_id)}
        apart = guarded if len({a.device_id for a in actions}) > MANY else ()
        action = self.replies.describe(turn.language, actions, turn.view, apart)
        values: dict[str, Any] = {"action": action, "n": bound.n_moved}
        start, now = None if meant.when is None else meant.when.start, self.now()
        values |= {} if start is None else times(start, start.due(now), now)
        values |= {} if hold is None else self.holder.asked(turn, hold, ruling.actions, values, apart)
        asked = consent(all_steps(bound, hold), ruling, turn.view)
        is_pin = ruling.verdict is Verdict.PIN
        pending = Pending(Wanted.PIN if is_pin else Wanted.YES_OR_NO, bound.pinned(), turn.language)
        pending = replace(pending, user=turn.utterance.user, when=meant.when, asked=asked, n_back=meant.n_back)
        pending = replace(pending, text=meant.text or turn.utterance.text)
        key = "ask.confirm_many" if bound.n_moved > MANY else "ask.confirm"
        if hold is not None:
            key = "planned.pin_back" if is_pin else "planned.confirm_back"
        elif is_pin:
            has_time = start is not None and self.replies.has(turn.language, "planned.pin")
            key = "planned.pin" if has_time else "ask.pin"
        elif start is not None:
            key = "planned.confirm"
        ask = self.ask_pin if is_pin else self.wait
        return ask(turn, pending, Sentence(key, values), meant.notes)

    def _remember(
        self,
        turn: Turn,
        bound: Bound,
        results: Sequence[ActionResult],
        journal: Sequence[Moved],
        meant: Answered,
        end: Entry | None,
    ) -> None:
        """Keep what was done or answered, as intents and ids; what a correction put back is over and done with.

        `end`: what was planned to undo it.
        """
        bindings = [*zip(bound.intents, bound.found, strict=True)]
        pairs = [(i, f) for i, f in bindings if isinstance(f, Resolved)][meant.n_back :]
        tried = [Done(intent, found.device_ids) for intent, found in pairs]
        done = [Done(intent, ids or ()) for intent, found in pairs if (ids := reached(found, results)) is not None]
        back = {i for intent in bound.intents[: meant.n_back] for i in intent.selector.device_ids}
        moved = [m for m in journal if m.before.id not in back]
        is_asking = all(step.tool.is_query for step in bound.steps)
        said = turn.utterance
        entries, is_new = told_entries(results) if end is None else ((end.id,), True)
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
        *,
        is_last_word: bool = True,
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
            moved = [] if journal is None else journal
            results = self.executor.execute(steps, home, guard=guard, journal=moved, is_wanted=is_wanted)
        self.holder.fulfil(results, moved, view, is_last_word=is_last_word)
        return tuple(named_as_stopped(result, stopped) for result in results)
