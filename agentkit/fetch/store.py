"""The folder of model files: where a file lies, whether it is the promised one, and who may write it now."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agentkit.artifact import Artifact
from agentkit.errors import ArtifactError, PullError
from agentkit.fetch.options import OnProgress

CHUNK = 1 << 20


def agentkit_home(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for models and compiled graphs: $AGENTKIT_HOME, else agentkit in the user's cache folder."""
    if named := env.get("AGENTKIT_HOME"):
        return Path(named).expanduser()
    cache = env.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "agentkit"


def artifact_path(artifact: Artifact, home: Path) -> Path:
    """Return where the file lies or would lie."""
    return home / "models" / artifact.name / artifact.file


def is_pulled(artifact: Artifact, home: Path) -> bool:
    """True if the file is there in its full size; says nothing about its content."""
    path = artifact_path(artifact, home)
    return path.is_file() and path.stat().st_size == artifact.size


def verified_path(artifact: Artifact, home: Path) -> Path:
    """Return the file, hashing it only if it changed since it was last verified. Raises ArtifactError."""
    path = artifact_path(artifact, home)
    if not path.is_file():
        raise ArtifactError(f"{path}: not there; run: agentkit models pull")
    if not _is_stamped(artifact, path):
        verify(artifact, path)
    return path


def verify(artifact: Artifact, path: Path, *, on_progress: OnProgress | None = None) -> None:
    """Compare the file's size and sha256 with the manifest, reading all of it. Raises ArtifactError.

    A file that passes is remembered by size and time of change, for `verified_path`.
    """
    if not path.is_file():
        raise ArtifactError(f"{path}: not there; run: agentkit models pull")
    before = _fingerprint(path)
    try:
        check_content(artifact, path, on_progress=on_progress)
    except ArtifactError:
        _stamp_path(path).unlink(missing_ok=True)  # or the next pull would trust it
        raise
    if _fingerprint(path) == before:  # else somebody wrote meanwhile and the sum may be of neither content
        _write_stamp(artifact, path, before)


def check_content(artifact: Artifact, path: Path, *, where: str = "", on_progress: OnProgress | None = None) -> None:
    """Compare size and sha256 of any file with the artifact's, remembering nothing. Raises ArtifactError.

    `where` is what the error calls the file, if not its path.
    """
    where = where or str(path)
    size = path.stat().st_size
    if size != artifact.size:
        raise ArtifactError(f"{where}: {size} bytes, the manifest says {artifact.size}; run: agentkit models pull")
    digest = hashlib.sha256()
    n_done = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            n_done += len(chunk)
            if on_progress:
                on_progress(n_done, size)
    if digest.hexdigest() != artifact.sha256:
        raise ArtifactError(
            f"{where}: sha256 is {digest.hexdigest()}, the manifest says {artifact.sha256}; do not use it: "
            "run agentkit models pull, and if that says the same, the source has changed"
        )


def accept(artifact: Artifact, partial: Path, path: Path) -> None:
    """Give a checked partial file its final name; a crash leaves the old state or the new one, never half a file."""
    fd = os.open(partial, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    partial.replace(path)
    fd = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    _write_stamp(artifact, path, _fingerprint(path))


@contextmanager
def lock(artifact: Artifact, home: Path, *, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the right to write the artifact; a second process waits. The kernel frees it if the holder dies."""
    folder = home / "locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(folder / f"{artifact.name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as err:
        raise PullError(
            f"{folder}: cannot be written ({err.strerror}); set AGENTKIT_HOME to a folder that can"
        ) from err
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_wait:
                on_wait()
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _stamp_path(path: Path) -> Path:
    return path.with_name(path.name + ".verified")


def _fingerprint(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _is_stamped(artifact: Artifact, path: Path) -> bool:
    try:
        stamp = json.loads(_stamp_path(path).read_text(encoding="utf-8"))
        kept = (stamp["size"], stamp["mtime_ns"], stamp["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return False  # no stamp or a torn one: hash again, nothing is lost
    return kept == (*_fingerprint(path), artifact.sha256) and kept[0] == artifact.size


def _write_stamp(artifact: Artifact, path: Path, fingerprint: tuple[int, int]) -> None:
    size, mtime_ns = fingerprint
    text = json.dumps({"size": size, "mtime_ns": mtime_ns, "sha256": artifact.sha256})
    try:
        _stamp_path(path).write_text(text, encoding="utf-8")
    except OSError:
        return  # a read-only cache only costs hashing at the next start
