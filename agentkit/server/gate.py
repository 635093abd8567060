"""What every request passes before a route sees it: who may ask, how much may be sent, is it text at all."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentkit.server.problems import Problem, answer

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
LOCAL_NAMES = ("localhost", "localhost.")


@dataclass(frozen=True)
class Limits:
    """Bounds of one request."""

    max_body_bytes: int = 64 * 1024
    drain_bytes: int = 1024 * 1024
    """An oversized body is read up to here, so that the client gets to see the 413 instead of a reset."""
    body_timeout_s: float = 10.0


class Gate:
    """ASGI middleware; it buffers the (small) body, so no route ever sees half a request."""

    def __init__(self, app: ASGIApp, limits: Limits, on_status: Callable[[int], None]):
        self._app = app
        self._limits = limits
        self._on_status = on_status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        is_answered = False

        async def counted(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
                self._on_status(message["status"])
            await send(message)

        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            check_host(headers.get(b"host", ""))
            if scope["method"] not in SAFE_METHODS:
                check_origin(headers.get(b"origin"), headers.get(b"sec-fetch-site"), headers.get(b"host", ""))
            body = await self._read(headers.get(b"content-length"), receive)
            check_text(body)
        except Problem as problem:
            refusal = answer(problem.status, problem.kind, str(problem), {"Connection": "close"})
            await refusal(scope, receive, counted)
        except ConnectionResetError:
            return
        else:
            watched = asyncio.ensure_future(_hung_up(receive))
            try:
                await self._pass(scope, _replay(body, receive), counted, watched, is_answered=lambda: is_answered)
            finally:
                watched.cancel()

    async def _pass(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        hung_up: asyncio.Future[None],
        *,
        is_answered: Callable[[], bool],
    ) -> None:
        """Run the app, and cancel it if the client hangs up before there is an answer."""
        running = asyncio.ensure_future(self._app(scope, receive, send))
        try:
            await asyncio.wait((running, hung_up), return_when=asyncio.FIRST_COMPLETED)
            if not is_answered():
                running.cancel()
            # what a route raised unexpectedly is answered and logged by then (problems.py)
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await running
        except asyncio.CancelledError:  # the server ends and has waited long enough
            running.cancel()
            if not is_answered():
                message = "the server ends before the command did; whether it was carried out is unknown"
                await answer(503, "ShuttingDown", message, {"Connection": "close"})(scope, receive, send)

    async def _read(self, declared: str | None, receive: Receive) -> bytes:
        limits = self._limits
        if declared is not None and declared.isdigit() and int(declared) > limits.drain_bytes:
            raise too_large(int(declared), limits.max_body_bytes)
        chunks: list[bytes] = []
        try:
            async with asyncio.timeout(limits.body_timeout_s):
                n_bytes = await self._collect(chunks, receive)
        except TimeoutError:
            raise Problem(
                408, "RequestTimeout", f"the body did not arrive within {limits.body_timeout_s:g} s"
            ) from None
        if n_bytes > limits.max_body_bytes:
            raise too_large(n_bytes, limits.max_body_bytes)
        return b"".join(chunks)

    async def _collect(self, chunks: list[bytes], receive: Receive) -> int:
        n_bytes, has_more = 0, True
        while has_more and n_bytes <= self._limits.drain_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionResetError
            part = message.get("body", b"")
            n_bytes, has_more = n_bytes + len(part), message.get("more_body", False)
            if n_bytes <= self._limits.max_body_bytes:
                chunks.append(part)
        return n_bytes


def too_large(n_bytes: int, max_bytes: int) -> Problem:
    """The 413 with both sizes."""
    return Problem(413, "BodyTooLarge", f"the body has {n_bytes} bytes, at most {max_bytes} are taken; send less")


def check_host(host: str) -> None:
    """Refuse names that are not this machine's: a page under a foreign name would be let in by DNS rebinding."""
    name = _parts(f"//{host}")[0]
    if not is_loopback(name):
        shown = name or "(none)"
        raise Problem(403, "Forbidden", f"host {shown!r} is not this machine; use http://127.0.0.1 or http://localhost")


def check_origin(origin: str | None, fetch_site: str | None, host: str) -> None:
    """Refuse a browser that acts for another site; programs send no Origin at all."""
    if fetch_site in ("cross-site", "same-site"):
        raise Problem(403, "Forbidden", "a page of another site may not send commands")
    if origin is not None and _parts(origin)[1] != host.lower():
        raise Problem(403, "Forbidden", f"origin {origin[:80]!r} is another site; it may not send commands")


def check_text(body: bytes) -> None:
    """Refuse what is not UTF-8, with the place."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as err:
        raise Problem(400, "NotUtf8", f"the body is not UTF-8 (byte {err.start}); send JSON in UTF-8") from None


def is_loopback(name: str) -> bool:
    """True for localhost and the loopback addresses."""
    if name.lower() in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _parts(url: str) -> tuple[str, str]:
    """Host name and host:port, in lower case; empty if it is not a URL."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.netloc.lower()
    except ValueError:
        return "", ""


async def _hung_up(receive: Receive) -> None:
    """Wait until the client ends the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _replay(body: bytes, receive: Receive) -> Receive:
    pending: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def replay() -> Message:
        return next(pending, None) or await receive()

    return replay
