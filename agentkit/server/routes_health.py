"""Whether the process lives, whether it is ready, what runs where, and the counters."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, PlainTextResponse

from agentkit import __version__
from agentkit.host import Phase
from agentkit.server.metrics import rss_bytes
from agentkit.server.problems import answer, status_of

if TYPE_CHECKING:
    from agentkit.server.app import Service


def router(service: Service) -> APIRouter:
    """Build the routes."""
    routes = APIRouter(tags=["health"])
    host = service.host

    @routes.get("/livez")
    async def livez() -> dict[str, str]:
        """The process lives; says nothing about the model."""
        return {"status": "alive"}

    @routes.get("/readyz")
    async def readyz() -> JSONResponse:
        """200 after warm-up, 503 before."""
        if host.phase is Phase.READY:
            return JSONResponse({"status": "ready"})
        return answer(503, "NotReady", f"{host.name} is {host.phase}: {host.detail}")

    @routes.get("/healthz")
    async def healthz() -> JSONResponse:
        """Phase, target, fallback reason, pools, queue and memory."""
        return JSONResponse(health(service), status_of(host.phase))

    @routes.get("/v1/plan")
    async def plan() -> Mapping[str, Any]:
        """The chosen targets, every rejection with its reason, and the pools."""
        opened = host.opened()
        return {"plan": dict(opened.plan), "decoder": dict(opened.status())}

    @routes.get("/metrics")
    async def metrics() -> PlainTextResponse:
        """Counters as Prometheus text."""
        gauges = {
            "ready": float(host.phase is Phase.READY),
            "devices": float(len(host.registry.devices())),
            "queue_waiting": float(service.worker.n_waiting),
            "queue_running": float(service.worker.n_running),
            "uptime_seconds": time.monotonic() - host.started_at,
        }
        if host.phase is Phase.READY and (decoder := host.opened().status()):
            gauges["decoder_fallbacks"] = float(decoder.get("n_fallbacks", 0))
            gauges["decoder_on_fallback"] = float(decoder.get("fallback_reason") is not None)
        return PlainTextResponse(service.metrics.text(gauges), media_type="text/plain; version=0.0.4")

    return routes


def health(service: Service) -> dict[str, Any]:
    """What /healthz shows."""
    host = service.host
    return {
        "status": host.phase.value,
        "detail": host.detail,
        "app": host.name,
        "version": __version__,
        "uptime_s": round(time.monotonic() - host.started_at, 1),
        "n_devices": len(host.registry.devices()),
        "queue": {
            "running": service.worker.n_running,
            "waiting": service.worker.n_waiting,
            "max_waiting": service.worker.max_waiting,
        },
        "rss_mb": round(rss_bytes() / 2**20, 1),
        "decoder": dict(host.opened().status()) if host.phase is Phase.READY else None,
    }
