"""One connection of a client: how long it may take to ask, and who has to go when there are too many.

All clients of a loopback server share one address, so they are told apart by what they do: a connection that is yet to
send its whole request makes room for a new one, a request that is being answered never does.
"""

from __future__ import annotations

import asyncio
import json

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from agentkit.server.problems import body_of

BACKLOG = 128
"""Connections that are taken before those taken earlier are read from."""
MAX_CONNECTIONS = 4 * BACKLOG
"""Enough that one which asks at once is read from before newer ones could push it out."""
HEADER_TIMEOUT_S = 5.0
"""From the first byte of a request, or from the connection, to the end of the headers."""


class Connection(H11Protocol):
    """Uvicorn's connection, with a time limit on headers, and with its own errors as JSON too."""

    max_connections = MAX_CONNECTIONS
    header_timeout_s = HEADER_TIMEOUT_S
    _timer: asyncio.TimerHandle | None = None
    _idle_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock, and end the connection that has idled longest if there are too many."""
        super().connection_made(transport)
        self._wait_for_headers()
        if len(self.connections) > self.max_connections:
            idle = [c for c in self.connections if isinstance(c, Connection) and c is not self and not c.is_answering]
            if idle:
                oldest = min(idle, key=lambda c: c._idle_since)
                oldest.transport.abort()
                self.connections.discard(oldest)  # now, not when the loop comes to it: many may arrive before that
            else:
                self._refuse(503, "Busy", f"{self.max_connections} requests are being answered; try again in a second")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; those of a request whose headers are not complete yet do not extend its time."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._wait_for_headers()
        else:
            self._stop()

    def on_response_complete(self) -> None:
        """Count from now how long the connection idles."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP in the shape of every error."""
        self._refuse(400, "InvalidHttp", "this is no valid HTTP/1.1 request; see GET /docs")

    @property
    def is_answering(self) -> bool:
        """True from the last byte of a request to the end of its answer."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def _wait_for_headers(self) -> None:
        if self._timer is None:
            self._idle_since = self.loop.time()
            self._timer = self.loop.call_later(self.header_timeout_s, self._too_slow)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        if self.conn.trailing_data[0]:
            message = f"the headers did not arrive within {self.header_timeout_s:g} s"
            self._refuse(408, "RequestTimeout", message)
        self.transport.close()

    def _refuse(self, status: int, kind: str, message: str) -> None:
        """Answer without a route, and hang up."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE) or self.transport.is_closing():
            self.transport.close()  # an answer is under way already
            return
        headers = [("content-type", "application/json"), ("connection", "close")]
        headers += [("retry-after", "1")] if status == 503 else []
        content = json.dumps(body_of(kind, message)).encode()
        events = (h11.Response(status_code=status, headers=headers), h11.Data(data=content), h11.EndOfMessage())
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
