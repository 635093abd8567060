"""The packed file: a page that says what it is, then the tensors; mapped, the file is the weights.

It is written beside its place, flushed and renamed, and its checksum is compared whenever it is opened: a damaged,
cut-off or foreign file is packed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import Checkpoint
from agentkit.compiler.leftovers import delete_files, outdated
from agentkit.compiler.whole_file import whole_file
from agentkit.decoder.identity import identity
from agentkit.errors import CheckpointError
from runtimes.af_native.layout import PAGE, Layout
from runtimes.af_native.library import Library
from runtimes.af_native.packing import pack_matrix

MAGIC = b"AFNATIVE"
VERSION = 1
"""Raised whenever the same checkpoint packs to other bytes."""
_HEADER = struct.Struct("<8sQ32s32s")
"""Magic, bytes of all tensors, digest of the key, checksum of the tensors."""
_PREFIX = ".packing-"
LEFT_BEHIND_S = 3600
"""Nobody packs for so long: what is older was killed."""
Weights = NDArray[np.uint8]


def ensure_packed(
    checkpoint: Checkpoint, layout: Layout, precision: str, *, library: Library, cache_dir: Path
) -> Weights:
    """Map the packed tensors as [n_bytes] u8, packing now if need be. Raises CheckpointError."""
    key = _key(checkpoint, layout, precision)
    path = cache_dir / f"{checkpoint.path.resolve().stem}-{precision}-{key.hex()[:16]}.af"
    weights = _map(path, layout, key, library)
    if weights is not None:
        _tidy(path)
        return weights
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _write(path, checkpoint, layout, key, library)
    except OSError as err:
        raise CheckpointError(
            f"{cache_dir}: cannot write the packed model ({err}); free space or choose another"
        ) from err
    weights = _map(path, layout, key, library)
    if weights is None:
        raise CheckpointError(f"{path}: the packed model cannot be read back; check the disk or choose another cache")
    _tidy(path)
    return weights


def _tidy(path: Path) -> None:
    """Note that the file was opened and delete the older ones; who has one of those mapped keeps it."""
    with contextlib.suppress(OSError):  # a cache that cannot be written is not swept either
        os.utime(path)
        delete_files(outdated({form: form for form in path.parent.glob("*.af")}, in_use=path))
        delete_files(
            old for old in path.parent.glob(f"{_PREFIX}*") if time.time() - old.stat().st_mtime > LEFT_BEHIND_S
        )


def _key(checkpoint: Checkpoint, layout: Layout, precision: str) -> bytes:
    places = [(name, m.form, m.n_rows, m.n_columns, m.offset) for name, m in layout.matrices.items()]
    text = json.dumps([VERSION, *identity(checkpoint.path), precision, places, *checkpoint.calibrated_by])
    return hashlib.sha256(text.encode()).digest()


def _map(path: Path, layout: Layout, key: bytes, library: Library) -> Weights | None:
    """Map the file, or None if it is not there or not what it should be."""
    try:
        with path.open("rb") as file:
            magic, n_bytes, file_key, checksum = _HEADER.unpack(file.read(_HEADER.size))
            if (magic, n_bytes, file_key) != (MAGIC, layout.n_bytes, key):
                return None
            if os.fstat(file.fileno()).st_size != PAGE + layout.n_bytes:
                return None
            weights = np.memmap(file, np.uint8, mode="r", offset=PAGE, shape=(layout.n_bytes,))
    except (OSError, ValueError, struct.error):
        return None
    return weights if library.sum(weights.ctypes.data, weights.size) == checksum else None


def _write(path: Path, checkpoint: Checkpoint, layout: Layout, key: bytes, library: Library) -> None:
    with whole_file(path, prefix=_PREFIX) as file:
        file.truncate(PAGE + layout.n_bytes)
        for vector in layout.vectors.values():
            file.seek(PAGE + vector.offset)
            parts = [checkpoint.tensor(name) for name in vector.names]
            file.write(np.ascontiguousarray(np.concatenate(parts), np.float32).data)
        for matrix in layout.matrices.values():
            file.seek(PAGE + matrix.offset)
            file.write(np.ascontiguousarray(pack_matrix(checkpoint, matrix)).data)
        file.flush()
        packed = np.memmap(file, np.uint8, mode="r", offset=PAGE, shape=(layout.n_bytes,))
        checksum = library.sum(packed.ctypes.data, packed.size)
        file.seek(0)
        file.write(_HEADER.pack(MAGIC, layout.n_bytes, key, checksum))
