"""How much each input of a matrix counts: its mean square while real prompts ran (rules A13, C4).

Rounding a weight changes an output by the error times the input, so weights that read large inputs are to be rounded
well and the others may pay for it.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.whole_file import whole_file
from agentkit.errors import CheckpointError

SOURCES: Final = {"k": "q", "v": "q", "up": "gate"}
"""Matrices that read the same input as another one, under whose name it is kept."""
_FLOOR: Final = 0.01
"""Of the mean: what the prompts never used still counts a little."""


@dataclass(frozen=True)
class Importance:
    """Mean squares of the inputs, by matrix."""

    mean_squares: Mapping[str, NDArray[np.float32]]
    """`layers.N.q`, `o`, `gate`, `down` and `head` → [columns]."""

    def of(self, name: str) -> NDArray[np.float32] | None:
        """Return the weight of each column of a matrix, [columns], or None if no input of it was seen."""
        prefix, dot, part = name.rpartition(".")
        found = self.mean_squares.get(f"{prefix}{dot}{SOURCES.get(part, part)}")
        return None if found is None else found + np.float32(_FLOOR) * found.mean() + np.finfo(np.float32).tiny

    @cached_property
    def digest(self) -> str:
        """What compiled forms made with it are told apart by."""
        found = hashlib.sha256()
        for name, values in sorted(self.mean_squares.items()):
            found.update(name.encode() + np.ascontiguousarray(values, np.float32).tobytes())
        return found.hexdigest()


def save_importance(path: Path, importance: Importance) -> None:
    """Write the file, complete or not at all. Raises CheckpointError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, prefix=".calibrating-") as file:
            np.savez(file, allow_pickle=False, **importance.mean_squares)
    except OSError as err:
        raise CheckpointError(f"{path}: cannot write the calibration ({err}); free space or choose another") from err


def load_importance(path: Path) -> Importance:
    """Read the file. Raises CheckpointError if it is none."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            found = {name: np.asarray(arrays[name], np.float32) for name in arrays.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as err:
        raise CheckpointError(f"{path}: no calibration ({err}); delete it, it is made again") from err
    if not found or any(values.ndim != 1 or not np.isfinite(values).all() for values in found.values()):
        raise CheckpointError(f"{path}: the calibration is damaged; delete it, it is made again")
    return Importance(found)
