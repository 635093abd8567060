"""Tells whether what was made of a checkpoint still belongs to it, without reading the weights."""

from __future__ import annotations

from pathlib import Path


def identity(checkpoint: Path) -> tuple[str, list[tuple[str, int, int]]]:
    """Return the path of a checkpoint and name, size and time of change (ns) of its files."""
    path = checkpoint.resolve()
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    stats = [(file, file.stat()) for file in files if file.is_file()]
    return str(path), [(file.name, stat.st_size, stat.st_mtime_ns) for file, stat in stats]
