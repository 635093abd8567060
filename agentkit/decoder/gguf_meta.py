"""Reads only the key-value header of a GGUF file: a fast look at the vocabulary without touching the tensors."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agentkit.errors import CheckpointError

_SCALARS: Final[Mapping[int, str]] = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_STRING: Final = 8
_ARRAY: Final = 9
_MAX_ITEMS: Final = 4_000_000


def read_metadata(path: Path, prefix: str = "") -> dict[str, Any]:
    """Read the metadata whose keys start with prefix. Raises CheckpointError if the header is no sound GGUF."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data, path).metadata(prefix)
    except (OSError, ValueError) as err:
        raise CheckpointError(f"{path}: cannot be read as GGUF ({err}); pull or download it again") from err
    except struct.error as err:
        raise CheckpointError(f"{path}: the GGUF header is truncated ({err}); pull or download it again") from err


class _Reader:
    """Walks the header once, front to back."""

    def __init__(self, data: mmap.mmap, path: Path):
        self._data, self._path, self._at = data, path, 0

    def metadata(self, prefix: str) -> dict[str, Any]:
        if self._data[:4] != b"GGUF":
            raise CheckpointError(f"{self._path}: starts with {self._data[:4]!r}, not b'GGUF'; it is another format")
        self._at = 4
        version, _n_tensors, n_pairs = self._unpack("<IQQ")
        if version not in (2, 3):
            raise CheckpointError(f"{self._path}: GGUF version {version}, supported are 2 and 3; convert it again")
        found = {}
        for _ in range(n_pairs):
            key = self._string()
            value = self._value(*self._unpack("<I"), is_wanted=key.startswith(prefix))
            if key.startswith(prefix):
                found[key] = value
        return found

    def _unpack(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return values

    def _string(self) -> str:
        (n_bytes,) = self._unpack("<Q")
        if n_bytes > len(self._data) - self._at:
            raise struct.error(f"a string of {n_bytes} bytes does not fit the file")
        self._at += n_bytes
        return self._data[self._at - n_bytes : self._at].decode("utf-8", "replace")

    def _value(self, kind: int, *, is_wanted: bool) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array(is_wanted=is_wanted)
        return self._unpack("<" + self._layout(kind))[0]

    def _array(self, *, is_wanted: bool) -> list[Any] | None:
        kind, n_items = self._unpack("<IQ")
        if n_items > _MAX_ITEMS:
            raise struct.error(f"an array of {n_items} items, at most {_MAX_ITEMS} make sense")
        if kind in (_STRING, _ARRAY):
            items = [self._value(kind, is_wanted=is_wanted) for _ in range(n_items)]
            return items if is_wanted else None
        layout = f"<{n_items}{self._layout(kind)}"
        if is_wanted:
            return list(self._unpack(layout))
        self._at += struct.calcsize(layout)
        return None

    def _layout(self, kind: int) -> str:
        if kind not in _SCALARS:
            raise CheckpointError(f"{self._path}: unknown GGUF value type {kind}; the file is damaged or too new")
        return _SCALARS[kind]
