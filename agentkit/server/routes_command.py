"""POST /v1/command: one utterance in, one verified answer out."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from fastapi import APIRouter

from agentkit.intake import check_utterance
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
        agent = service.host.agent()
        utterance = to_utterance(body)
        check_utterance(utterance, service.host.registry, max_chars=service.max_text_chars)
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
