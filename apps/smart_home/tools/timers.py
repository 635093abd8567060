"""Timers: several at once, with names and rooms, answered from what is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

from agentkit.devices.view import View
from agentkit.planned import Entry, EntryChange, EntryKind
from agentkit.understanding.tools import Answer, Decision, Range, tool

DAY = 86_400
Seconds = Annotated[int, Range(1, 366 * DAY, "s")]
Difference = Annotated[int, Range(-366 * DAY, 366 * DAY, "s")]
MAX_TIMERS = 100


@tool()
def set_timer(home: View, seconds: Seconds, name: str = "", area: str = "") -> Decision:
    """Start a timer."""
    if len(timers_of(home)) >= MAX_TIMERS:
        return Decision(reason="too_many_timers", values={"count": MAX_TIMERS})
    room = _area_id(home, area) if area else home.area
    if area and room is None:
        return Decision(reason="unknown_room", values={"name": area})
    entry = Entry(
        EntryKind.TIMER,
        home.now + timedelta(seconds=seconds),
        home.now,
        text=home.text,
        name=" ".join(name.split()) or None,
        area=room,
        session=home.session,
        user=home.user,
        source=home.source,
        language=home.language,
        duration_s=float(seconds),
    )
    return Decision(entries=(EntryChange(entry),), values=facts(home, entry))


@tool()
def cancel_timer(home: View, start_seconds: int | None = None, name: str = "", area: str = "") -> Decision:
    """Cancel one timer."""
    found = _pick(home, timers_of(home), start_seconds, name, area)
    if isinstance(found, Decision):
        return found
    return Decision(entries=(EntryChange(found, is_removed=True),), values=facts(home, found))


@tool()
def cancel_all_timers(home: View, area: str = "") -> Decision:
    """Cancel all timers, or all of a room."""
    found = [t for t in timers_of(home) if not area or t.area == _area_id(home, area)]
    if not found:
        return Decision(reason="no_timer")
    changes = tuple(EntryChange(t, is_removed=True) for t in found)
    return Decision(entries=changes, values={"count": len(found)})


@tool()
def adjust_timer(
    home: View, seconds: Difference, start_seconds: int | None = None, name: str = "", area: str = ""
) -> Decision:
    """Give a timer more time, or less."""
    found = _pick(home, timers_of(home), start_seconds, name, area)
    if isinstance(found, Decision):
        return found
    left = found.seconds_left(home.now) + seconds
    if left <= 0:
        return Decision(reason="timer_too_short", values=facts(home, found))
    if left > 366 * DAY:
        return Decision(reason="timer_too_long", values=facts(home, found))
    length = max(left, (found.duration_s or 0) + seconds)
    changed = (
        replace(found, left_s=left, duration_s=length)
        if found.due is None
        else replace(found, due=home.now + timedelta(seconds=left), duration_s=length)
    )
    return Decision(entries=(EntryChange(changed),), values=facts(home, changed))


@tool()
def pause_timer(home: View, start_seconds: int | None = None, name: str = "", area: str = "") -> Decision:
    """Stop the time of a timer."""
    running = [t for t in timers_of(home) if t.due is not None]
    found = _pick(home, running, start_seconds, name, area)
    if isinstance(found, Decision):
        is_paused = not isinstance(_pick(home, timers_of(home), start_seconds, name, area), Decision)
        return Decision(reason="timer_paused", values=found.values) if is_paused else found
    paused = replace(found, due=None, left_s=found.seconds_left(home.now))
    return Decision(entries=(EntryChange(paused),), values=facts(home, paused))


@tool()
def resume_timer(home: View, start_seconds: int | None = None, name: str = "", area: str = "") -> Decision:
    """Let a paused timer go on."""
    waiting = [t for t in timers_of(home) if t.due is None]
    found = _pick(home, waiting, start_seconds, name, area)
    if isinstance(found, Decision):
        is_running = not isinstance(_pick(home, timers_of(home), start_seconds, name, area), Decision)
        return Decision(reason="timer_running", values=found.values) if is_running else found
    running = replace(found, due=home.now + timedelta(seconds=found.left_s or 0), left_s=None)
    return Decision(entries=(EntryChange(running),), values=facts(home, running))


@tool(is_query=True)
def timer_status(home: View, start_seconds: int | None = None, name: str = "", area: str = "") -> Answer:
    """Tell how much time is left."""
    found = _fitting(home, timers_of(home), start_seconds, name, area)
    if not found:
        named = {"name": name} if name else {"duration": start_seconds} if start_seconds else {}
        return Answer("timers.none_such" if timers_of(home) and (named or area) else "timers.none", named)
    if len(found) > 1:
        n_paused = sum(t.due is None for t in found)
        rows = [
            {**facts(home, t), "kind": "paused" if t.due is None else "running", "n": n} for n, t in enumerate(found)
        ]
        return Answer("timers.many", {"rows": rows, "count": len(found) - n_paused, "total": n_paused})
    return Answer("timers.paused" if found[0].due is None else "timers.one", facts(home, found[0]))


def timers_of(home: View) -> list[Entry]:
    """All timers, the one that ends first in front, paused ones last."""
    return [e for e in home.entries if e.kind is EntryKind.TIMER]


def facts(home: View, timer: Entry) -> dict[str, Any]:
    """What can be said of a timer."""
    values: dict[str, Any] = {
        "name": timer.name,
        "entry": timer.id or None,
        "duration": timer.duration_s,
        "left": timer.seconds_left(home.now),
    }
    area = home.area_name(timer.area)
    values |= {"time": None if timer.due is None else timer.due.strftime("%H:%M"), "area": timer.area if area else None}
    return {k: v for k, v in values.items() if v is not None}


def _fitting(home: View, timers: list[Entry], start_seconds: int | None, name: str, area: str) -> list[Entry]:
    """Timers that have all that was said of them; a name fits exactly, or else as a part."""
    room = _area_id(home, area) if area else None
    found = [t for t in timers if not area or (room is not None and t.area == room)]
    if start_seconds is not None:
        found = [t for t in found if t.duration_s is not None and abs(t.duration_s - start_seconds) < 0.5]
    if not name:
        return found
    wanted = _folded(name)
    exact = [t for t in found if _folded(t.name or "") == wanted]
    return exact or [t for t in found if t.name and (wanted in _folded(t.name) or _folded(t.name) in wanted)]


def _pick(home: View, timers: list[Entry], start_seconds: int | None, name: str, area: str) -> Entry | Decision:
    """The one timer that is meant: of several, the speaker's room's, then the one that ends first, which is said."""
    found = _fitting(home, timers, start_seconds, name, area)
    if not found:
        named: dict[str, Any] = {"name": name} if name else {"duration": start_seconds} if start_seconds else {}
        return Decision(reason="no_such_timer" if timers and (named or area) else "no_timer", values=named)
    near = [t for t in found if home.area is not None and t.area == home.area]
    return (near or found)[0]


def _area_id(home: View, area: str) -> str | None:
    wanted = _folded(area)
    known = next((a.id for a in home.areas if wanted in (_folded(a.id), *map(_folded, a.names))), None)
    return known or next((e.area for e in home.entries if e.area and _folded(e.area) == wanted), None)


def _folded(text: str) -> str:
    return "".join(text.casefold().split())
