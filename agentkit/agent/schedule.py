"""What is to happen later, kept on disk: planned commands, timers and alarms.

A change is on disk before it counts. A due entry leaves the file before it is carried out, so a crash in between never
makes it happen twice. Delays and timers follow a clock that only runs forward, so setting the wall clock moves none.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from agentkit.agent.due import after_missing, armed, is_relative, runs_late
from agentkit.agent.listeners import Callback, Listeners, ScheduleEvent
from agentkit.agent.schedule_file import Saved, ScheduleFile
from agentkit.errors import ScheduleError
from agentkit.planned import Entry, EntryChange, EntryKind, Past, ScheduleRules

log = logging.getLogger(__name__)

MAX_ENTRIES = 500
MAX_HISTORY = 200
JUMP_S = 2.0
"""A smaller difference between the two clocks is drift, not somebody who set the time."""
STARTED = "started"
"""Outcome in the history while something is carried out; found after a start, it was interrupted."""


@dataclass
class _State:
    """All that is kept; guarded by the schedule's lock."""

    entries: dict[str, Entry] = field(default_factory=dict)
    history: deque[Past] = field(default_factory=lambda: deque(maxlen=MAX_HISTORY))
    next_id: int = 1


class Schedule:
    """Owns the entries. Every method may be called from any thread."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
        path: Path | None = None,
        rules: ScheduleRules | None = None,
    ):
        """Load what was kept; `clock` runs forward in seconds, `now` is the local time of the home."""
        self._now, self._clock, self._rules = now, clock, rules or ScheduleRules()
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._listeners = Listeners()
        self._file = None if path is None else ScheduleFile(path)
        saved = Saved() if self._file is None else self._file.load()
        past = [replace(p, outcome="interrupted") if p.outcome == STARTED else p for p in saved.history]
        self._state = _State({e.id: e for e in saved.entries}, deque(past, MAX_HISTORY), saved.next_id)
        self._offset = self._wall_minus_clock()
        self._sort_out_missed()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong with the file when it was opened, one line each."""
        return () if self._file is None else self._file.warnings

    def now(self) -> datetime:
        """Local time of the home."""
        return self._now()

    def entries(self, *kinds: EntryKind) -> tuple[Entry, ...]:
        """All entries, of some kinds if named, the next one first."""
        with self._lock:
            self._follow_wall_clock()
            found = [e for e in self._state.entries.values() if not kinds or e.kind in kinds]
        return tuple(sorted(found, key=lambda e: (e.due is None, e.due or e.created, e.id)))

    def get(self, entry_id: str) -> Entry | None:
        """Return an entry as it is kept."""
        with self._lock:
            return self._state.entries.get(entry_id)

    def history(self) -> tuple[Past, ...]:
        """What came due or was missed, oldest first."""
        with self._lock:
            return tuple(self._state.history)

    def apply(self, changes: Sequence[EntryChange]) -> tuple[Entry, ...]:
        """Add, change or remove entries, all or none. Raises ScheduleError if that cannot be kept."""
        events: list[ScheduleEvent] = []
        with self._lock:
            before = dict(self._state.entries)
            n_new = sum(not c.entry.id for c in changes)
            if len(before) + n_new > MAX_ENTRIES:
                raise ScheduleError(f"{MAX_ENTRIES} timers and plans are kept already; cancel some first")
            kept = tuple(self._put(change, events) for change in changes)
            try:
                self._save()
            except OSError as err:
                self._state.entries = before
                raise ScheduleError(f"schedule cannot be saved ({err.strerror or err}); nothing was planned") from err
            self._changed.notify_all()
        self._listeners.notify(events)
        return kept

    def add(self, entry: Entry) -> Entry:
        """Keep a new entry and return it with its id. Raises ScheduleError."""
        return self.apply([EntryChange(entry)])[0]

    def remove(self, entry_id: str) -> Entry | None:
        """Forget an entry and return it. None if there is none. Raises ScheduleError."""
        with self._lock:
            entry = self._state.entries.get(entry_id)
            return None if entry is None else self.apply([EntryChange(entry, is_removed=True)])[0]

    def take_due(self) -> tuple[Entry, ...]:
        """Take what is due: it is gone from the file, or armed for the next time, before this returns."""
        events: list[ScheduleEvent] = []
        with self._lock:
            self._follow_wall_clock()
            now = self._now()
            due = [e for e in self.entries() if e.due is not None and e.due <= now and not e.is_missed]
            if not due:
                return ()
            for entry in due:
                self._state.entries.pop(entry.id)
                if (again := armed(entry, now)) is not None:
                    self._state.entries[entry.id] = again
                self._state.history.append(Past(now, entry, STARTED))
                self._listeners.note("due", entry, events)
            self._save_or_log()
        self._listeners.notify(events)
        return tuple(due)

    def seconds_to_next(self) -> float | None:
        """Seconds until something is due, 0 if it is. None if nothing is planned."""
        with self._lock:
            now = self._now()
            left = [e.seconds_left(now) for e in self._state.entries.values() if e.due is not None and not e.is_missed]
        return min(left, default=None)

    def wait_for_due(self, max_s: float, is_over: Callable[[], bool]) -> None:
        """Return when something is due, something changed, the time is up, or it is over."""
        with self._changed:
            left = self.seconds_to_next()
            if left != 0 and not is_over():
                self._changed.wait(max_s if left is None else min(left + 0.005, max_s))

    def wake(self) -> None:
        """End a wait."""
        with self._changed:
            self._changed.notify_all()

    def record(self, past: Past) -> None:
        """Add a line to the history, in place of the one that says that it was started."""
        with self._lock:
            begun = [p for p in self._state.history if p.outcome == STARTED and p.entry.id == past.entry.id]
            for line in begun:
                self._state.history.remove(line)
            self._state.history.append(past)
            self._save_or_log()

    def say_of_missed(self, say: Callable[[Past], str]) -> None:
        """Give lines of what was missed a sentence, where they have none."""
        with self._lock:
            lines = self._state.history
            for place, past in enumerate(lines):
                if past.outcome == "missed" and not past.say:
                    lines[place] = replace(past, say=say(past))
            if lines:
                self._save_or_log()

    def missed(self) -> tuple[Entry, ...]:
        """Entries that were due while nothing ran and wait for a decision."""
        return tuple(e for e in self.entries() if e.is_missed)

    def replace_all(self, entries: Sequence[Entry]) -> None:
        """Hold exactly these entries and no history; for evaluations, which start every record afresh."""
        with self._lock:
            self._state = _State({e.id: e for e in entries}, next_id=len(entries) + 1)
            self._offset = self._wall_minus_clock()
            self._save_or_log()

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call back after every event, in the thread that caused it; returns a function that ends it."""
        return self._listeners.subscribe(callback)

    def _put(self, change: EntryChange, events: list[ScheduleEvent]) -> Entry:
        entry, entries = change.entry, self._state.entries
        if change.is_removed:
            entries.pop(entry.id, None)
            self._listeners.note("removed", entry, events)
            return entry
        is_new = not entry.id
        if is_new:
            entry = replace(entry, id=f"{entry.kind.value}-{self._state.next_id}")
            self._state.next_id += 1
        entries[entry.id] = entry
        self._listeners.note("added" if is_new else "changed", entry, events)
        return entry

    def _sort_out_missed(self) -> None:
        """After a start: what is long overdue is dropped, kept for a question, or left to run, by the rules."""
        now = self._now()
        limit = timedelta(minutes=self._rules.missed_after_minutes)
        late = [e for e in self._state.entries.values() if e.due is not None and now - e.due > limit]
        for entry in late:
            if runs_late(entry, self._rules):
                continue
            self._state.history.append(Past(now, entry, "missed", detail={"due": str(entry.due)}))
            kept = after_missing(entry, self._rules, now)
            if kept is None:
                del self._state.entries[entry.id]
            else:
                self._state.entries[entry.id] = kept
            log.warning("%s was due at %s while nothing ran: %s", entry.id, entry.due, self._rules.missed)
        if late:
            self._save_or_log()

    def _follow_wall_clock(self) -> None:
        """Move delays and timers along when somebody set the wall clock, so that their length stays as said."""
        offset = self._wall_minus_clock()
        jump = offset - self._offset
        if abs(jump) < JUMP_S:
            return
        self._offset = offset
        log.warning("the clock was set by %+.0f s; delays and timers keep their length", jump)
        for entry in self._state.entries.values():
            if entry.due is not None and is_relative(entry):
                moved = replace(entry, due=entry.due + timedelta(seconds=jump))
                self._state.entries[entry.id] = moved
        self._save_or_log()

    def _wall_minus_clock(self) -> float:
        return (self._now() - datetime(2000, 1, 1)).total_seconds() - self._clock()

    def _save(self) -> None:
        if self._file is not None:
            state = self._state
            self._file.save(Saved(tuple(state.entries.values()), tuple(state.history), state.next_id))

    def _save_or_log(self) -> None:
        try:
            self._save()
        except OSError as err:  # the plan itself must go on; the next change tries again
            log.error("the schedule cannot be saved (%s)", err.strerror or err)
