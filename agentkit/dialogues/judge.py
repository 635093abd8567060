"""Compares what came of a step with what was wanted; every difference is one line with both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agentkit.dialogues.script import CallWanted, Wanted
from agentkit.dialogues.stage import Seen
from agentkit.types import Call, Outcome

Difference = tuple[str, str]
"""What was wanted and what was got."""
ACTS = frozenset(o.value for o in (Outcome.DONE, Outcome.PARTIAL, Outcome.FAILED, Outcome.SCHEDULED))


def difference(wanted: Wanted, seen: Seen) -> Difference | None:
    """The first thing that is not as wanted. None if all is, and nothing else changed."""
    said = f"{seen.outcome}: {_short(seen.say)}"
    if wanted.outcome is not None and wanted.outcome != seen.outcome:
        return wanted.outcome, said
    if wanted.reason is not None and not any(wanted.reason in (r, r.partition(".")[2]) for r in seen.reasons):
        return f"reason {wanted.reason}", f"{', '.join(seen.reasons) or 'no reason'}: {_short(seen.say)}"
    if wanted.calls is not None and (found := _calls(wanted.calls, seen.calls)):
        return found
    if missing := next((t for t in wanted.answer if t.casefold() not in seen.say.casefold()), None):
        return f"answer with {missing!r}", repr(_short(seen.say))
    for key, value in wanted.slots.items():
        if not _same(value, seen.values.get(key)):
            return f"{key} = {value}", f"{seen.values.get(key)}"
    if wanted.planned is not None and wanted.planned != len(seen.entries):
        return f"{wanted.planned} planned", f"{len(seen.entries)}: {', '.join(e.id for e in seen.entries)}"
    return _states(wanted, seen)


def fate(original: Seen, mutated: Seen) -> Literal["same", "safe", "wrong"]:
    """Judge a mutation: same action or answer, no action at all, or another one."""
    if original.outcome == mutated.outcome and original.changed == mutated.changed:
        if original.outcome not in ACTS:
            return "same" if mutated.say == original.say else "safe"
        if _plain_calls(original.calls) == _plain_calls(mutated.calls):
            return "same"
    return "wrong" if mutated.outcome in ACTS or mutated.changed or mutated.has_planned else "safe"


def told(seen: Seen) -> str:
    """A step in one line, as it went."""
    calls = ", ".join(_call_text(c.tool, c.args, c.targets) for c in seen.calls)
    return f"{seen.outcome}: {calls or _short(seen.say)}"


def _states(wanted: Wanted, seen: Seen) -> Difference | None:
    for device_id, values in wanted.states.items():
        device = seen.devices[device_id]
        for key, value in values.items():
            got = device.state if key == "state" else device.attributes.get(key)
            if not _same(value, got):
                return f"{device_id} {key} = {value}", f"{got}; {_short(seen.say)}"
    listed = {*wanted.states, *(t for call in wanted.calls or () for t in call.targets)}
    for device_id, values in seen.changed.items():
        if device_id not in listed:
            return f"nothing else changed (list {device_id} under calls or states)", f"{device_id}: {_values(values)}"
    return None


def _calls(wanted: Sequence[CallWanted], got: Sequence[Call]) -> Difference | None:
    left = list(got)
    for call in wanted:
        match = next((c for c in left if _fits(call, c)), None)
        if match is None:
            seen = ", ".join(_call_text(c.tool, c.args, c.targets) for c in got)
            return f"call {_call_text(call.tool, call.args, call.targets)}", seen or "no call"
        left.remove(match)
    if left:
        return "no other call", _call_text(left[0].tool, left[0].args, left[0].targets)
    return None


def _fits(wanted: CallWanted, call: Call) -> bool:
    return (
        wanted.tool == call.tool
        and sorted(wanted.targets) == sorted(call.targets)
        and _same(dict(wanted.args), dict(call.args))
    )


def _same(wanted: Any, got: Any) -> bool:
    """Equal as data: lists as tuples, whole numbers as floats, nothing as absent."""
    if isinstance(wanted, Mapping) and isinstance(got, Mapping):
        filled = [{k: v for k, v in side.items() if v is not None} for side in (wanted, got)]
        return filled[0].keys() == filled[1].keys() and all(_same(v, filled[1][k]) for k, v in filled[0].items())
    if isinstance(wanted, list | tuple) and isinstance(got, list | tuple):
        return len(wanted) == len(got) and all(_same(a, b) for a, b in zip(wanted, got, strict=True))
    return bool(wanted == got) or (not isinstance(wanted, bool) and str(wanted) == str(got))


def _plain_calls(calls: Sequence[Call]) -> list[str]:
    return sorted(_call_text(c.tool, c.args, sorted(c.targets)) for c in calls)


def _call_text(tool: str, args: Mapping[str, Any], targets: Sequence[str]) -> str:
    inside = ", ".join(f"{k}={v}" for k, v in sorted(args.items()) if v is not None)
    return f"{tool}({inside}) → {' '.join(targets) or 'no device'}"


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{k} {v}" for k, v in values.items())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:117]}..."
