"""Devices register themselves, report their state, are read, commanded and removed."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi import APIRouter, Response

from agentkit.devices.adapter import Device
from agentkit.devices.registry import Build
from agentkit.devices.validate import short
from agentkit.server.problems import Problem
from agentkit.server.wire import (
    ActionIn,
    ActionOut,
    DeviceIn,
    DeviceOut,
    DevicePatch,
    DeviceReplace,
    changed,
    is_only_report,
    new_device,
)
from agentkit.types import ActionResult

if TYPE_CHECKING:
    from agentkit.server.app import Service


def router(service: Service) -> APIRouter:
    """Build the routes. They work while the model still warms up; only actions need the agent."""
    routes = APIRouter(prefix="/v1/devices", tags=["devices"])
    registry = service.host.registry

    async def put(device_id: str, build: Build) -> tuple[DeviceOut, bool]:
        """Register a device; also tell whether it is new."""
        was_known = False

        def seen(known: Device | None) -> Device:
            nonlocal was_known
            was_known = known is not None
            return build(known)

        saved, _ = await service.writer.run(lambda: registry.register(device_id, seen))
        return DeviceOut.from_device(saved), not was_known

    @routes.get("")
    async def list_devices() -> list[DeviceOut]:
        """Every device as last read."""
        return [DeviceOut.from_device(device) for device in registry.devices()]

    @routes.post("", status_code=201)
    async def register(body: DeviceIn, response: Response) -> DeviceOut:
        """Register a device; a known one keeps what it does not say again (200)."""
        saved, is_new = await put(body.id, lambda known: new_device(body, known))
        response.status_code = 201 if is_new else 200
        response.headers["Location"] = f"/v1/devices/{quote(saved.id)}"
        return saved

    @routes.get("/{device_id}")
    async def read_device(device_id: str) -> DeviceOut:
        """One device as last read."""
        return DeviceOut.from_device(registry.get(device_id))

    @routes.put("/{device_id}")
    async def replace(device_id: str, body: DeviceReplace, response: Response) -> DeviceOut:
        """Register a device under this id, replacing all that was known of it."""
        if body.id not in (None, device_id):
            message = f"id: {short(body.id)} is not the {short(device_id)} of the path; send the same"
            raise Problem(422, "InvalidRequest", message)
        saved, is_new = await put(device_id, lambda _: new_device(body, device_id=device_id))
        response.status_code = 201 if is_new else 200
        return saved

    @routes.patch("/{device_id}")
    async def report(device_id: str, body: DevicePatch) -> DeviceOut:
        """Take a state report, or a new name, room or address."""
        if is_only_report(body):
            return DeviceOut.from_device(
                registry.report(device_id, state=body.state, attributes=body.attributes, is_available=body.available)
            )

        def build(known: Device | None) -> Device:
            return changed(known or registry.get(device_id), body)  # get: raises that there is none

        saved, _ = await put(device_id, build)
        return saved

    @routes.delete("/{device_id}", status_code=204)
    async def remove(device_id: str) -> None:
        """Forget a device."""
        await service.writer.run(lambda: registry.remove(device_id))

    @routes.post("/{device_id}/actions")
    async def act(device_id: str, body: ActionIn) -> ActionOut:
        """Run one action without language, under the same policy."""
        agent = service.host.agent()
        registry.get(device_id)
        is_gone = threading.Event()

        def run() -> ActionResult:
            return agent.act(device_id, body.tool, body.args, is_wanted=lambda: not is_gone.is_set())

        try:
            result, _ = await service.worker.run(run, key=f"/{device_id}")
        except asyncio.CancelledError:  # the client hung up, or the server ends: what is not sent yet is not sent
            is_gone.set()
            raise
        return ActionOut.from_result(result)

    return routes
