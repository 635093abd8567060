from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.artifact import HfSource
from agentkit.errors import ArtifactError, PullError
from agentkit.fetch import FetchOptions, artifact_path, pull
from agentkit.fetch.http import hf_request
from agentkit.fetch.pull import partial_path
from tests.fetch.conftest import MakeArtifact, files_below
from tests.fetch.file_server import FileServer

WHOLE = {"tiny.gguf", "tiny.gguf.verified"}


def test_file_arrives_whole_with_progress_and_nothing_beside_it(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    steps: list[tuple[int, int]] = []
    artifact = make_artifact(f"{server.url}/a.gguf")
    path = pull(artifact, home=home, options=options, on_progress=lambda done, total: steps.append((done, total)))
    assert path.read_bytes() == server.content
    assert files_below(home) == WHOLE
    assert steps == sorted(steps)
    assert steps[-1] == (artifact.size, artifact.size)


def test_second_pull_touches_no_network(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    pull(artifact, home=home, options=options)
    pull(artifact, home=home, options=options)
    assert len(server.seen) == 1


def test_dropped_download_goes_on_where_it_stopped(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions, pauses: list[float]
) -> None:
    server.faults = ["drop:100000", "drop:50000"]
    path = pull(make_artifact(f"{server.url}/a.gguf"), home=home, options=options)
    assert path.read_bytes() == server.content
    assert [(seen.range, seen.if_range) for seen in server.seen] == [
        (None, None),
        ("bytes=100000-", '"v1"'),
        ("bytes=150000-", '"v1"'),
    ]
    assert pauses == [0.5, 0.5]


def test_next_pull_continues_what_an_earlier_one_left(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    server.faults = ["drop:100000", *["drop:0"] * 9]
    with pytest.raises(PullError, match=r"gave up after 4 tries .* 100000 of 300000 bytes; pull again"):
        pull(artifact, home=home, options=options)
    assert not artifact_path(artifact, home).exists()
    server.faults = []
    assert pull(artifact, home=home, options=options).read_bytes() == server.content
    assert server.seen[-1].range == "bytes=100000-"
    assert files_below(home) == WHOLE


def test_changed_etag_starts_over(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    content, old = server.content, bytes(len(server.content))
    artifact = make_artifact(f"{server.url}/a.gguf")
    server.content, server.faults = old, ["drop:1000", *["drop:0"] * 9]
    with pytest.raises(PullError):
        pull(artifact, home=home, options=options)
    server.content, server.etag, server.faults = content, '"v2"', []
    assert pull(artifact, home=home, options=options).read_bytes() == content


def test_server_without_ranges_is_asked_for_all_of_it(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    server.has_ranges, server.faults = False, ["drop:100000"]
    path = pull(make_artifact(f"{server.url}/a.gguf"), home=home, options=options)
    assert path.read_bytes() == server.content
    assert len(server.seen) == 2


@pytest.mark.parametrize("etag", [None, 'W/"v1"'])
def test_bytes_that_no_validator_vouches_for_are_not_built_on(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions, etag: str | None
) -> None:
    server.etag, server.faults = etag, ["drop:100000"]
    path = pull(make_artifact(f"{server.url}/a.gguf"), home=home, options=options)
    assert path.read_bytes() == server.content
    assert [seen.range for seen in server.seen] == [None, None]


def test_pieces_that_do_not_fit_together_are_fetched_anew(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    server.faults = ["drop:100000", *["drop:0"] * 9]
    with pytest.raises(PullError):
        pull(artifact, home=home, options=options)
    partial_path(artifact_path(artifact, home)).write_bytes(bytes(100000))
    server.faults = []
    assert pull(artifact, home=home, options=options).read_bytes() == server.content


def test_full_partial_of_a_killed_pull_needs_no_network(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    partial = partial_path(artifact_path(artifact, home))
    partial.parent.mkdir(parents=True)
    partial.write_bytes(server.content)
    assert pull(artifact, home=home, options=options).read_bytes() == server.content
    assert server.seen == []


@pytest.mark.parametrize("n_bytes", [300_000, 300_001])
def test_full_but_wrong_partial_is_thrown_away(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions, n_bytes: int
) -> None:
    artifact = make_artifact(f"{server.url}/a.gguf")
    partial = partial_path(artifact_path(artifact, home))
    partial.parent.mkdir(parents=True)
    partial.write_bytes(bytes(n_bytes))
    assert pull(artifact, home=home, options=options).read_bytes() == server.content


def test_server_error_is_tried_again_after_the_pause_it_asks_for(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions, pauses: list[float]
) -> None:
    server.faults = ["status:500", "status:503"]
    assert pull(make_artifact(f"{server.url}/a.gguf"), home=home, options=options).read_bytes() == server.content
    assert pauses == [1.0, 1.0]


def test_pauses_between_tries_double(
    make_artifact: MakeArtifact, home: Path, options: FetchOptions, pauses: list[float]
) -> None:
    with pytest.raises(PullError, match=r"http://127.0.0.1:1/a: gave up after 4 tries .*0 of 300000"):
        pull(make_artifact("http://127.0.0.1:1/a"), home=home, options=options)
    assert pauses == [0.5, 1.0, 2.0]


def test_missing_file_is_reported_at_once(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    server.faults = ["status:404"]
    with pytest.raises(PullError, match=r"/a.gguf: HTTP 404, there is no such file; check the source") as caught:
        pull(make_artifact(f"{server.url}/a.gguf"), home=home, options=options)
    assert "\n" not in str(caught.value)
    assert len(server.seen) == 1
    assert files_below(home) == set()


def test_file_of_another_size_is_refused_before_it_is_downloaded(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    server.faults = ["length:299999"]
    with pytest.raises(PullError, match="299999 bytes, the manifest says 300000"):
        pull(make_artifact(f"{server.url}/a.gguf"), home=home, options=options)


def test_body_longer_than_promised_is_refused(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    server.faults = ["long"]
    with pytest.raises(PullError, match="more than 300000 bytes"):
        pull(make_artifact(f"{server.url}/a.gguf"), home=home, options=options)


def test_wrong_sha256_names_both_sums_and_keeps_nothing(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    right = make_artifact(f"{server.url}/a.gguf")
    with pytest.raises(ArtifactError) as caught:
        pull(replace(right, sha256="0" * 64), home=home, options=options)
    assert right.sha256 in str(caught.value)
    assert "0" * 64 in str(caught.value)
    assert f"{server.url}/a.gguf: sha256 is" in str(caught.value)
    assert files_below(home) == set()


def test_silent_server_counts_as_dropped(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    server.faults = ["slow"]
    path = pull(make_artifact(f"{server.url}/a.gguf"), home=home, options=replace(options, read_timeout_s=0.3))
    assert path.read_bytes() == server.content
    assert server.seen[1].range == "bytes=150000-"


def test_hub_file_comes_from_its_revision_through_redirects(
    server: FileServer, make_artifact: MakeArtifact, home: Path, options: FetchOptions
) -> None:
    server.faults = ["redirect"]
    artifact = make_artifact("hf:org/repo@abc123#sub dir/a.gguf".replace(" ", "_"))
    path = pull(artifact, home=home, options=replace(options, hf_endpoint=server.url))
    assert path.read_bytes() == server.content
    assert [seen.path for seen in server.seen] == ["/org/repo/resolve/abc123/sub_dir/a.gguf", "/elsewhere"]


def test_hub_address_and_token_come_from_the_environment() -> None:
    source = HfSource("org/repo", "refs/pr/1", "a b.gguf")
    request = hf_request(source, FetchOptions(), {"HF_ENDPOINT": "https://mirror/", "HF_TOKEN": "t"})
    assert request.url == "https://mirror/org/repo/resolve/refs%2Fpr%2F1/a%20b.gguf"
    assert request.headers == {"Authorization": "Bearer t"}
    assert hf_request(source, FetchOptions(), {}).url.startswith("https://huggingface.co/org/repo/")


def test_nonsense_endpoint_is_one_clear_line(make_artifact: MakeArtifact, home: Path, options: FetchOptions) -> None:
    with pytest.raises(PullError, match="check the source"):
        pull(make_artifact("hf:o/r@v#f"), home=home, options=replace(options, hf_endpoint="nonsense"))
