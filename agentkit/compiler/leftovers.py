"""Which compiled forms may be deleted: a cache must not grow with every new version of a model or a compiler."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

N_KEPT = 3
"""Compiled forms of one model and precision that stay: a new version, the one before, and one to compare with."""
UNUSED_S = 14 * 24 * 3600
"""What was not opened for so long is of an old model, target or compiler."""


def outdated(forms: Mapping[Path, Path], *, in_use: Path) -> list[Path]:
    """Return those forms that nobody opened of late or that newer ones of the same model have replaced.

    `forms` maps each to the file whose time is set whenever it is opened; names are model-precision-digest. The one in
    use stays whatever the times say: a board without a battery may set its clock back.
    """
    now, groups = time.time(), defaultdict[str, list[tuple[float, Path]]](list)
    for form, touched in forms.items():
        opened_at = _time(touched)
        if opened_at is not None:
            groups[form.name.rpartition("-")[0]].append((opened_at, form))
    newest_first = (sorted(group, reverse=True) for group in groups.values())
    return [
        form
        for group in newest_first
        for rank, (opened_at, form) in enumerate(group)
        if form != in_use and (rank >= N_KEPT or now - opened_at > UNUSED_S)
    ]


def delete_files(paths: Iterable[Path]) -> None:
    """Delete files; who has one open or mapped keeps it, and one that cannot be deleted stays."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            continue


def _time(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
