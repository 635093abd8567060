"""A real HTTP server for one file, with ranges, validators and faults on demand."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    """One request as the server got it."""

    path: str
    range: str | None
    if_range: str | None
    authorization: str | None


@dataclass
class FileServer:
    """The file, and how the next answers go wrong (one fault per request, then none)."""

    content: bytes
    etag: str | None = '"v1"'
    has_ranges: bool = True
    faults: list[str] = field(default_factory=list)
    """drop:N = close after N bytes; status:N; length:N = announce N; long = send one byte more, unannounced; slow."""
    seen: list[Seen] = field(default_factory=list)
    url: str = ""
    release: threading.Event = field(default_factory=threading.Event)
    """`slow` answers wait for it after their first half."""


class Handler(BaseHTTPRequestHandler):
    state: FileServer

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        state, headers = self.state, self.headers
        state.seen.append(Seen(self.path, headers["Range"], headers["If-Range"], headers["Authorization"]))
        fault, _, amount = (state.faults.pop(0) if state.faults else "").partition(":")
        if fault == "status":
            self.send_response(int(amount))
            self.send_header("Retry-After", "1")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if fault == "redirect":
            self.send_response(302)
            self.send_header("Location", f"{state.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self._send_file(fault, amount)

    def _send_file(self, fault: str, amount: str) -> None:
        state = self.state
        match = re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
        is_partial = bool(match) and state.has_ranges and self.headers["If-Range"] == state.etag
        start = int(match[1]) if match and is_partial else 0
        body = state.content[start:]
        self.send_response(206 if is_partial else 200)
        if is_partial:
            self.send_header("Content-Range", f"bytes {start}-{len(state.content) - 1}/{len(state.content)}")
        if state.etag:
            self.send_header("ETag", state.etag)
        if fault != "long":
            self.send_header("Content-Length", amount if fault == "length" else str(len(body)))
        self.end_headers()
        self._send_body(fault, amount, body)

    def _send_body(self, fault: str, amount: str, body: bytes) -> None:
        self.close_connection = True
        if fault == "drop":
            body = body[: int(amount)]
        elif fault == "long":
            body += b"x"
        elif fault == "slow":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.state.release.wait(30)
            body = body[len(body) // 2 :]
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            return


@contextmanager
def serve(content: bytes) -> Iterator[FileServer]:
    """Serve the content on a free port for the time of the block."""
    state = FileServer(content)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"state": state}))
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        state.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
