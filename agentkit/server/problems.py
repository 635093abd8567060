"""Every error leaves the server as {"error": {"type", "message"}}, one line, with the status that fits."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from agentkit.errors import (
    AgentKitError,
    Busy,
    DeviceError,
    DeviceUnknown,
    NotReady,
    ScheduleError,
    ScheduleUnknown,
    TextTooLong,
    UtteranceError,
)
from agentkit.host import Phase

log = logging.getLogger("agentkit.server")
STATUS_OF: tuple[tuple[type[AgentKitError], int], ...] = (
    (Busy, 429),
    (NotReady, 503),
    (DeviceUnknown, 404),
    (DeviceError, 422),
    (ScheduleUnknown, 404),
    (ScheduleError, 503),
    (TextTooLong, 413),
    (UtteranceError, 422),
)
"""The first that fits counts."""
RETRY_AFTER_S = {429: "1", 503: "2"}


class Problem(AgentKitError):
    """A request that cannot be served, with its HTTP status."""

    def __init__(self, status: int, kind: str, message: str):
        self.status, self.kind = status, kind
        super().__init__(message)


def body_of(kind: str, message: str) -> dict[str, Any]:
    """The one shape of an error."""
    return {"error": {"type": kind, "message": " ".join(message.split())}}


def answer(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Build the response of an error; 429 and 503 tell when to come back."""
    retry = {"Retry-After": RETRY_AFTER_S[status]} if status in RETRY_AFTER_S else {}
    return JSONResponse(body_of(kind, message), status, headers={**retry, **(headers or {})})


def install(app: FastAPI) -> None:
    """Register the handlers of all errors."""
    app.add_exception_handler(AgentKitError, _on_own)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_bug)


async def _on_own(_: Request, err: Exception) -> JSONResponse:
    if isinstance(err, Problem):
        return answer(err.status, err.kind, str(err))
    for kind, status in STATUS_OF:
        if isinstance(err, kind):
            return answer(status, type(err).__name__, str(err))
    log.warning("request failed: %s", err)
    return answer(500, type(err).__name__, str(err))


async def _on_http(request: Request, err: Exception) -> JSONResponse:
    assert isinstance(err, HTTPException), err
    where = f"{request.method} {request.url.path}"
    if err.status_code == 404:
        return answer(404, "NotFound", f"{where}: no such route; GET /docs lists them all")
    if err.status_code == 405:
        allowed = (err.headers or {}).get("Allow", "")
        return answer(405, "MethodNotAllowed", f"{where}: this route takes {allowed}", err.headers)
    if err.status_code == 400:
        return answer(400, "InvalidJson", f'{where}: the body is not JSON; send an object such as {{"text": "…"}}')
    return answer(err.status_code, "RequestFailed", f"{where}: {err.detail}", err.headers)


async def _on_invalid(request: Request, err: Exception) -> JSONResponse:
    assert isinstance(err, RequestValidationError), err
    route = request.scope.get("route")
    known = _known_fields(getattr(route, "body_field", None))
    if unread := next((e for e in err.errors() if e["type"] == "json_invalid"), None):
        return answer(400, "InvalidJson", _explain(unread, known))
    return answer(422, "InvalidRequest", "; ".join(_explain(error, known) for error in err.errors()[:5]))


async def _on_bug(request: Request, err: Exception) -> JSONResponse:
    log.error("%s %s raised", request.method, request.url.path, exc_info=err)
    return answer(500, "Internal", f"internal error: {type(err).__name__}; the server's log has the details")


def _known_fields(body_field: Any) -> list[str]:
    model = getattr(getattr(body_field, "field_info", None), "annotation", None)
    return list(getattr(model, "model_fields", {}))


def _explain(error: Mapping[str, Any], known: Sequence[str]) -> str:
    place = ".".join(str(part) for part in error["loc"][1:]) or "body"
    kind = error["type"]
    if kind == "json_invalid":
        return f"body: not JSON ({error.get('ctx', {}).get('error', 'syntax error')}); send one object in UTF-8"
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known fields are {', '.join(known)}"
        return f"{place}: not a known field; {hint}"
    if kind == "missing":
        return f"{place}: missing" if place != "body" else "body: missing; send JSON with content-type application/json"
    if kind in ("model_attributes_type", "dict_type", "model_type") and place == "body":
        return "body: not a JSON object; send it with content-type application/json"
    got = error.get("input")
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}{_shown(got) if kind != 'value_error' else ''}"


def _shown(value: Any) -> str:
    if isinstance(value, str | int | float | bool) or value is None:
        return f", got {json.dumps(value, ensure_ascii=True)[:60]}"
    return ""


def status_of(phase: Phase) -> int:
    """HTTP status of a readiness question."""
    return 200 if phase is Phase.READY else 503
