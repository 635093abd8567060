"""What goes over HTTP, field by field. The inside of agentkit knows nothing of these classes."""

from __future__ import annotations

import dataclasses
import math
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agentkit.devices.adapter import Device
from agentkit.errors import UtteranceError
from agentkit.intake import check_text
from agentkit.types import ActionResult, Reply


def _plain_text(text: str) -> str:
    try:
        check_text(text)
    except UtteranceError as err:
        raise ValueError(str(err).removeprefix("text ")) from err
    return text


def _json_value(value: Any) -> Any:
    if isinstance(value, str) and any(unicodedata.category(char) == "Cs" for char in value):
        raise ValueError("holds half a character; send plain text")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("holds a number that is not finite")
    if isinstance(value, dict):
        return {_json_value(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_json_value(item) for item in value)
    return value


Text = Annotated[str, AfterValidator(_json_value)]
"""Ids, names and states: the registry says what is acceptable, here they only have to be text."""
Session = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:\-]{1,64}$")]
Attributes = Annotated[dict[str, Any], AfterValidator(_json_value)]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CommandIn(_In):
    """One utterance."""

    text: Annotated[str, AfterValidator(_plain_text)] = Field(examples=["turn on the kitchen light"])
    area: Text | None = None
    """Area id of the speaker."""
    session: Session | None = None
    """Send back the one from the last answer to go on with its dialogue."""
    language: Literal["en", "zh"] | None = None
    user: Annotated[str, Field(max_length=100), AfterValidator(_plain_text)] | None = None
    dry_run: bool = False
    """Understand and resolve, but execute nothing."""


class ActionIn(_In):
    """A direct action, without language."""

    tool: Text = Field(examples=["turn_on"])
    args: Attributes = Field(default_factory=dict)


class _Registered(_In):
    name: Text
    type: Text = Field(examples=["light"])
    """Any word of a-z, 0-9 and _; the app's tools say which words they act on."""
    area: Text | None = None
    aliases: list[Text] = Field(default_factory=list)
    state: Text | None = None
    attributes: Attributes = Field(default_factory=dict)
    available: bool = True
    endpoint: Text | None = None
    """URL that takes commands; none = agentkit holds the state itself."""


class DeviceIn(_Registered):
    """A device as it registers itself."""

    id: Text


class DeviceReplace(_Registered):
    """As DeviceIn; the id may be left to the path."""

    id: Text | None = None


class DevicePatch(_In):
    """A state report, or a new name or room."""

    name: Text | None = None
    area: Text | None = None
    aliases: list[Text] | None = None
    state: Text | None = None
    attributes: Attributes | None = None
    """Only these change; null removes one."""
    available: bool | None = None
    endpoint: Text | None = None


class DeviceOut(BaseModel):
    """A device as last read."""

    id: str
    name: str
    type: str
    area: str | None
    aliases: list[str]
    state: str | None
    attributes: dict[str, Any]
    available: bool
    endpoint: str | None

    @classmethod
    def from_device(cls, device: Device) -> DeviceOut:
        """Build the answer."""
        return cls(
            id=device.id,
            name=device.name,
            type=device.type,
            area=device.area,
            aliases=list(device.aliases),
            state=device.state,
            attributes=dict(device.attributes),
            available=device.is_available,
            endpoint=device.endpoint,
        )


class ActionOut(BaseModel):
    """One action and what really came of it; reason, detail, state and attributes only where there is something."""

    tool: str
    args: dict[str, Any]
    device_id: str | None
    status: Literal["done", "failed", "unknown", "skipped"]
    reason: str | None = None
    detail: str | None = None
    state: str | None = None
    attributes: dict[str, Any] | None = None

    @classmethod
    def from_result(cls, result: ActionResult) -> ActionOut:
        """Build the record of one action."""
        return cls(
            tool=result.action.tool,
            args=dict(result.action.args),
            device_id=result.action.device_id,
            status=result.status.value,
            reason=result.reason,
            detail=result.detail or None,
            state=result.state,
            attributes=dict(result.attributes) or None,
        )


class CallOut(BaseModel):
    """A tool call as understood."""

    tool: str
    args: dict[str, Any]
    targets: list[str]


class CommandOut(BaseModel):
    """The end of one turn."""

    outcome: Literal["done", "partial", "failed", "ask", "refused", "answer", "scheduled", "none"]
    ok: bool
    say: str
    actions: list[ActionOut]
    calls: list[CallOut]
    expects_reply: bool
    session: str
    language: str
    path: str
    """Who understood it: template, model, dialogue …"""
    why: str
    timing_ms: dict[str, float]

    @classmethod
    def from_reply(cls, reply: Reply, *, queue_ms: float = 0.0) -> CommandOut:
        """Build the answer; the time in the queue stands beside the agent's own stages."""
        timings = {stage: round(ms, 3) for stage, ms in reply.timings_ms.items()}
        return cls(
            outcome=reply.outcome.value,
            ok=reply.ok,
            say=reply.say,
            actions=[ActionOut.from_result(result) for result in reply.actions],
            calls=[CallOut(tool=c.tool, args=dict(c.args), targets=list(c.targets)) for c in reply.calls],
            expects_reply=reply.expects_reply,
            session=reply.session,
            language=reply.language,
            path=reply.path,
            why=reply.why,
            timing_ms={**timings, "queue": round(queue_ms, 3)},
        )


def new_device(body: DeviceIn | DeviceReplace, known: Device | None = None, *, device_id: str | None = None) -> Device:
    """Build the device, under the given id if any; what a known one does not say again stays as it was."""
    given = body.model_dump(exclude_unset=known is not None)
    fields = {_INSIDE.get(name, name): _inside(value) for name, value in given.items()}
    if device_id is not None:
        fields["id"] = device_id
    if known is not None:
        return dataclasses.replace(known, **fields)
    return Device(**fields)


def changed(device: Device, patch: DevicePatch) -> Device:
    """The device under its new name, room or address; state is reported separately."""
    given = patch.model_dump(exclude_unset=True, include={"name", "area", "aliases", "endpoint"})
    if given.get("name", "") is None:
        del given["name"]
    if given.get("aliases", ()) is None:
        given["aliases"] = []
    return dataclasses.replace(device, **{name: _inside(value) for name, value in given.items()})


_INSIDE = {"available": "is_available"}


def _inside(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
