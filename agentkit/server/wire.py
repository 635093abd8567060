"""What goes over HTTP, field by field. The inside of agentkit knows nothing of these classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agentkit.devices.adapter import Device
from agentkit.devices.plain import MAX_TEXT, check_line, fixed
from agentkit.devices.report import reported
from agentkit.errors import UtteranceError
from agentkit.intake import check_text
from agentkit.types import ActionResult, Reply


def _plain_text(text: str) -> str:
    try:
        check_text(text)
    except UtteranceError as err:
        raise ValueError(str(err).removeprefix("text ")) from err
    return text


def _line(text: str) -> str:
    return check_line(text, MAX_TEXT)


def _args(value: dict[str, Any]) -> dict[str, Any]:
    return {key: _hashable(item) for key, item in fixed(value).items()}


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


Text = Annotated[str, AfterValidator(_line)]
"""Ids, names and states: the registry says what is acceptable, here they only have to be text of one line."""
Session = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:\-]{1,64}$")]
Attributes = Annotated[dict[str, Any], AfterValidator(fixed)]
Args = Annotated[dict[str, Any], AfterValidator(_args)]


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
    args: Args = Field(default_factory=dict)


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
    given = _given(body, body.model_fields_set if known is not None else type(body).model_fields)
    if device_id is not None:
        given["id"] = device_id
    if known is not None:
        return dataclasses.replace(known, **given)
    return Device(**given)


def changed(device: Device, patch: DevicePatch) -> Device:
    """The device under its new name, room or address, in the state that it reports."""
    given = _given(patch, patch.model_fields_set & {"name", "area", "aliases", "endpoint"})
    if given.get("name", "") is None:
        del given["name"]
    return reported(dataclasses.replace(device, **given), patch.state, patch.attributes, patch.available)


def is_only_report(patch: DevicePatch) -> bool:
    """True if a patch leaves name, room and address as they are."""
    return not patch.model_fields_set & {"name", "area", "aliases", "endpoint"}


_INSIDE = {"available": "is_available"}


def _given(body: BaseModel, names: Iterable[str]) -> dict[str, Any]:
    """The fields by the names that Device has for them."""
    values = {_INSIDE.get(name, name): getattr(body, name) for name in names}
    if "aliases" in values:
        values["aliases"] = tuple(values["aliases"] or ())
    return values
