"""Tools about entries of the schedule by their id, which nobody can ask for by name: what "cancel it" becomes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from agentkit.devices.view import View
from agentkit.planned import Entry, EntryChange, EntryKind
from agentkit.understanding.tools import Decision, Param, Tool
from agentkit.when import MAX_SECONDS, WhenKind

CANCEL_ENTRIES = "cancel_entries"
SHIFT_ENTRIES = "shift_entries"
OFF, MOVED = "planned.off", "planned.moved"
"""Sentences of an app; without them it has no such follow-ups."""


def cancel_entries(home: View, ids: str) -> Decision:
    """Forget entries."""
    found = _found(home, ids)
    if not found:
        return Decision(reason="not_found")
    changes = tuple(EntryChange(e, is_removed=True) for e in found)
    values = _values(found[0], home) if len(found) == 1 else {"kind": "many", "n": len(found)}
    return Decision(entries=changes, values=values, reply_key=OFF)


def shift_entries(home: View, ids: str, seconds: int, text: str = "", name: str = "", time: str = "") -> Decision:
    """Put entries off by some seconds, or forward; what repeats keeps its rule and is left alone.

    `text`: what a command is called from now on, if its own words tell the old time; `name` and `time`:
    what a question about it says.
    """
    found = _found(home, ids)
    if not found:
        return Decision(reason="not_found")
    if any(e.when is not None and e.when.kind is WhenKind.RECURRING for e in found):
        return Decision(reason="unsupported")
    if any(not 0 < e.seconds_left(home.now) + seconds <= MAX_SECONDS for e in found):
        return Decision(reason="unsupported")
    moved = [replace(_shifted(e, seconds, home), text=text or e.text) for e in found]
    values = _values(moved[0], home) if len(moved) == 1 else {"kind": "many", "n": len(moved)}
    return Decision(entries=tuple(map(EntryChange, moved)), values=values, reply_key=MOVED)


def _found(home: View, ids: str) -> list[Entry]:
    wanted = ids.split(",")
    return [e for e in home.entries if e.id in wanted]


def _shifted(entry: Entry, seconds: int, home: View) -> Entry:
    left = entry.seconds_left(home.now) + seconds
    length = None if entry.duration_s is None else max(left, entry.duration_s + seconds)
    if entry.due is None:
        return replace(entry, left_s=left, duration_s=length)
    return replace(entry, due=entry.due + timedelta(seconds=seconds), duration_s=length)


def _values(entry: Entry, home: View) -> dict[str, Any]:
    """What can be said of an entry; a command is called by its words."""
    name = entry.text if entry.kind is EntryKind.COMMAND else entry.name
    found = {"kind": entry.kind.value, "name": name, "duration": entry.duration_s, "left": entry.seconds_left(home.now)}
    time = None if entry.due is None else entry.due.strftime("%H:%M")
    return {k: v for k, v in {**found, "time": time}.items() if v is not None}


def _tool(name: str, summary: str, function: Any, *more: Param) -> Tool:
    return Tool(name, summary, (), (Param("ids", str), *more), "home", False, function)


_SHIFT = (Param("seconds", int), *(Param(name, str, is_required=False) for name in ("text", "name", "time")))
KEPT_TOOLS = {
    CANCEL_ENTRIES: _tool(CANCEL_ENTRIES, "Forget entries.", cancel_entries),
    SHIFT_ENTRIES: _tool(SHIFT_ENTRIES, "Put entries off.", shift_entries, *_SHIFT),
}
