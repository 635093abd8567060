"""Devices register themselves, report their state, are read, commanded and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Response

from agentkit.devices.adapter import Device
from agentkit.errors import DeviceUnknown
from agentkit.server.problems import Problem
from agentkit.server.wire import (
    ActionIn,
    ActionOut,
    DeviceIn,
    DeviceOut,
    DevicePatch,
    DeviceReplace,
    changed,
    new_device,
)

if TYPE_CHECKING:
    from agentkit.server.app import Service


def router(service: Service) -> APIRouter:
    """Build the routes. They work while the model still warms up; only actions need the agent."""
    routes = APIRouter(prefix="/v1/devices", tags=["devices"])
    registry = service.host.registry

    def find(device_id: str) -> Device | None:
        try:
            return registry.get(device_id)
        except DeviceUnknown:
            return None

    async def put(device: Device) -> DeviceOut:
        saved, _ = await service.writer.run(lambda: registry.upsert(device))
        return DeviceOut.from_device(saved)

    @routes.get("")
    async def list_devices() -> list[DeviceOut]:
        """Every device as last read."""
        return [DeviceOut.from_device(device) for device in registry.devices()]

    @routes.post("", status_code=201)
    async def register(body: DeviceIn, response: Response) -> DeviceOut:
        """Register a device; a known one keeps what it does not say again (200)."""
        known = find(body.id)
        response.status_code = 201 if known is None else 200
        response.headers["Location"] = f"/v1/devices/{body.id}"
        return await put(new_device(body, known))

    @routes.get("/{device_id}")
    async def read_device(device_id: str) -> DeviceOut:
        """One device as last read."""
        return DeviceOut.from_device(registry.get(device_id))

    @routes.put("/{device_id}")
    async def replace(device_id: str, body: DeviceReplace, response: Response) -> DeviceOut:
        """Register a device under this id, replacing all that was known of it."""
        if body.id not in (None, device_id):
            raise Problem(422, "InvalidRequest", f"id: {body.id!r} is not the {device_id!r} of the path; send the same")
        response.status_code = 201 if find(device_id) is None else 200
        return await put(new_device(body, device_id=device_id))

    @routes.patch("/{device_id}")
    async def report(device_id: str, body: DevicePatch) -> DeviceOut:
        """Take a state report, or a new name, room or address."""
        device = registry.get(device_id)
        renamed = changed(device, body)
        if renamed != device:
            await put(renamed)
        reported = registry.report(device_id, state=body.state, attributes=body.attributes, is_available=body.available)
        return DeviceOut.from_device(reported)

    @routes.delete("/{device_id}", status_code=204)
    async def remove(device_id: str) -> None:
        """Forget a device."""
        await service.writer.run(lambda: registry.remove(device_id))

    @routes.post("/{device_id}/actions")
    async def act(device_id: str, body: ActionIn) -> ActionOut:
        """Run one action without language, under the same policy."""
        agent = service.host.agent()
        registry.get(device_id)
        result, _ = await service.worker.run(lambda: agent.act(device_id, body.tool, body.args), key=f"/{device_id}")
        return ActionOut.from_result(result)

    return routes
