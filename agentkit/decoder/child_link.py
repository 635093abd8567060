"""What a host process and the child that runs a vendor's target say to each other.

Orders and answers are JSON, one per packet; a step is a few packed numbers, its ids and logits lie in shared memory, as
does the cache. So the child may die at any moment and everything a replay needs is still here.
"""

from __future__ import annotations

import json
import mmap
import os
import socket
import struct
from dataclasses import asdict
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agentkit.decoder.backend import DecoderSpec, Logits, SessionOptions, TokenIds

STEP: Final = struct.Struct("<cqqqq")
"""b"S", slot, committed rows, rows of the step, valid ones."""
DONE: Final = b"K"
_MAX_PACKET: Final = 64 * 1024


class Exchange:
    """The shared memory of one session: ids in, logits out."""

    def __init__(self, handle: int, spec: DecoderSpec, options: SessionOptions):
        n_ids, n_logits = options.buckets[-1], spec.vocab_size
        block = map_shared(handle, exchange_bytes(spec, options))
        self.token_ids: TokenIds = block[: 8 * n_ids].view(np.int64)  # [max bucket] i64
        self.logits: Logits = block[8 * n_ids : 8 * n_ids + 4 * n_logits].view(np.float32)  # [vocab_size] f32


def exchange_bytes(spec: DecoderSpec, options: SessionOptions) -> int:
    """Size of the exchange."""
    return 8 * options.buckets[-1] + 4 * spec.vocab_size


def make_shared(name: str, n_bytes: int) -> int:
    """Make memory that can be handed to another process; returns its descriptor."""
    handle = os.memfd_create(f"agentkit-{name}")
    os.ftruncate(handle, n_bytes)
    return handle


def map_shared(handle: int, n_bytes: int) -> NDArray[np.uint8]:
    """Map shared memory; it lives as long as a view of it."""
    return np.frombuffer(mmap.mmap(handle, n_bytes), np.uint8)


def send(link: socket.socket, message: dict[str, Any], handles: tuple[int, ...] = ()) -> None:
    """Send one order or answer, with descriptors."""
    packet = json.dumps(message).encode()
    if handles:
        socket.send_fds(link, [packet], list(handles))
    else:
        link.send(packet)


def receive(link: socket.socket) -> tuple[bytes, list[int]]:
    """Return the next packet, empty once the other side is gone, and the descriptors that came with it."""
    packet, handles, _, _ = socket.recv_fds(link, _MAX_PACKET, 2)
    return packet, list(handles)


def as_options(raw: dict[str, Any]) -> SessionOptions:
    """Read options back from JSON."""
    return SessionOptions(**{**raw, "buckets": tuple(raw["buckets"]), "cores": tuple(raw["cores"])})


def opened_message(spec: DecoderSpec, *, layout: str, dtype: str) -> dict[str, Any]:
    """What the child answers once the target is open."""
    return {"spec": asdict(spec), "layout": layout, "dtype": dtype}
