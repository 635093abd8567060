"""Reads models/manifest.yaml; anything odd in it is a ConfigError that names file, line and key."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from agentkit.artifact import Artifact, License, Manifest, ModelSpec, Shape, parse_source
from agentkit.errors import ManifestError
from agentkit.yaml_lines import YamlList, YamlMap, check_keys, did_you_mean, load_mapping, take, take_list

__all__ = ["Artifact", "License", "Manifest", "ModelSpec", "Shape", "find_manifest", "find_model", "load_manifest"]

VERSION = 1
_MODEL_KEYS = (
    "name",
    "architecture",
    "parameters",
    "precision",
    "languages",
    "license",
    "source",
    "context",
    "roles",
    "shape",
    "artifacts",
)
_ARTIFACT_KEYS = ("name", "file", "targets", "precision", "size", "sha256", "source")
_SHAPE_KEYS = ("n_layers", "hidden_size", "n_kv_heads", "head_dim")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_URL = re.compile(r"https://\S+")


def find_manifest(given: Path | None = None, *, env: Mapping[str, str] = os.environ) -> Path:
    """Return the manifest to use: the given one, $AGENTKIT_MANIFEST, ./models, or the one shipped with agentkit.

    Raises ManifestError if none of them exists.
    """
    if given is not None:
        if not given.is_file():
            raise ManifestError(
                f"{given}: there is no such model manifest; give its path as --manifest, or as `manifest` in app.yaml "
                "(without that line the one that comes with agentkit is used)"
            )
        return given
    if named := env.get("AGENTKIT_MANIFEST"):
        return Path(named)
    package = Path(__file__).resolve().parent
    places = (Path("models/manifest.yaml"), package.parent / "models/manifest.yaml", package / "manifest.yaml")
    for place in places:
        if place.is_file():
            return place
    tried = ", ".join(str(place) for place in places)
    raise ManifestError(f"no model manifest; looked for {tried}; pass --manifest or set AGENTKIT_MANIFEST")


def find_model(manifest: Manifest, name: str | None = None, *, role: str = "agent") -> ModelSpec:
    """Return the model of that name, or without a name the first that has the role. Raises ManifestError."""
    if name is None:
        for model in manifest.models.values():
            if role in model.roles:
                return model
        raise ManifestError(f"{manifest.path}: no model has the role {role!r}; add the role to a model or name one")
    if name not in manifest.models:
        raise ManifestError(f"{manifest.path}: no model {name!r}; {did_you_mean(name, manifest.models)}")
    return manifest.models[name]


def load_manifest(path: Path) -> Manifest:
    """Read and check the whole manifest. Raises ConfigError."""
    root = load_mapping(path)
    check_keys(root, ("version", "models"), required=("version", "models"), what="the manifest")
    if root["version"] != VERSION:
        raise root.error(
            f"version is {root['version']!r}, this agentkit reads {VERSION}; update one of them", "version"
        )
    models: dict[str, ModelSpec] = {}
    artifact_lines: dict[str, int] = {}
    for node in take_list(root, "models", YamlMap):
        model = _model(node, artifact_lines)
        if model.name in models:
            raise node.error(f"duplicate model name {model.name!r}; give each model its own", "name")
        models[model.name] = model
    return Manifest(path=path, models=models)


def _model(node: YamlMap, artifact_lines: dict[str, int]) -> ModelSpec:
    check_keys(node, (*_MODEL_KEYS, "tokenizer"), required=_MODEL_KEYS, what="a model")
    files = take_list(node, "artifacts", YamlMap)
    if not files:
        raise node.error("artifacts is empty; list at least one file", "artifacts")
    artifacts = tuple(_artifact(file, artifact_lines) for file in files)
    tokenizer = take(node, "tokenizer", str, None)
    if tokenizer is not None and tokenizer not in {artifact.name for artifact in artifacts}:
        raise node.error(f"tokenizer {tokenizer!r} is no artifact of this model; name one of them", "tokenizer")
    return ModelSpec(
        name=_name(node),
        architecture=take(node, "architecture", str),
        parameters=_positive(node, "parameters"),
        precision=take(node, "precision", str),
        languages=take_list(node, "languages", str),
        license=_license(take(node, "license", YamlMap)),
        source=_url(node, "source"),
        context=_positive(node, "context"),
        roles=take_list(node, "roles", str),
        shape=_shape(take(node, "shape", YamlMap)),
        artifacts=artifacts,
        tokenizer=tokenizer,
    )


def _artifact(node: YamlMap, lines: dict[str, int]) -> Artifact:
    check_keys(node, _ARTIFACT_KEYS, required=_ARTIFACT_KEYS, what="an artifact")
    name = _name(node)
    if name in lines:
        raise node.error(f"duplicate artifact name {name!r}, first on line {lines[name]}; rename one", "name")
    lines[name] = node.line_of("name")
    file = take(node, "file", str)
    if not _NAME.fullmatch(file):
        raise node.error(f"file is {file!r}, wanted a plain file name without folders", "file")
    sha256 = take(node, "sha256", str)
    if not _SHA256.fullmatch(sha256):
        raise node.error(f"sha256 is {sha256!r} ({len(sha256)} characters), wanted 64 lower-case hex digits", "sha256")
    source = take(node, "source", str)
    try:
        parse_source(source)
    except ValueError as err:
        raise node.error(str(err), "source") from err
    return Artifact(
        name=name,
        file=file,
        targets=_targets(node),
        precision=take(node, "precision", str),
        size=_positive(node, "size"),
        sha256=sha256,
        source=source,
        base=node.path.parent,
    )


def _targets(node: YamlMap) -> tuple[str, ...]:
    if not isinstance(node["targets"], YamlList):
        return (take(node, "targets", str),)
    targets = take_list(node, "targets", str)
    if not targets:
        raise node.error("targets is empty, wanted target names or any", "targets")
    return targets


def _license(node: YamlMap) -> License:
    check_keys(node, ("spdx", "url"), required=("spdx", "url"), what="license")
    return License(spdx=take(node, "spdx", str), url=_url(node, "url"))


def _shape(node: YamlMap) -> Shape:
    check_keys(node, _SHAPE_KEYS, required=_SHAPE_KEYS, what="shape")
    return Shape(**{key: _positive(node, key) for key in _SHAPE_KEYS})


def _name(node: YamlMap) -> str:
    name = take(node, "name", str)
    if not _NAME.fullmatch(name):
        raise node.error(f"name is {name!r}, wanted letters, digits, dots, dashes and underscores", "name")
    return name


def _positive(node: YamlMap, key: str) -> int:
    value = take(node, key, int)
    if value <= 0:
        raise node.error(f"{key} is {value}, wanted more than 0", key)
    return value


def _url(node: YamlMap, key: str) -> str:
    value = take(node, key, str)
    if not _URL.fullmatch(value):
        raise node.error(f"{key} is {value!r}, wanted an https:// address", key)
    return value
