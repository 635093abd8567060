"""Devices on the home network that take commands over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from agentkit.devices.adapter import Command, Device
from agentkit.devices.registry import Registry
from agentkit.devices.validate import Resolver, check_endpoint
from agentkit.errors import DeviceError, DeviceSilent, DeviceUnavailable

DEFAULT_TIMEOUT_S = 2.0
MAX_BODY_BYTES = 65_536
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
"""Failures before anything of the request left this machine."""


class RestAdapter:
    """Sends `POST endpoint {tool, args, change: {state, attributes}}` and reads back with `GET endpoint`.

    A device answers a GET with `{state, attributes, available}`; what it leaves out stays as last reported. The
    endpoint's address is checked at every call, so a name that moves out of the home network is not followed there.
    """

    def __init__(
        self, registry: Registry, *, timeout_s: float = DEFAULT_TIMEOUT_S, resolve: Resolver | None = None
    ) -> None:
        self._registry = registry
        self._timeout_s = timeout_s
        self._resolve = resolve
        # No proxies or .netrc from the environment: a command goes to the device or nowhere.
        self._client = httpx.Client(timeout=timeout_s, follow_redirects=False, trust_env=False)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def apply(self, command: Command) -> None:
        """Send a command.

        Raises DeviceUnknown, DeviceUnavailable (it cannot be reached, so nothing happened), DeviceSilent (it was sent
        and not answered), DeviceError (it said no).
        """
        device = self._registry.get(command.device_id)
        change = {"state": command.change.state, "attributes": dict(command.change.attributes)}
        body = {"tool": command.tool, "args": dict(command.args), "change": change}
        try:
            content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as err:
            raise DeviceError(f"device {device.id}: the command is not plain data ({err})") from err
        self._call(device, "POST", content)

    def read(self, device_id: str) -> Device:
        """Ask the device how it is and report that. Raises DeviceUnknown, DeviceUnavailable, DeviceError."""
        device = self._registry.get(device_id)
        said = _parse(device, self._call(device, "GET", None))
        state, attributes, available = said.get("state"), said.get("attributes"), said.get("available")
        if isinstance(state, bool) or not isinstance(state, str | int | float | None):
            raise DeviceError(f"device {device.id}: it answered state {str(state)[:60]!r}, wanted text")
        if attributes is not None and not isinstance(attributes, Mapping):
            raise DeviceError(f"device {device.id}: it answered attributes that are no mapping")
        return self._registry.report(
            device.id,
            state=None if state is None else str(state),
            attributes=attributes,
            is_available=available if isinstance(available, bool) else True,
        )

    def _call(self, device: Device, method: str, content: bytes | None) -> bytes:
        if device.endpoint is None:
            raise DeviceError(f"device {device.id}: it has no endpoint to send commands to")
        address = check_endpoint(device.endpoint, self._resolve)
        request = self._request(device.endpoint, address, method, content)
        try:
            return self._send(device, request)
        except _NOT_SENT as err:
            raise DeviceUnavailable(f"device {device.id}: cannot be reached ({_reason(err)})") from err
        except httpx.TimeoutException as err:
            raise self._silent(method, f"device {device.id}: no answer within {self._timeout_s:g} s") from err
        except httpx.HTTPError as err:
            raise self._silent(method, f"device {device.id}: no whole answer ({_reason(err)})") from err

    def _silent(self, method: str, what: str) -> DeviceError:
        """A command may have been obeyed without an answer; a question without one tells that nobody is there."""
        if method == "GET":
            return DeviceUnavailable(what)
        return DeviceSilent(f"{what}; it may have carried out the command")

    def _request(self, endpoint: str, address: str, method: str, content: bytes | None) -> httpx.Request:
        """Address the very IP that was checked; the name stays in Host and in the TLS handshake."""
        parts = urlsplit(endpoint)
        url = httpx.URL(endpoint).copy_with(host=address)
        headers = {"Host": parts.netloc, "Accept": "application/json", "Accept-Encoding": "identity"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        extensions = {"sni_hostname": parts.hostname} if parts.scheme == "https" else {}
        return self._client.build_request(method, url, headers=headers, content=content, extensions=extensions)

    def _send(self, device: Device, request: httpx.Request) -> bytes:
        """Read the answer, at most MAX_BODY_BYTES and not longer than the time limit."""
        deadline = time.monotonic() + self._timeout_s
        body = bytearray()
        response = self._client.send(request, stream=True)
        try:
            for chunk in response.iter_raw():  # never unpacked: a small answer must not become a large one
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise DeviceError(f"device {device.id}: its answer is longer than {MAX_BODY_BYTES} bytes")
                if time.monotonic() > deadline:
                    what = f"device {device.id}: no whole answer within {self._timeout_s:g} s"
                    raise self._silent(request.method, what)
        finally:
            response.close()
        if not response.is_success:
            raise DeviceError(f"device {device.id}: it answered {response.status_code} {_excerpt(body)}".rstrip())
        return bytes(body)


def _reason(err: httpx.HTTPError) -> str:
    return str(err) or type(err).__name__


def _parse(device: Device, body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except ValueError as err:
        raise DeviceError(f"device {device.id}: it answered {_excerpt(body) or 'nothing'}, wanted JSON") from err
    if not isinstance(said, dict):
        raise DeviceError(f"device {device.id}: it answered {_excerpt(body)}, wanted an object with state")
    return said


def _excerpt(body: bytes | bytearray) -> str:
    """First words of an answer, safe to print."""
    text = " ".join(bytes(body[:200]).decode("utf-8", "replace").split())
    return "".join(c for c in text if c.isprintable())[:80]
