from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentkit.artifact import Artifact
from agentkit.fetch import FetchOptions
from tests.fetch.file_server import FileServer, serve

MakeArtifact = Callable[..., Artifact]


@pytest.fixture(scope="session")
def content() -> bytes:
    return random.Random(7).randbytes(300_000)


@pytest.fixture
def server(content: bytes) -> Iterator[FileServer]:
    with serve(content) as running:
        yield running


@pytest.fixture
def make_artifact(content: bytes, tmp_path: Path) -> MakeArtifact:
    """Make an artifact of the content, from any source."""

    def make(source: str, *, content: bytes = content, sha256: str | None = None) -> Artifact:
        return Artifact(
            name="tiny",
            file="tiny.gguf",
            targets=("any",),
            precision="q4_1",
            size=len(content),
            sha256=sha256 or hashlib.sha256(content).hexdigest(),
            source=source,
            base=tmp_path,
        )

    return make


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def options(pauses: list[float]) -> FetchOptions:
    """Patience of a test: pauses are recorded, not slept."""
    return FetchOptions(read_timeout_s=2.0, n_tries=4, backoff_s=0.5, sleep=pauses.append)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def files_below(home: Path) -> set[str]:
    """Names of all files in the store, without its locks."""
    return {path.name for path in (home / "models").rglob("*") if path.is_file()}
