"""Devices on the home network that take commands over HTTP."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from agentkit.devices.adapter import Command, Device
from agentkit.devices.deadline import Deadline
from agentkit.devices.registry import Registry
from agentkit.devices.validate import Resolver, check_endpoint
from agentkit.errors import DeviceError, DeviceFaulty, DeviceSilent, DeviceUnavailable

DEFAULT_TIMEOUT_S = 2.0
MAX_BODY_BYTES = 65_536
MAX_PER_HOST = 8
"""Requests that one host gets at the same time; small devices take few."""
_NOT_SENT = (httpcore.ConnectError, httpcore.ConnectTimeout)
"""Failures before anything of the request left this machine."""
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError)


class RestAdapter:
    """Sends `POST endpoint {tool, args, change: {state, attributes}}` and reads back with `GET endpoint`.

    A device answers a GET with `{state, attributes, available}`; what it leaves out stays as last reported. The
    endpoint's address is checked at every call, so a name that moves out of the home network is not followed there.
    Every request has a connection of its own, which ends with the time limit whatever the device does, goes through no
    proxy and follows no redirect.
    """

    def __init__(
        self, registry: Registry, *, timeout_s: float = DEFAULT_TIMEOUT_S, resolve: Resolver | None = None
    ) -> None:
        self._registry = registry
        self._timeout_s = timeout_s
        self._resolve = resolve
        self._slots: dict[str, threading.BoundedSemaphore] = {}
        self._lock = threading.Lock()

    def apply(self, command: Command) -> None:
        """Send a command.

        Raises DeviceUnknown, DeviceUnavailable (it cannot be reached, so nothing happened), DeviceSilent (it was sent
        and neither obeyed nor refused in words), DeviceError (it said no).
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
        if available is not None and not isinstance(available, bool):
            raise DeviceError(
                f"device {device.id}: it answered available {str(available)[:60]!r}, wanted true or false"
            )
        return self._registry.report(
            device.id,
            state=None if state is None else str(state),
            attributes=attributes,
            is_available=available is not False,
        )

    def _call(self, device: Device, method: str, content: bytes | None) -> bytes:
        if device.endpoint is None:
            raise DeviceError(f"device {device.id}: it has no endpoint to send commands to")
        end = time.monotonic() + self._timeout_s
        address = check_endpoint(device.endpoint, self._resolve)
        try:
            with self._slot(device, urlsplit(device.endpoint).netloc, end):
                return self._send(device, _request(device.endpoint, address, method, content), end)
        except _NOT_SENT as err:
            raise DeviceUnavailable(f"device {device.id}: cannot be reached ({_reason(err)})") from err
        except httpcore.TimeoutException as err:
            raise self._silent(method, f"device {device.id}: no whole answer within {self._timeout_s:g} s") from err
        except _BROKEN as err:
            raise self._silent(method, f"device {device.id}: no whole answer ({_reason(err)})") from err

    def _silent(self, method: str, what: str) -> DeviceError:
        """A command may have been obeyed without an answer; a question without one tells that nobody is there."""
        if method == "GET":
            return DeviceUnavailable(what)
        return DeviceSilent(f"{what}; it may have carried out the command")

    @contextmanager
    def _slot(self, device: Device, host: str, end: float) -> Iterator[None]:
        """Wait until the host has few enough requests of ours."""
        with self._lock:
            slots = self._slots.setdefault(host, threading.BoundedSemaphore(MAX_PER_HOST))
        if not slots.acquire(timeout=max(0.0, end - time.monotonic())):
            raise DeviceUnavailable(f"device {device.id}: {host} is busy with {MAX_PER_HOST} other requests")
        try:
            yield
        finally:
            slots.release()

    def _send(self, device: Device, request: httpcore.Request, end: float) -> bytes:
        """Read the answer, at most MAX_BODY_BYTES and not after `end`."""
        body = bytearray()
        tls = self._tls if request.url.scheme == b"https" else None
        with httpcore.ConnectionPool(tls, network_backend=Deadline(end), max_connections=1) as pool:
            response = pool.handle_request(request)
            try:
                for chunk in response.iter_stream():  # never unpacked: a small answer must not become a large one
                    body += chunk
                    if len(body) > MAX_BODY_BYTES:
                        raise _faulty(request, f"device {device.id}: its answer is longer than {MAX_BODY_BYTES} bytes")
            finally:
                response.close()
        if not 200 <= response.status < 300:
            what = f"device {device.id}: it answered {response.status} {_excerpt(body)}".rstrip()
            raise DeviceError(what) if 400 <= response.status < 500 else _faulty(request, what)
        return bytes(body)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpcore.default_ssl_context()


def _request(endpoint: str, address: str, method: str, content: bytes | None) -> httpcore.Request:
    """Address the very IP that was checked; the name stays in Host and in the TLS handshake."""
    parts, url = urlsplit(endpoint), httpx.URL(endpoint).copy_with(host=address)
    headers = {"Host": parts.netloc, "Accept": "application/json", "Accept-Encoding": "identity"}
    headers |= {"Connection": "close"}
    if content is not None:
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
    return httpcore.Request(
        method,
        httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=list(headers.items()),
        content=content,
        extensions={"sni_hostname": parts.hostname} if parts.scheme == "https" else {},
    )


def _faulty(request: httpcore.Request, what: str) -> DeviceError:
    """An answer that neither obeys nor refuses: after a command, only reading back tells what happened."""
    return (
        DeviceFaulty(f"{what}; it may have carried out the command") if request.method == b"POST" else DeviceError(what)
    )


def _reason(err: Exception) -> str:
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
