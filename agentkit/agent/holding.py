"""Do something for a while: now, or at a time of its own, and undone at its end by a plan like any other.

What undoes it is what the app names for the tool, or the values of before, as for "undo". The plan is on disk before
anything moves, so that a crash leaves nothing on for good; afterwards it is held to what really changed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from agentkit.agent.binding import Bound, bind
from agentkit.agent.dialogue import Answered
from agentkit.agent.execute import Moved
from agentkit.agent.overriding import What, brought_about, overridden, what_of, whats_of
from agentkit.agent.planning import day_of, new_entry, planned_call, times
from agentkit.agent.reply import Replies
from agentkit.agent.resolve import Step
from agentkit.agent.schedule import Schedule
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.agent.undo import Undo, plan_back
from agentkit.devices.adapter import Change, Device
from agentkit.errors import ScheduleError
from agentkit.planned import Entry, EntryChange
from agentkit.types import Action, ActionResult, Args, Call, Intent, Outcome, Selector, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import BEFORE, Decision, Tool
from agentkit.when import When, end_of

DecideAll = Callable[[Sequence[tuple[Tool, Any, Args]]], Sequence[object]]
log = logging.getLogger(__name__)
BACK, BACK_AT, NOTHING_BACK = "planned.back", "planned.back_at", "planned.nothing_back"
"""Sentences of an app; without them it does nothing for a while."""
SPARE = timedelta(seconds=60)
"""Longer than a turn takes: while it runs, its plan is due that much later."""


@dataclass(frozen=True)
class Hold:
    """What undoes a turn, and when."""

    bound: Bound
    when: When
    due: datetime
    stuck_ids: tuple[str, ...] = ()
    """Devices that changed, and about which nobody could read what they had been."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """What will run at the end."""
        return self.bound.steps

    @property
    def call(self) -> Call:
        """The plan for the record."""
        return planned_call(self.bound, self.when, self.due)


def all_steps(bound: Bound, hold: Hold | None) -> tuple[Step, ...]:
    """What runs, and what undoes it: one question is about both."""
    return (*bound.steps, *(() if hold is None else hold.steps))


@dataclass(frozen=True)
class Holder:
    """Finds what undoes the steps of a turn, and plans it."""

    tools: Mapping[str, Tool]
    known: Mapping[str, Tool]
    """The same with those that put things back."""
    decide: DecideAll
    schedule: Schedule
    replies: Replies
    now: Callable[[], datetime]
    masked: Callable[[str], str]

    def foresee(self, turn: Turn, bound: Bound, meant: Answered) -> Hold | End | None:
        """What will undo a turn that has not run, by how its devices are known to be; or why nothing can.

        None if the turn has no end.
        """
        when = meant.when
        if when is None or when.until is None:
            return None
        if not self.replies.has(turn.language, BACK):
            return _refused("duration")
        found = end_of(when.start, when.until, self.now())
        if found is None:
            return _refused("past")
        steps = _own_steps(bound, meant)
        if any(s.tool.is_query for s in steps):
            return _refused("question")
        moved: list[Moved] = []
        for step, device in _pairs(steps, turn.view):
            by = step.tool.undone_by.get(device.type)
            if by is None or (by == BEFORE and when.start is not None):  # nobody knows how it will be then
                return _refused("lasting")
            if (by == BEFORE or _looks_back(step.tool, when)) and device.is_available:
                change = self._change(step, device)
                if change is None:
                    return _refused("lasting")
                moved += [Moved(step.tool.name, device, change)] if change != Change() else []
        if not all(s.tool.scope == "device" and s.device_ids for s in steps):
            return _refused("lasting")
        undo = self._undo(steps, turn.view, moved, {i for s in steps for i in s.device_ids}, when)
        if undo.stuck_ids:
            return End(Outcome.REFUSED, (Sentence("refused.unread", {"devices": undo.stuck_ids}),))
        return Hold(bind(undo.intents, turn.view, self.known), *found)

    def told(self, turn: Turn, hold: Hold | None) -> tuple[Sentence, ...]:
        """What is said of the end; without one it could not be kept."""
        if hold is None:
            return (Sentence("failed.not_saved"),)
        stuck = (Sentence("refused.cannot_undo", {"devices": hold.stuck_ids}),) if hold.stuck_ids else ()
        if not hold.steps:
            return stuck or (Sentence(NOTHING_BACK),)
        values = {"action": self.replies.describe(turn.language, hold.bound.actions, turn.view)}
        key = BACK if hold.due.date() == self.now().date() else BACK_AT
        return (Sentence(key, values | times(hold.when, hold.due, self.now())), *stuck)

    def asked(
        self, turn: Turn, hold: Hold, more: Sequence[Action], values: Mapping[str, Any], apart: Collection[str]
    ) -> dict[str, Any]:
        """Values for a question about both; `more` are guarded changes that the end brings about."""
        back = self.replies.describe(turn.language, (*hold.bound.actions, *more), turn.view, apart)
        day = day_of(hold.due, self.now())
        is_other = day != values.get("on_day", "today") and "weekdays" not in values
        ends = {"time": hold.due.strftime("%H:%M"), "end_day": day if is_other else None}
        return {"start": values.get("time"), "back": back, **ends}

    def entry(self, turn: Turn, hold: Hold, meant: Answered) -> Entry:
        """The plan, called by what it will do."""
        text = self.replies.describe(turn.language, hold.bound.actions, turn.view)
        made = new_entry(turn, hold.bound, meant, hold.when, hold.due, self.now())
        is_end = meant.when is not None and meant.when.start is None
        is_ending = all(step.tool.is_ending for step in hold.steps)
        runs_late = is_ending or (is_end and not made.is_confirmed and not made.has_pin)  # no late unlocking
        return replace(made, text=self.masked(text), is_end=is_end, runs_late=runs_late)

    def reserve(self, turn: Turn, hold: Hold, meant: Answered) -> Entry | None:
        """Plan the end before anything moves. Raises ScheduleError."""
        if not hold.steps:
            return None
        entry = self.entry(turn, hold, meant)
        return self.schedule.add(replace(entry, due=hold.due + SPARE))

    def settle(
        self,
        turn: Turn,
        bound: Bound,
        meant: Answered,
        kept: Entry | None,
        results: Sequence[ActionResult],
        moved: Sequence[Moved],
    ) -> tuple[Hold | None, Entry | None]:
        """Hold the plan to what the turn really changed, counted from now; no hold = it could not be kept."""
        assert meant.when is not None, meant
        assert meant.when.until is not None, meant
        steps = _own_steps(bound, meant)
        changed = {r.action.device_id for r in results if r.status in (Status.DONE, Status.UNKNOWN)}
        undo = self._undo(
            steps, turn.view, moved, {i for s in steps for i in s.device_ids if i in changed}, meant.when, kept
        )
        found = end_of(None, meant.when.until, self.now())
        ends = found or (meant.when.until, self.now())
        hold = Hold(bind(undo.intents, turn.view, self.known), *ends, undo.stuck_ids)
        try:
            if hold.steps:
                return self._keep(turn, hold, meant, kept)
            if kept is not None:
                self.schedule.remove(kept.id)
        except ScheduleError as err:
            turn.why.append(str(err))  # what was planned before the turn stays planned
            return (None, None) if kept is None else (replace(hold, due=kept.due or hold.due), kept)
        return hold, None

    def _keep(self, turn: Turn, hold: Hold, meant: Answered, kept: Entry | None) -> tuple[Hold, Entry]:
        """Plan the end, in the place of earlier ends of the same kind. Raises ScheduleError."""
        old = [e for e in self._ends(kept) if whats_of(e.intents) & whats_of(hold.bound.pinned())]
        hold = replace(hold, bound=bind(_as_before(hold.bound.pinned(), old), turn.view, self.known))
        entry = replace(self.entry(turn, hold, meant), id="" if kept is None else kept.id)
        changes = [EntryChange(entry), *(self._without(e, whats_of(hold.bound.pinned()), turn.view) for e in old)]
        return hold, self.schedule.apply(changes)[0]

    def _ends(self, own: Entry | None = None) -> list[Entry]:
        """Ends that are planned, but for a turn's own."""
        return [e for e in self.schedule.entries() if e.is_end and (own is None or e.id != own.id)]

    def _going_on(self, steps: Sequence[Step], view: HomeView, ids: set[str], own: Entry | None) -> Iterator[Intent]:
        """What earlier ends would undo of the same steps, on devices on which these changed nothing."""
        undoing = {(device.id, s.tool.name): s.tool.undone_by.get(device.type) for s, device in _pairs(steps, view)}
        for intent in (i for e in self._ends(own) for i in e.intents):
            undone = intent.args.get("undone")
            for d in ids & set(intent.selector.device_ids):
                if any(d == k[0] and (undone == k[1] or intent.tool == by) for k, by in undoing.items()):
                    yield replace(intent, selector=Selector(device_ids=(d,)))

    def fulfil(
        self, results: Sequence[ActionResult], moved: Sequence[Moved], view: HomeView, *, is_last_word: bool
    ) -> None:
        """Drop the ends that were brought about already: what was switched off need not be switched off again.

        `is_last_word`: so are those that a command without an end takes the place of.
        """
        over = brought_about(results)
        if is_last_word:
            over |= overridden((i for e in self._ends() for i in e.intents), results, moved, view, self.known)
        changes = [self._without(e, over, view) for e in self._ends() if whats_of(e.intents) & over]
        if changes:
            try:
                self.schedule.apply(changes)
            except ScheduleError as err:
                log.warning("%s; an end that came early stays planned", err)

    def _without(self, entry: Entry, over: set[What], view: HomeView) -> EntryChange:
        """An earlier end without what comes about in another way."""
        left: list[Intent] = []
        for intent in entry.intents:
            ids = tuple(d for d in intent.selector.device_ids if what_of(intent, d) not in over)
            left += [replace(intent, selector=replace(intent.selector, device_ids=ids))] if ids else []
        actions = bind(left, view, self.known).actions
        text = self.masked(self.replies.describe(self.replies.known(entry.language), actions, view)) if left else ""
        return EntryChange(replace(entry, intents=tuple(left), text=text or entry.text), is_removed=not left)

    def _change(self, step: Step, device: Device) -> Change | None:
        """What a step would make of its own device; None if it does nothing that can be put back."""
        if step.tool.scope != "device":
            return None
        decided = self.decide([(step.tool, device, step.args)])[0]
        if not isinstance(decided, Decision) or decided.entries:
            return None
        if decided.reason is not None:
            return Change()  # it will say so itself
        change = decided.changes.get(device.id)
        is_own = decided.changes.keys() == {device.id} and isinstance(change, Change)
        return change if is_own and change != Change() else None

    def _undo(
        self,
        steps: Sequence[Step],
        view: HomeView,
        moved: Sequence[Moved],
        ids: set[str],
        when: When,
        own: Entry | None = None,
    ) -> Undo:
        """The tool that the app names for a device, or the values that it had before."""
        named: dict[str, str] = {}
        for step, device in _pairs(steps, view):
            name = step.tool.undone_by.get(device.type, BEFORE)
            if name != BEFORE and not _looks_back(step.tool, when) and device.id in ids:
                named.setdefault(device.id, name)
        intents = [
            Intent(name, {}, Selector(device_ids=tuple(i for i, n in named.items() if n == name)))
            for name in dict.fromkeys(named.values())
        ]
        rest = [m for m in moved if m.before.id in ids and m.before.id not in named]
        values = plan_back(rest, self.tools, lambda tool, device: self.decide([(tool, device, {})])[0])
        found = (*intents, *values.intents)
        left = ids - {d for i in found for d in i.selector.device_ids}
        old = self._going_on(steps, view, left - set(values.stuck_ids), own) if when.start is None else ()
        return Undo((*found, *old), values.stuck_ids)


def _looks_back(tool: Tool, when: When) -> bool:
    """Whether what a device was before decides what comes at the end; before a later beginning nobody knows it."""
    return tool.is_ending and when.start is None


def _as_before(intents: Sequence[Intent], old: Sequence[Entry]) -> tuple[Intent, ...]:
    """The intents of an end, putting back what an earlier end of the same kind would have put back."""
    kept = {what_of(i, d): i.args for e in old for i in e.intents for d in i.selector.device_ids}
    one_by_one = [(i, d) for i in intents for d in i.selector.device_ids]
    if not any(what_of(i, d) in kept and i.args != kept[what_of(i, d)] for i, d in one_by_one):
        return tuple(intents)
    return tuple(
        replace(i, args=kept.get(what_of(i, d), i.args), selector=Selector(device_ids=(d,))) for i, d in one_by_one
    )


def _own_steps(bound: Bound, meant: Answered) -> tuple[Step, ...]:
    """The steps of a turn without those that only put back what a correction replaces."""
    return replace(bound, intents=bound.intents[meant.n_back :], found=bound.found[meant.n_back :]).steps


def _pairs(steps: Sequence[Step], view: HomeView) -> Iterator[tuple[Step, Device]]:
    for step in steps:
        yield from ((step, device) for i in step.device_ids if (device := view.device(i)) is not None)


def _refused(kind: str) -> End:
    return End(Outcome.REFUSED, (Sentence("refused.not_yet", {"kind": kind}),))
