"""Asks the server that owns an app's state, as `ask` and `chat` would ask an agent of their own."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

import httpx

from agentkit.devices.adapter import Area, Device
from agentkit.errors import ServerError, UtteranceError
from agentkit.intake import check_area
from agentkit.server.wire import ActionOut, CommandOut, DeviceOut
from agentkit.server.wire_home import HomeOut
from agentkit.state import Announced
from agentkit.types import Action, ActionResult, Call, Outcome, Reply, Status, Utterance

Read = TypeVar("Read")

TIMEOUT_S = 60.0
"""A turn waits for those before it, and may need the model."""
PROBE_S = 3.0
"""Whether a server is there at all shows at once, however busy it is."""


class RemoteTalk:
    """A conversation with a running server; close it, or use it in a with statement."""

    def __init__(self, server: Announced, name: str, *, timeout_s: float = TIMEOUT_S):
        self.name = name
        self._server, self._timeout_s = server, timeout_s
        self._client = httpx.Client(base_url=server.url, timeout=timeout_s, trust_env=False)

    def __enter__(self) -> RemoteTalk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def handle(self, utterance: Utterance) -> Reply:
        """Send one utterance. Raises UtteranceError if it is not taken, ServerError if there is no answer."""
        self._call("GET", "/livez")
        body = {
            "text": utterance.text,
            "area": utterance.area,
            "session": utterance.session,
            "dry_run": utterance.is_dry_run,
        }
        said = self._call("POST", "/v1/command", {key: value for key, value in body.items() if value is not None})
        return _reply(self._read(CommandOut.model_validate, said))

    def devices(self) -> tuple[Device, ...]:
        """Every device as the server last read it."""
        rows = self._call("GET", "/v1/devices")
        return self._read(lambda said: tuple(_device(DeviceOut.model_validate(row)) for row in said), rows)

    def check_area(self, area: str | None) -> None:
        """Raise UtteranceError if the server's home has no such room."""
        home = self._read(HomeOut.model_validate, self._call("GET", "/v1/home"))
        check_area(area, [Area(a.id, a.name, tuple(a.aliases), a.floor) for a in home.areas])

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        server = self._server
        timeout_s = self._timeout_s if method == "POST" else min(self._timeout_s, PROBE_S)
        try:
            response = self._client.request(method, path, json=body, timeout=timeout_s)
            said = response.json()
        except httpx.TimeoutException as err:
            what = "whether it was carried out is unknown" if method == "POST" else "start it again, or stop it"
            raise ServerError(
                f"{server.url}: the server (process {server.pid}) did not answer within {timeout_s:g} s; {what}"
            ) from err
        except (httpx.HTTPError, ValueError) as err:
            reason = str(err) or type(err).__name__
            raise ServerError(
                f"{server.url}: the server (process {server.pid}) that owns the home does not answer ({reason}); "
                "start it again, or stop it"
            ) from err
        if response.is_success:
            return said
        message = said.get("error", {}).get("message") if isinstance(said, dict) else None
        if response.status_code in (413, 422) and message:
            raise UtteranceError(message)
        raise ServerError(f"{server.url}: {message or f'the server answered {response.status_code}'}")

    def _read(self, read: Callable[[Any], Read], said: Any) -> Read:
        try:
            return read(said)
        except (TypeError, ValueError) as err:
            raise ServerError(
                f"{self._server.url}: the server answered something else than agentkit does; is it of another version?"
            ) from err


def _reply(out: CommandOut) -> Reply:
    return Reply(
        Outcome(out.outcome),
        out.say,
        out.session,
        out.language,
        out.path,
        out.why,
        tuple(Call(c.tool, c.args, tuple(c.targets)) for c in out.calls),
        tuple(_result(a) for a in out.actions),
        out.expects_reply,
        out.timing_ms,
    )


def _result(out: ActionOut) -> ActionResult:
    action = Action(out.tool, out.args, out.device_id)
    return ActionResult(action, Status(out.status), out.reason, out.detail or "", out.state, dict(out.attributes or {}))


def _device(out: DeviceOut) -> Device:
    return Device(
        out.id,
        out.name,
        out.type,
        out.area,
        tuple(out.aliases),
        out.state,
        out.attributes,
        out.available,
        out.endpoint,
    )
