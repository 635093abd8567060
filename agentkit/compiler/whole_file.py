"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path, *, prefix: str) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path`, on disk, when the block is done; a block that fails leaves nothing.

    `prefix` begins the name that it has meanwhile, in the same folder. Raises OSError.
    """
    handle, name = tempfile.mkstemp(prefix=prefix, dir=path.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
