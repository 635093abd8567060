"""Alarms at a time of day, and what else is planned."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from agentkit.devices.view import View
from agentkit.planned import Entry, EntryChange, EntryKind
from agentkit.understanding.tools import Answer, Decision, Range, tool
from agentkit.when import MAX_SECONDS, When, WhenKind, read_spec

MAX_ALARMS = 100
Seconds = Annotated[int | None, Range(1, MAX_SECONDS, "s")]
_DAYS = {(1, 2, 3, 4, 5): "workdays", (6, 7): "weekend", (): "daily"}


@tool()
def set_alarm(home: View, time: str, name: str = "") -> Decision:
    """Set an alarm."""
    when = read_spec(time)
    if when is None:
        return Decision(reason="bad_time", values={"time": time})
    due = when.due(home.now)
    if due is None:
        return Decision(reason="time_past", values={"time": time.split()[0]})
    if len(_alarms(home)) >= MAX_ALARMS:
        return Decision(reason="too_many_timers", values={"count": MAX_ALARMS})
    entry = replace(_entry(home, due), when=when.settled(home.now), name=" ".join(name.split()) or None)
    return Decision(entries=(EntryChange(entry),), values=facts(home, entry))


@tool()
def reminder(home: View, message: str, seconds: Seconds = None, time: str = "") -> Decision:
    """Say something later."""
    when = read_spec(time) if time else When(WhenKind.DELAY, seconds) if seconds else None
    if when is None:
        return Decision(reason="bad_time" if time else "no_time", values={"time": time})
    due = when.due(home.now)
    if due is None:
        return Decision(reason="time_past")
    if len(_alarms(home)) >= MAX_ALARMS:
        return Decision(reason="too_many_timers", values={"count": MAX_ALARMS})
    entry = _entry(home, due, EntryKind.REMINDER)
    entry = replace(entry, when=when.settled(home.now), name=" ".join(message.split()))
    return Decision(entries=(EntryChange(entry),), values=facts(home, entry))


@tool()
def cancel_alarm(home: View, time: str = "", name: str = "", scope: str = "", kind: str = "") -> Decision:
    """Cancel an alarm; without a time or name the next one, or all, of one kind."""
    found = [a for a in _fitting(home, time, name) if kind in ("", a.kind.value)]
    if not found:
        is_other = any(kind in ("", a.kind.value) for a in _alarms(home)) and bool(time or name)
        what = kind or "alarm"
        return Decision(reason=f"no_such_{what}" if is_other else f"no_{what}")
    if scope == "all" and len(found) > 1:
        return Decision(entries=tuple(EntryChange(a, is_removed=True) for a in found), values={"count": len(found)})
    values = facts(home, found[0])
    if found[0].kind is EntryKind.REMINDER:
        values["message"] = values.pop("name", "")
    return Decision(entries=(EntryChange(found[0], is_removed=True),), values=values)


@tool(is_query=True)
def alarm_status(home: View, time: str = "", name: str = "") -> Answer:
    """Tell which alarms are set."""
    found = _fitting(home, time, name)
    if not found:
        return Answer("alarms.none_such" if _alarms(home) and (time or name) else "alarms.none")
    rows = [facts(home, a) for a in found]
    return (
        Answer("alarms.one", rows[0]) if len(rows) == 1 else Answer("alarms.many", {"rows": rows, "count": len(rows)})
    )


@tool(is_query=True)
def list_schedules(home: View, name: str = "") -> Answer:
    """Tell what is planned, all or what has these words."""
    rows = [facts(home, e) for e in _plans(home) if _folded(name) in _folded(e.text)]
    if not rows:
        return Answer("plans.none")
    return Answer("plans.one", rows[0]) if len(rows) == 1 else Answer("plans.many", {"rows": rows, "count": len(rows)})


@tool()
def cancel_schedule(home: View, name: str = "", scope: str = "") -> Decision:
    """Give up the plan that was made last, the one with these words, or all."""
    plans = _plans(home)
    if name:
        plans = [p for p in plans if _folded(name) in _folded(p.text)]
    if not plans:
        return Decision(reason="no_such_plan" if _plans(home) else "no_plan")
    if scope == "all":
        changes = tuple(EntryChange(p, is_removed=True) for p in plans)
        return Decision(entries=changes, values={"count": len(plans)})
    newest = max(plans, key=lambda p: p.created)
    return Decision(entries=(EntryChange(newest, is_removed=True),), values=facts(home, newest))


def _entry(home: View, due: datetime, kind: EntryKind = EntryKind.ALARM) -> Entry:
    return Entry(
        kind,
        due,
        home.now,
        text=home.text,
        area=home.area,
        session=home.session,
        user=home.user,
        source=home.source,
        language=home.language,
    )


def facts(home: View, entry: Entry) -> dict[str, Any]:
    """What can be said of an alarm or plan."""
    values: dict[str, Any] = {"name": entry.name, "command": entry.text, "entry": entry.id}
    if entry.due is None:
        return {k: v for k, v in values.items() if v}
    values |= {"time": entry.due.strftime("%H:%M"), "left": entry.seconds_left(home.now)}
    when = entry.when
    if when is not None and when.kind is WhenKind.RECURRING:
        days = _DAYS.get(when.weekdays) or tuple(f"each {d}" for d in when.weekdays)
        values |= {"period": when.seconds} if when.hour is None else {"weekdays": days}
    else:
        values["on_day"] = _day(home, entry)
    return {k: v for k, v in values.items() if v}


def _day(home: View, entry: Entry) -> str:
    assert entry.due is not None, entry
    n_days = (entry.due.date() - home.now.date()).days
    if n_days < 2:
        return ("today", "tomorrow")[max(0, n_days)]
    return str(entry.due.isoweekday()) if n_days < 7 else entry.due.date().isoformat()


def _alarms(home: View) -> list[Entry]:
    return [e for e in home.entries if e.kind in (EntryKind.ALARM, EntryKind.REMINDER)]


def _plans(home: View) -> list[Entry]:
    return [e for e in home.entries if e.kind is EntryKind.COMMAND]


def _fitting(home: View, time: str, name: str) -> list[Entry]:
    """Alarms of that time of day, in either half of the day if none was said, and with that name."""
    found = _alarms(home)
    when = read_spec(time) if time else None
    if when is not None and when.hour is not None:
        hours = {when.hour % 24} | ({(when.hour + 12) % 24} if when.is_half_open else set())
        found = [a for a in found if a.due and a.due.hour in hours and a.due.minute == when.minute]
    if name:
        found = [a for a in found if _folded(name) in _folded(a.name or "")]
    return found


def _folded(text: str) -> str:
    return "".join(text.casefold().split())
