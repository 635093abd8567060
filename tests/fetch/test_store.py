from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.artifact import Artifact
from agentkit.errors import ArtifactError, PullError
from agentkit.fetch import agentkit_home, artifact_path, pull, store, verified_path, verify
from tests.fetch.conftest import MakeArtifact


@pytest.fixture
def pulled(make_artifact: MakeArtifact, content: bytes, tmp_path: Path, home: Path) -> Artifact:
    (tmp_path / "origin.gguf").write_bytes(content)
    artifact = make_artifact("file:origin.gguf")
    pull(artifact, home=home)
    (tmp_path / "origin.gguf").unlink()  # whatever happens next must not need the source
    return artifact


def flip_a_bit(path: Path, *, is_mtime_kept: bool) -> None:
    stat = path.stat()
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    if is_mtime_kept:
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_home_follows_the_environment() -> None:
    assert agentkit_home({"AGENTKIT_HOME": "/a"}) == Path("/a")
    assert agentkit_home({"XDG_CACHE_HOME": "/c"}) == Path("/c/agentkit")
    assert agentkit_home({}) == Path.home() / ".cache" / "agentkit"


def test_start_up_does_not_hash_a_file_that_was_verified(
    pulled: Artifact, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_hashed: list[Path] = []
    real = store.check_content
    monkeypatch.setattr(store, "check_content", lambda a, p, **kw: (n_hashed.append(p), real(a, p, **kw)))
    verified_path(pulled, home)
    assert n_hashed == []
    os.utime(artifact_path(pulled, home), (1, 1))
    verified_path(pulled, home)
    verified_path(pulled, home)
    assert len(n_hashed) == 1


def test_changed_file_is_found_at_start_up(pulled: Artifact, home: Path) -> None:
    flip_a_bit(artifact_path(pulled, home), is_mtime_kept=False)
    with pytest.raises(ArtifactError, match=r"sha256 is [0-9a-f]{64}, the manifest says [0-9a-f]{64}; .*models pull"):
        verified_path(pulled, home)


def test_verify_hashes_even_what_was_verified_before(pulled: Artifact, home: Path) -> None:
    path = artifact_path(pulled, home)
    verify(pulled, path)
    flip_a_bit(path, is_mtime_kept=True)
    verified_path(pulled, home)  # the stamp is trusted here …
    with pytest.raises(ArtifactError, match="sha256"):
        verify(pulled, path)  # … but not here
    with pytest.raises(ArtifactError, match="sha256"):
        verified_path(pulled, home)  # and the stamp is gone


def test_truncated_file_names_both_sizes(pulled: Artifact, home: Path) -> None:
    path = artifact_path(pulled, home)
    os.truncate(path, 1234)
    with pytest.raises(ArtifactError, match="1234 bytes, the manifest says 300000"):
        verified_path(pulled, home)


def test_manifest_with_a_new_sum_does_not_accept_the_old_file(pulled: Artifact, home: Path) -> None:
    with pytest.raises(ArtifactError, match="sha256"):
        verified_path(replace(pulled, sha256="1" * 64), home)


def test_missing_file_says_how_to_get_it(make_artifact: MakeArtifact, home: Path) -> None:
    artifact = make_artifact("file:x")
    with pytest.raises(ArtifactError, match="not there; run: agentkit models pull"):
        verified_path(artifact, home)
    with pytest.raises(ArtifactError, match="not there"):
        verify(artifact, artifact_path(artifact, home))


def test_torn_stamp_only_costs_a_hash(pulled: Artifact, home: Path) -> None:
    stamp = artifact_path(pulled, home).with_name("tiny.gguf.verified")
    for text in ("", "{", "[]", '{"size": 1}', "null"):
        stamp.write_text(text, encoding="utf-8")
        verified_path(pulled, home)


def test_pull_replaces_a_damaged_file(pulled: Artifact, content: bytes, home: Path, tmp_path: Path) -> None:
    path = artifact_path(pulled, home)
    path.write_bytes(b"short")
    (tmp_path / "origin.gguf").write_bytes(content)
    assert pull(pulled, home=home).read_bytes() == content


def test_file_source_that_is_gone_is_one_clear_line(make_artifact: MakeArtifact, home: Path) -> None:
    with pytest.raises(PullError, match=r"nowhere.gguf: no such file, but the manifest names it for tiny"):
        pull(make_artifact("file:nowhere.gguf"), home=home)


def test_pull_into_a_folder_that_cannot_be_written_says_so(make_artifact: MakeArtifact, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(PullError, match=r"cannot be written.*AGENTKIT_HOME"):
        pull(make_artifact("file:x"), home=tmp_path / "blocked")


def test_file_that_exceeds_the_disk_is_refused_before_it_starts(make_artifact: MakeArtifact, home: Path) -> None:
    artifact = replace(make_artifact("file:x"), size=1 << 60)
    with pytest.raises(PullError, match=r"MB needed, .* MB free"):
        pull(artifact, home=home)
