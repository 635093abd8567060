"""The child process: opens a vendor's target and runs its steps until the host process is gone."""

from __future__ import annotations

import importlib
import json
import os
import select
import socket
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np

from agentkit.decoder.backend import Backend, Session
from agentkit.decoder.child_link import (
    DONE,
    STEP,
    Exchange,
    as_options,
    map_shared,
    opened_message,
    receive,
    send,
)
from agentkit.decoder.memory_pool import Pools


def main(handle: int, where: str) -> None:
    """Serve orders on the socket until it closes; `where` is module:attribute of the target."""
    threading.Thread(target=_end_with_host, args=(handle,), daemon=True).start()
    link = socket.socket(fileno=handle)
    module, _, attribute = where.partition(":")
    child: _Child | None = None
    while True:
        packet, handles = receive(link)
        if not packet:
            return
        try:
            child = child or _Child(cast(Backend, getattr(importlib.import_module(module), attribute)))
            if packet[:1] == b"S":
                child.step(packet)
                link.send(DONE)
            else:
                send(link, child.obey(json.loads(packet), handles))
        except Exception as err:  # noqa: BLE001 - an edge: the host process gets it
            send(link, {"error": type(err).__name__, "message": " ".join(str(err).split()) or type(err).__name__})


def _end_with_host(handle: int) -> None:
    """End the process once the host is gone, even while a target hangs."""
    poll = select.poll()
    poll.register(handle, 0)  # no event but the hang-up
    poll.poll()
    os._exit(0)


class _Child:
    def __init__(self, backend: Backend):
        self._backend = backend
        self._session: Session | None = None
        self._exchange: Exchange | None = None

    def obey(self, order: dict[str, Any], handles: list[int]) -> dict[str, Any]:
        """Carry out probe, plan, open or share."""
        if order["do"] == "probe":
            probe = self._backend.probe()
            return {"is_available": probe.is_available, "detail": probe.detail, "facts": dict(probe.facts)}
        if order["do"] == "share":
            assert self._session is not None, order
            self._exchange = Exchange(handles[0], self._session.spec, self._session.options)
            return {}
        checkpoint, options = Path(order["checkpoint"]), as_options(order["options"])
        sizes = self._backend.plan(checkpoint, options)
        if order["do"] == "plan":
            return asdict(sizes)
        pools = Pools.from_sizes(sizes)
        pools.cache.adopt(map_shared(handles[0], sizes.cache_bytes))
        session = self._backend.open(checkpoint, options, pools=pools, cache_dir=Path(order["cache_dir"]))
        self._session = session
        pools.seal()
        return opened_message(session.spec, layout=session.kv.layout.value, dtype=session.kv.data.dtype.name)

    def step(self, packet: bytes) -> None:
        """Run one step on the shared cache; the host process keeps the lengths and says them each time."""
        assert self._session is not None, packet
        assert self._exchange is not None, packet
        _, slot, n_cached, n_rows, n_valid = STEP.unpack(packet)
        self._session.kv.reset(slot)
        self._session.kv.commit(slot, n_cached)
        logits = self._session.step(self._exchange.token_ids[:n_rows], n_valid, slot=slot)
        np.copyto(self._exchange.logits, logits)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
