"""A lamp on the network: a real HTTP server that takes commands, or does not."""

from __future__ import annotations

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Mood = Literal["obeys", "ignores", "hangs", "lags"]
LAG_S = 1.5
"""Longer than a device should need, shorter than it may."""


class LittleDevice:
    """Owns the lamp's state.

    `ignores` answers 200 and does nothing; `hangs` never answers a command; `lags` moves after LAG_S.
    """

    def __init__(self, mood: Mood = "obeys"):
        self.mood = mood
        self.state = "off"
        self.commands: list[dict[str, Any]] = []
        self.got_command = threading.Event()
        self._end = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/command"

    def registration(self, device_id: str, name: str, **fields: Any) -> dict[str, Any]:
        """What the lamp sends to register itself."""
        return {"id": device_id, "name": name, "type": "light", "state": "off", "endpoint": self.endpoint, **fields}

    def close(self) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _take(self, command: dict[str, Any]) -> None:
        self.commands.append(command)
        self.got_command.set()
        if self.mood == "hangs":
            self._end.wait(30)
            raise ConnectionAbortedError
        wanted = command["change"]["state"]
        if self.mood == "obeys" and wanted is not None:
            self.state = wanted
        if self.mood == "lags":
            threading.Timer(LAG_S, setattr, (self, "state", wanted)).start()

    def _handler(device: LittleDevice) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer({"state": device.state})

            def do_POST(self) -> None:
                with contextlib.suppress(ConnectionAbortedError):
                    device._take(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                    self._answer({"ok": True})

            def _answer(self, body: dict[str, Any]) -> None:
                content = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
