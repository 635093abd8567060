"""Downloads one address into a partial file: resumes if the server can, else starts over; tries again after drops."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx

from agentkit.artifact import Artifact, HfSource, HttpSource
from agentkit.errors import ArtifactError, PullError
from agentkit.fetch.options import FetchOptions, OnProgress
from agentkit.fetch.store import check_content

MAX_PAUSE_S = 20.0
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_NEXT_STEPS = {
    401: "the source wants a login",
    403: "the source refuses",
    404: "there is no such file",
    410: "it was removed",
}


@dataclass(frozen=True)
class Request:
    """What to ask for."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Dropped(Exception):
    """The connection ended early, or the server asks to come back; worth another try."""

    def __init__(self, reason: str, *, pause_s: float | None = None) -> None:
        self.pause_s = pause_s
        super().__init__(reason)


def url_request(source: HttpSource) -> Request:
    """Ask for a plain address."""
    return Request(source.url)


def hf_request(source: HfSource, options: FetchOptions, env: Mapping[str, str] = os.environ) -> Request:
    """Ask the model hub for a file at a revision, with $HF_TOKEN if there is one."""
    base = (options.hf_endpoint or env.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
    url = f"{base}/{source.repo}/resolve/{quote(source.revision, safe='')}/{quote(source.path)}"
    token = env.get("HF_TOKEN")
    return Request(url, {"Authorization": f"Bearer {token}"} if token else {})


def fetch_url(
    request: Request, artifact: Artifact, partial: Path, on_progress: OnProgress, options: FetchOptions
) -> None:
    """Fill `partial` up to the artifact's size. Raises PullError; what has arrived is kept for the next pull."""
    timeout = httpx.Timeout(options.read_timeout_s, connect=options.connect_timeout_s)
    with httpx.Client(timeout=timeout, follow_redirects=True) as client:
        is_one_piece = _download(client, request, artifact, partial, on_progress, options)
        if not is_one_piece and not _is_good(artifact, partial):
            # Pieces of several visits need not make one file, whatever the ETag said: take all of it anew.
            _forget(partial)
            _download(client, request, artifact, partial, on_progress, options)
    _note_path(partial).unlink(missing_ok=True)


def _download(
    client: httpx.Client,
    request: Request,
    artifact: Artifact,
    partial: Path,
    on_progress: OnProgress,
    options: FetchOptions,
) -> bool:
    """Try until the file is full; return whether one answer brought all of it."""
    n_best = _length(partial)
    is_one_piece = n_best == 0
    n_tries, n_failures = 0, 0
    while _length(partial) != artifact.size:
        n_tries += 1
        try:
            _one_try(client, request, artifact, partial, on_progress)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.TooManyRedirects) as err:
            raise PullError(f"{request.url}: {_reason(err)}; check the source in the manifest") from err
        except (Dropped, httpx.TransportError) as err:
            n_have = _length(partial)
            n_failures = 1 if n_have > n_best else n_failures + 1
            n_best = max(n_best, n_have)
            if n_failures >= options.n_tries:
                raise PullError(
                    f"{request.url}: gave up after {n_failures} tries ({_reason(err)}) with {n_have} of "
                    f"{artifact.size} bytes; pull again to continue"
                ) from err
            options.sleep(_pause_s(err, n_failures, options))
    return is_one_piece and n_tries == 1


def _one_try(
    client: httpx.Client, request: Request, artifact: Artifact, partial: Path, on_progress: OnProgress
) -> None:
    headers = {**request.headers, "Accept-Encoding": "identity", **_resume_headers(partial, request.url, artifact)}
    with client.stream("GET", request.url, headers=headers) as response:
        start = _start(response, artifact, partial, request.url)
        if start == 0:
            _remember(partial, request.url, response, artifact)
        with partial.open("r+b" if start else "wb") as out:
            out.truncate(start)
            out.seek(start)
            n_done = start
            for chunk in response.iter_raw():
                n_done += len(chunk)
                if n_done > artifact.size:
                    _refuse_size(request.url, f"more than {artifact.size}", artifact)
                out.write(chunk)
                on_progress(n_done, artifact.size)
    if n_done < artifact.size:
        raise Dropped(f"the connection ended after {n_done} of {artifact.size} bytes")


def _start(response: httpx.Response, artifact: Artifact, partial: Path, url: str) -> int:
    """Return the offset that the answer's body begins at. Raises Dropped, PullError."""
    status = response.status_code
    if status == 206:
        match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if match and int(match[1]) == _length(partial) and match[2] in ("*", str(artifact.size)):
            return int(match[1])
        _forget(partial)
        raise Dropped("the server sent another range than asked for")
    if status == 416:
        _forget(partial)
        raise Dropped("the server does not have the rest of the file")
    if status == 429 or status >= 500:
        raise Dropped(f"HTTP {status}", pause_s=_retry_after_s(response))
    if status != 200:
        why = _NEXT_STEPS.get(status, response.reason_phrase)
        raise PullError(f"{url}: HTTP {status}, {why}; check the source in the manifest")
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and int(length) != artifact.size:
        _refuse_size(url, length, artifact)
    return 0


def _refuse_size(url: str, size: str, artifact: Artifact) -> None:
    raise PullError(f"{url}: {size} bytes, the manifest says {artifact.size}; correct the manifest or its source")


def _note_path(partial: Path) -> Path:
    return partial.with_name(partial.name + ".json")


def _remember(partial: Path, url: str, response: httpx.Response, artifact: Artifact) -> None:
    """Note which content the partial file is of; a weak ETag does not vouch for bytes, so it is not kept."""
    etag = response.headers.get("ETag", "")
    validator = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
    partial.unlink(missing_ok=True)  # first: a note must never stand beside bytes of another answer
    note = {"url": url, "validator": validator, "sha256": artifact.sha256}
    _note_path(partial).write_text(json.dumps(note), encoding="utf-8")


def _resume_headers(partial: Path, url: str, artifact: Artifact) -> dict[str, str]:
    """Ask for the rest if the partial file's origin is known, else forget it and ask for all."""
    n_have = _length(partial)
    note: object = None
    with suppress(OSError, ValueError):
        note = json.loads(_note_path(partial).read_text(encoding="utf-8"))
    is_ours = isinstance(note, dict) and (note.get("url"), note.get("sha256")) == (url, artifact.sha256)
    if not (0 < n_have < artifact.size and is_ours and isinstance(note, dict) and note.get("validator")):
        _forget(partial)
        return {}
    return {"Range": f"bytes={n_have}-", "If-Range": str(note["validator"])}


def _forget(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    _note_path(partial).unlink(missing_ok=True)


def _length(partial: Path) -> int:
    return partial.stat().st_size if partial.is_file() else 0


def _is_good(artifact: Artifact, partial: Path) -> bool:
    try:
        check_content(artifact, partial)
    except ArtifactError:
        return False
    return True


def _retry_after_s(response: httpx.Response) -> float | None:
    text = response.headers.get("Retry-After", "")
    return min(float(text), MAX_PAUSE_S) if text.isdigit() else None


def _pause_s(err: Exception, n_failures: int, options: FetchOptions) -> float:
    if isinstance(err, Dropped) and err.pause_s is not None:
        return err.pause_s
    return min(options.backoff_s * 2.0 ** (n_failures - 1), MAX_PAUSE_S)


def _reason(err: Exception) -> str:
    return (str(err) or type(err).__name__).replace("\n", " ")
