"""What went wrong with an action, as a result with a reason: by a tool's function, an adapter or a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentkit.agent.resolve import Step
from agentkit.agent.runner import Ran
from agentkit.devices.adapter import Change, Device
from agentkit.errors import DeviceError, DeviceUnavailable, DeviceUnknown
from agentkit.planned import EntryChange
from agentkit.types import Action, ActionResult, Status
from agentkit.understanding.tools import Answer, Decision


def failed(action: Action, reason: str, detail: str = "", *, device: Device | None = None) -> ActionResult:
    """The result of an action that failed for a reason, with the device as it is."""
    state, attributes = (device.state, device.attributes) if device else (None, {})
    return ActionResult(action, Status.FAILED, reason, detail, state, attributes)


def out_of_time(action: Action, detail: str = "the turn's time was used up") -> ActionResult:
    """The result of an action of which nothing was sent, because there was no time left."""
    return ActionResult(action, Status.SKIPPED, "timeout", detail)


def problem(action: Action, ran: Ran, who: str) -> ActionResult:
    """The result of an action whose call did not end well."""
    error = ran.error
    if isinstance(error, DeviceError):
        reasons = {DeviceUnavailable: "unavailable", DeviceUnknown: "not_found"}
        return failed(action, reasons.get(type(error), "rejected"), str(error))
    detail = f"{who}: {type(error).__name__}: {error}" if error else f"{who}: {ran.problem}"
    return failed(action, str(ran.problem), " ".join(detail.split())[:300])


def fault(step: Step, value: Any) -> str | None:
    """What is wrong with a function's result, if anything."""
    if not isinstance(value, (Answer, Decision)):
        return f"returned {type(value).__name__}, wanted Decision or Answer"
    if not isinstance(value.values, Mapping):
        return f"gave values of {type(value.values).__name__}, wanted a mapping"
    key = value.reply_key if isinstance(value, Answer) else value.reason
    if key is not None or isinstance(value, Answer):
        return None if isinstance(key, str) else f"gave {key!r}, wanted a reply key"
    if value.entries and not step.tool.is_query:
        return (
            None if all(isinstance(c, EntryChange) for c in value.entries) else "gave entries that are no EntryChange"
        )
    return _changes_fault(step, value.changes)


def _changes_fault(step: Step, changes: Any) -> str | None:
    if not isinstance(changes, Mapping) or not changes:
        return "decided nothing and gave no reason"
    if not all(isinstance(i, str) and isinstance(c, Change) for i, c in changes.items()):
        return "gave changes that are not device id → Change"
    return "is a question but wants to change something" if step.tool.is_query else None


def worst(step: Step, results: list[ActionResult]) -> ActionResult:
    """One result for a step on one device that moved several (a scene): the worst, with the device's own state.

    What it says is about the devices that were the reason, not about the scene.
    """
    order = (Status.FAILED, Status.UNKNOWN, Status.SKIPPED, Status.DONE)
    found = min(results, key=lambda result: order.index(result.status))
    own = next((r for r in results if r.action.device_id == step.device_ids[0]), found)
    facts = found.facts
    if found.status is not Status.DONE and found.action.device_id not in step.device_ids:
        alike = [r.action.device_id for r in results if (r.status, r.reason) == (found.status, found.reason)]
        ids = tuple(dict.fromkeys(i for i in alike if i))
        facts = {**facts, "devices": ids, "device_ids": ids}
    return ActionResult(
        step.action, found.status, found.reason, found.detail, own.state, own.attributes, facts, found.reply_key
    )


def named_as_stopped(result: ActionResult, stopped: Sequence[str]) -> ActionResult:
    """Let the result of a scene that was held back name the devices that were, not the scene."""
    if result.reason != "denied" or not stopped:
        return result
    ids = tuple(dict.fromkeys(stopped))
    return replace(result, facts={**result.facts, "devices": ids, "device_ids": ids})


def not_run(step: Step) -> ActionResult:
    """The result of a step of a dry run."""
    key = "skipped.dry_run_question" if step.tool.is_query else None
    return ActionResult(step.action, Status.SKIPPED, "dry_run", reply_key=key)
