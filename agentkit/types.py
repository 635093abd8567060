"""Values that cross layers. Frozen, dumb, without NumPy: an owner elsewhere holds the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agentkit.when import When

Value = str | int | float | bool | None | tuple[Any, ...]
Args = Mapping[str, Value]


@dataclass(frozen=True)
class Utterance:
    """What somebody said or typed, and where."""

    text: str
    language: str | None = None
    """"en" or "zh"; None = detect from the text."""
    area: str | None = None
    """Area id of the speaker; None = unknown."""
    session: str = "default"
    user: str | None = None
    source: str = "cli"
    """Which edge it came in by: cli, http, voice, eval."""
    is_dry_run: bool = False
    """Understand and resolve, but execute nothing."""


@dataclass(frozen=True)
class Selector:
    """Which devices a clause speaks of, in words; `agent/resolve.py` turns it into device ids."""

    names: tuple[str, ...] = ()
    """Device names or aliases as the home spells them."""
    device_ids: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    """Area ids."""
    floors: tuple[str, ...] = ()
    """Floor ids."""
    types: tuple[str, ...] = ()
    """Device types, for example ("light",)."""
    device_class: str | None = None
    is_all: bool = False
    """Everything of the kind in the whole home was asked for, so the speaker's room is no default."""
    is_one: bool = False
    """One device was asked for, so of several it is asked which."""


@dataclass(frozen=True)
class Intent:
    """One tool call as understood, not yet bound to device ids."""

    tool: str
    args: Args = field(default_factory=dict)
    """Canonical argument names and values, without the selecting words."""
    selector: Selector = field(default_factory=Selector)


class Kind(StrEnum):
    """What an utterance was understood to be."""

    CALLS = "calls"
    ASK = "ask"
    REFUSE = "refuse"
    SAY = "say"
    NONE = "none"
    """This tier does not know; the next one may."""


@dataclass(frozen=True)
class Understanding:
    """The answer of one tier (template or model)."""

    kind: Kind
    intents: tuple[Intent, ...] = ()
    reply_key: str = ""
    """For ask, refuse and say: key of a sentence in the app's replies."""
    reply_values: Mapping[str, Any] = field(default_factory=dict)
    path: str = "none"
    """Which tier answered: template, model, dialogue, none."""
    why: str = ""
    """One line for people: what decided."""
    needs_confirmation: bool = False
    """Understood with too little evidence to act at once."""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    when: When | None = None
    """When the calls are due; None = now."""
    then: tuple[Understanding, ...] = ()
    """What else the sentence wants, each at a time of its own."""


@dataclass(frozen=True)
class Action:
    """One tool call bound to one device (None for tools that need no device)."""

    tool: str
    args: Args = field(default_factory=dict)
    device_id: str | None = None


class Status(StrEnum):
    """How an action ended, as read back from the device."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class ActionResult:
    """One action and what really came of it."""

    action: Action
    status: Status
    reason: str | None = None
    """Reply key of the failure (unavailable, ignored, timeout, error, unsupported, out_of_range …)."""
    detail: str = ""
    """One line for people and logs."""
    state: str | None = None
    """The device's state read back afterwards."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For questions: the values read, for the reply."""
    reply_key: str | None = None
    """Sentence that fits the facts, if the tool chose one."""


class Outcome(StrEnum):
    """What became of a turn."""

    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"
    ASK = "ask"
    REFUSED = "refused"
    ANSWER = "answer"
    SCHEDULED = "scheduled"
    NONE = "none"


@dataclass(frozen=True)
class Call:
    """A tool call with the devices it reached: what was understood, for the record."""

    tool: str
    args: Args
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Reply:
    """The end of one turn."""

    outcome: Outcome
    say: str
    session: str
    language: str
    path: str
    why: str
    calls: tuple[Call, ...] = ()
    actions: tuple[ActionResult, ...] = ()
    expects_reply: bool = False
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    """Always holds total; the stages are named after the loop's steps."""
    reasons: tuple[str, ...] = ()
    """Keys of the sentences that no result says: ask.confirm, refused.unknown_device."""

    @property
    def ok(self) -> bool:
        """True if everything asked for was done, answered or planned."""
        return self.outcome in (Outcome.DONE, Outcome.ANSWER, Outcome.SCHEDULED)
