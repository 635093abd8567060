"""POST /v1/command: one utterance in, one verified answer out."""

from __future__ import annotations

import asyncio
import secrets
import threading
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
        is_gone = threading.Event()
        try:
            reply, queue_ms = await service.worker.run(
                lambda: agent.handle(utterance, is_wanted=lambda: not is_gone.is_set()), key=utterance.session
            )
        except asyncio.CancelledError:  # the client hung up, or the server ends
            is_gone.set()
            raise
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
