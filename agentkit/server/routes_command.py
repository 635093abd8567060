"""POST /v1/command: one utterance in, one verified answer out."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from fastapi import APIRouter

from agentkit.devices.registry import Registry
from agentkit.server.problems import Problem
from agentkit.server.wire import CommandIn, CommandOut
from agentkit.types import Utterance

if TYPE_CHECKING:
    from agentkit.server.app import Service


def router(service: Service) -> APIRouter:
    """Build the route."""
    routes = APIRouter(tags=["command"])

    @routes.post("/v1/command")
    async def command(body: CommandIn) -> CommandOut:
        """Understand one utterance, act, verify and answer. "Understood but cannot" is 200 with ok false."""
        check_length(body.text, service.max_text_chars)
        agent = service.host.agent()
        check_area(body.area, service.host.registry)
        utterance = to_utterance(body)
        reply, queue_ms = await service.worker.run(lambda: agent.handle(utterance))
        service.metrics.count_turn(reply)
        return CommandOut.from_reply(reply, queue_ms=queue_ms)

    return routes


def to_utterance(body: CommandIn) -> Utterance:
    """Build the utterance; without a session it gets one of its own, so that strangers share no dialogue."""
    return Utterance(
        text=body.text,
        language=body.language,
        area=body.area,
        session=body.session or secrets.token_urlsafe(9),
        user=body.user,
        source="http",
        is_dry_run=body.dry_run,
    )


def check_length(text: str, max_chars: int) -> None:
    """Refuse a text that is too long, with both sizes. Raises Problem."""
    if len(text) > max_chars:
        raise Problem(413, "TextTooLong", f"text has {len(text)} characters, at most {max_chars} are taken; say less")


def check_area(area: str | None, registry: Registry) -> None:
    """Refuse a room that the home does not have. Raises Problem."""
    known = [known.id for known in registry.areas]
    if area is not None and area not in known:
        raise Problem(
            422, "InvalidRequest", f"area: {area!r} is not an area of this home; areas are {', '.join(known)}"
        )
