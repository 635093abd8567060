"""Keeps the cache rows of static prefixes on disk, so that a restart need not run the model over them again.

One file per prefix: a digest, then the rows. Its name is made of everything that the rows depend on, so a file of
another model, target or prompt is never found; one that is cut off or damaged does not fit its digest and counts as
absent.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agentkit.decoder.kv_cache import KVCache

MIN_TOKENS: Final = 64
"""Shorter prefixes run faster than a file is read."""
_N_KEPT: Final = 4
_DIGEST = hashlib.sha256
_SUFFIX: Final = ".rows"
_log = logging.getLogger(__name__)


class PrefixStore:
    """The saved prefixes of one opened target."""

    def __init__(self, folder: Path, key: str):
        """`key` names everything but the tokens that rows depend on: checkpoint, target, options, versions."""
        self._folder, self._key = folder, _DIGEST(key.encode()).hexdigest()[:16]

    def load(self, ids: Sequence[int], kv: KVCache, slot: int) -> bool:
        """Fill an empty slot with the saved rows of a prefix and commit them; False if there are none."""
        if len(ids) < MIN_TOKENS:
            return False
        rows = kv.rows(slot, len(ids))
        try:
            saved = np.memmap(self._path(ids), np.uint8, mode="r")  # [digest, then the rows] u8
        except (OSError, ValueError):
            return False
        digest, payload = saved[: _DIGEST().digest_size], saved[_DIGEST().digest_size :]
        if payload.nbytes != rows.nbytes or _DIGEST(payload.data).digest() != digest.tobytes():
            return False
        rows[...] = payload.view(rows.dtype).reshape(rows.shape)
        kv.commit(slot, len(ids))
        return True

    def save(self, ids: Sequence[int], kv: KVCache, slot: int) -> None:
        """Write the rows of a prefix; the file is whole or not there, and a full disk costs only the next start."""
        if len(ids) < MIN_TOKENS:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder)
            try:
                self._write(handle, kv.rows(slot, len(ids)))
                os.replace(name, self._path(ids))
            except OSError:
                os.unlink(name)
                raise
            self._prune()
        except OSError as err:
            _log.warning("%s: the static prompt is not saved (%s); the next start computes it again", self._folder, err)

    def drop(self) -> None:
        """Delete what is saved of this target, because its rows cannot be trusted."""
        with contextlib.suppress(OSError):
            for path in self._folder.glob(f"{self._key}-*{_SUFFIX}"):
                path.unlink()

    def _path(self, ids: Sequence[int]) -> Path:
        return self._folder / f"{self._key}-{_DIGEST(np.asarray(ids, np.int64).data).hexdigest()[:16]}{_SUFFIX}"

    def _write(self, handle: int, rows: NDArray[Any]) -> None:
        digest = _DIGEST()
        with os.fdopen(handle, "wb") as file:
            file.write(bytes(digest.digest_size))
            for layer in rows:
                part = np.ascontiguousarray(layer).data
                digest.update(part)
                file.write(part)
            file.seek(0)
            file.write(digest.digest())

    def _prune(self) -> None:
        """Keep the newest files; what a killed process left behind ages out with the others."""
        newest = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in newest[_N_KEPT:]:
            path.unlink(missing_ok=True)
