"""Listens, starts the host in a thread beside the event loop, and ends within three seconds whatever hangs."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator

import uvicorn

from agentkit.errors import AddressInUse, ServerError
from agentkit.host import Host
from agentkit.server.app import Service, make_app
from agentkit.server.connection import BACKLOG, Connection
from agentkit.server.gate import is_loopback
from agentkit.startup import settle_memory

GRACE_S = 1
"""How long running requests may go on after a signal."""
DEADLINE_S = 2.0
"""When the process ends after a signal, even if something hangs."""

log = logging.getLogger("agentkit.server")


def bind(address: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 takes a free one. Raises AddressInUse, ServerError."""
    if not is_loopback(address):
        raise ServerError(
            f"--host {address}: only loopback addresses are served, because access tokens do not exist yet; "
            "use --host 127.0.0.1 (and for example an SSH tunnel)"
        )
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(BACKLOG)
    except OSError as err:
        listener.close()
        if err.errno == errno.EADDRINUSE:
            raise AddressInUse(
                f"{address}:{port} is in use by another process; stop that one or choose another with --port {port + 1}"
            ) from err
        raise ServerError(
            f"cannot listen on {address}:{port}: {err.strerror}; choose another --host or --port"
        ) from err
    return listener


def url_of(listener: socket.socket) -> str:
    """The address for people."""
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handling, which would re-raise the signal before state is saved."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(service: Service, listener: socket.socket, *, on_ready: Callable[[], None]) -> int:
    """Serve until a signal or a failed start-up; return the exit code: 1 if the last states could not be saved.

    The caller's process should end with `leave(code)` afterwards: a thread may still hang in a handler.
    """
    config = uvicorn.Config(
        make_app(service),
        http=Connection,
        loop="asyncio",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=15,
        backlog=BACKLOG,
    )
    server = _Server(config)
    failure: list[BaseException] = []

    def start() -> None:
        try:
            service.host.start()
            settle_memory()
            if not server.should_exit:
                on_ready()
        except BaseException as err:  # noqa: BLE001 - an edge: handed to the main thread, which raises it
            failure.append(err)
            server.should_exit = True

    with _signals(server, service.host):
        threading.Thread(target=start, name="start-up", daemon=True).start()
        asyncio.run(server.serve(sockets=[listener]))
        service.host.close()
        is_saved = service.host.registry.close()
    if failure:
        raise failure[0]
    return 0 if is_saved else 1


@contextlib.contextmanager
def _signals(server: uvicorn.Server, host: Host) -> Iterator[None]:
    def stop(_signal: int, _frame: object) -> None:
        if not server.should_exit:
            server.should_exit = True
            timer = threading.Timer(DEADLINE_S, _cut, (host,))
            timer.daemon = True
            timer.start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _cut(host: Host) -> None:
    is_saved = host.registry.close()
    log.warning("something still hangs; leaving without it")
    leave(0 if is_saved else 1)


def leave(code: int) -> None:
    """End the process without waiting for threads that may hang in a handler or in native code."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
