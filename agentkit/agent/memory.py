"""What each conversation did last: whom "it" means, what "again" repeats, what "undo" puts back.

What really ran or was really answered is kept (if nothing of the turn did, what it tried), as intents and device ids,
never as states: whoever refers to it reads the devices anew. Both memories end with time; a turn that came to nothing
ends the first one at once, because "it" would otherwise mean something older than what was just said.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from agentkit.agent.execute import Moved
from agentkit.agent.resolve import Resolved
from agentkit.devices.adapter import Device
from agentkit.types import ActionResult, Intent, Selector, Status
from agentkit.understanding.home_view import HomeView


@dataclass(frozen=True)
class Done:
    """One intent that ran or was answered, with the devices for which it did."""

    intent: Intent
    device_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Session:
    user: str | None
    done: tuple[Done, ...] = ()
    done_until: float = 0.0
    moved: tuple[Moved, ...] = ()
    moved_until: float = 0.0
    entries: tuple[str, ...] = ()
    is_new: bool = False
    joined: tuple[Done, ...] = ()
    """What the turns did that this one was joined to by "and"."""


@dataclass
class Memory:
    """Owns the last turns, one per session, bounded in number and time."""

    clock: Callable[[], float]
    ttl_s: float = 120
    max_sessions: int = 256
    _sessions: OrderedDict[str, _Session] = field(default_factory=OrderedDict)

    def keep(
        self,
        session: str,
        user: str | None,
        done: Iterable[Done],
        moved: Iterable[Moved] | None,
        *,
        entries: Iterable[str] = (),
        is_new: bool = False,
        is_further: bool = False,
    ) -> None:
        """Remember a turn that ran; a question (moved is None) leaves what "undo" would put back.

        `entries` are the ids of what the turn planned (`is_new`) or told of what is planned, in the order of telling;
        `is_further`: it only added to the turn before.
        """
        joined = (*self.joined(session, user), *self.done(session, user)) if is_further else ()
        old = self._sessions.pop(session, None)
        end = self.clock() + self.ttl_s
        new = _Session(user, tuple(done), end, entries=tuple(entries), is_new=is_new, joined=joined)
        if moved is not None:
            new = replace(new, moved=tuple(moved), moved_until=end)
        elif old is not None and old.user == user:
            new = replace(new, moved=old.moved, moved_until=old.moved_until)
        self._sessions[session] = new
        while len(self._sessions) > self.max_sessions:
            self._sessions.popitem(last=False)

    def forget(self, session: str) -> None:
        """Nothing was done in this turn, so nobody can refer to what was done before it."""
        if session in self._sessions:
            self._sessions[session] = replace(self._sessions[session], done=(), entries=(), joined=())

    def done(self, session: str, user: str | None) -> tuple[Done, ...]:
        """What the last turn did or answered. Empty if it did nothing, is too old, or was somebody else's."""
        kept = self._of(session, user)
        return kept.done if kept is not None and self.clock() < kept.done_until else ()

    def joined(self, session: str, user: str | None) -> tuple[Done, ...]:
        """What the turns before the last did, if each was joined to the one before by "and"; "them" means that too."""
        kept = self._of(session, user)
        return kept.joined if kept is not None and self.clock() < kept.done_until else ()

    def entries(self, session: str, user: str | None, *, is_new: bool = False) -> tuple[str, ...]:
        """Ids of what the last turn planned or told of what is planned; with `is_new` only what it planned."""
        kept = self._of(session, user)
        is_meant = kept is not None and self.clock() < kept.done_until and (kept.is_new or not is_new)
        return kept.entries if kept is not None and is_meant else ()

    def moved(self, session: str, user: str | None) -> tuple[Moved, ...]:
        """What the last turn that moved anything sent. Empty if there is none, or it is too old."""
        kept = self._of(session, user)
        return kept.moved if kept is not None and self.clock() < kept.moved_until else ()

    def _of(self, session: str, user: str | None) -> _Session | None:
        kept = self._sessions.get(session)
        return kept if kept is not None and kept.user == user else None

    def __len__(self) -> int:
        return len(self._sessions)


def reached(found: Resolved, results: Iterable[ActionResult]) -> tuple[str, ...] | None:
    """The devices of an intent for which it was done or answered. None if it was for none."""
    done = {
        r.action.device_id
        for step in found.steps
        for r in results
        if r.status is Status.DONE and (r.action.tool, r.action.args) == (step.tool.name, step.args)
    }
    if None in done:
        return found.device_ids
    ids = tuple(i for i in found.device_ids if i in done)
    return ids or None


def pinned(done: Done) -> Intent:
    """The intent for the devices for which it was done."""
    return replace(done.intent, selector=Selector(device_ids=done.device_ids)) if done.device_ids else done.intent


def spoken_of(done: Iterable[Done], view: HomeView, *, is_many: bool) -> Selector | None:
    """The devices that a pronoun means: those of the last turn, if it spoke of one thing or the pronoun of several."""
    groups = list(dict.fromkeys(d.device_ids for d in done if d.device_ids))
    if not groups or (len(groups) > 1 and not is_many):
        return None
    said = [device for i in dict.fromkeys(i for ids in groups for i in ids) if (device := view.device(i))]
    devices = {m.id: m for d in said for m in (_movers(d, view) or (d,))}
    types = tuple(dict.fromkeys(d.type for d in devices.values()))
    is_one = len(devices) > len(said)
    return Selector(device_ids=tuple(devices), types=types, is_one=is_one) if devices else None


def _movers(sensor: Device, view: HomeView) -> tuple[Device, ...]:
    """What changes, in its room, the value that a sensor was asked for: "how warm is the bedroom", "turn it down"."""
    if sensor.type != "sensor" or sensor.area is None or sensor.device_class is None:
        return ()
    value = f"current_{sensor.device_class}"
    return tuple(d for d in view.devices if d.area == sensor.area and value in d.attributes)


def told_entries(results: Iterable[ActionResult]) -> tuple[tuple[str, ...], bool]:
    """Ids of the entries that results kept or told of, and whether they are new ones."""
    ids: dict[str, None] = {}
    is_new = False
    for facts in (r.facts for r in results if r.status is Status.DONE):
        ids.update(dict.fromkeys(facts.get("entries") or ()))
        rows = facts.get("rows")
        told = (facts, *(r for r in rows if isinstance(r, Mapping))) if isinstance(rows, list | tuple) else (facts,)
        ids.update({str(row["entry"]): None for row in told if row.get("entry") and "entries" not in facts})
        is_new = is_new or facts.get("is_new") is True
    return tuple(ids), is_new
