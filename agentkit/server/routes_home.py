"""GET /v1/home: the rooms that a command may come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

from agentkit.server.wire_home import HomeOut

if TYPE_CHECKING:
    from agentkit.server.app import Service


def router(service: Service) -> APIRouter:
    """Build the route."""
    routes = APIRouter(tags=["home"])

    @routes.get("/v1/home")
    async def home() -> HomeOut:
        """Rooms, floors and the room of the built-in speaker."""
        return HomeOut.from_registry(service.host.registry)

    return routes
