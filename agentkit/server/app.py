"""Builds the ASGI application: gate, routes, errors. It holds no logic of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import FastAPI
from starlette.types import ASGIApp

from agentkit import __version__
from agentkit.config import Limits as AppLimits
from agentkit.host import Host
from agentkit.server import pages, problems, routes_command, routes_devices, routes_health, routes_home, routes_schedule
from agentkit.server.gate import Gate, Limits
from agentkit.server.metrics import Metrics
from agentkit.server.worker import Worker

N_TURNS = 64
"""Turns at once. Understanding is one at a time, but many may wait for the model or slow devices, each in its line."""


@dataclass(frozen=True)
class Service:
    """All that a route may use."""

    host: Host
    worker: Worker = field(default_factory=lambda: Worker(n_threads=N_TURNS))
    """Runs turns and actions; those of one session or device in the order they come."""
    writer: Worker = field(default_factory=Worker)
    """Runs what changes the registry: it writes to disk and may ask a name server."""
    metrics: Metrics = field(default_factory=Metrics)
    limits: Limits = field(default_factory=Limits)
    max_text_chars: int = AppLimits.max_text_chars


def make_app(service: Service) -> ASGIApp:
    """Build the application around a host that may still be starting."""
    app = FastAPI(title=f"agentkit · {service.host.name}", version=__version__, docs_url=None, redoc_url=None)
    problems.install(app)
    app.include_router(routes_command.router(service))
    app.include_router(routes_devices.router(service))
    app.include_router(routes_schedule.router(service))
    app.include_router(routes_health.router(service))
    app.include_router(routes_home.router(service))
    app.include_router(pages.router())
    return Gate(app, service.limits, service.metrics.count_response)
