"""A network connection whose every wait ends at one moment, however the other side drips."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpcore


@dataclass(frozen=True)
class Deadline(httpcore.NetworkBackend):
    """Opens connections that raise httpcore's timeouts at `end`, on the monotonic clock."""

    end: float

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect in the time that is left."""
        left_s = _left_s(self.end, httpcore.ConnectTimeout)
        stream = httpcore.SyncBackend().connect_tcp(host, port, left_s, local_address, socket_options)
        return _Stream(stream, self.end)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, end: float):
        self._stream, self._end = stream, end

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left_s(self._end, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left_s(self._end, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left_s = _left_s(self._end, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left_s), self._end)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left_s(end: float, error: type[httpcore.TimeoutException]) -> float:
    left_s = end - time.monotonic()
    if left_s <= 0:
        raise error("the time was up")
    return left_s
