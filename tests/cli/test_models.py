from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agentkit.cli.models import models_app
from agentkit.errors import ConfigError, ManifestError, PullError

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped manifest with its file replaced by a small one beside it."""
    monkeypatch.setenv("AGENTKIT_HOME", str(tmp_path / "home"))
    shipped = (Path(__file__).parent.parent.parent / "models" / "manifest.yaml").read_text(encoding="utf-8")
    head = shipped[: shipped.index("        size:")]
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    path = tmp_path / "manifest.yaml"
    text = f"{head}        size: {len(CONTENT)}\n        sha256: {sha256}\n        source: file:tiny.gguf\n"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    monkeypatch.setenv("AGENTKIT_MANIFEST", str(path))
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(models_app, list(arguments))


@pytest.mark.usefixtures("manifest")
def test_list_says_what_is_here() -> None:
    before = json.loads(run("list", "--json").stdout)["models"]
    assert run("pull").exit_code == 0
    after = json.loads(run("list", "--json").stdout)["models"]
    assert [row["is_pulled"] for row in (*before, *after)] == [False, True]
    assert after[0]["license"] == "Apache-2.0"
    table = run("list").stdout
    assert "SmolLM2-135M-Instruct" in table
    assert "134.5 M" in table


@pytest.mark.usefixtures("manifest")
def test_pull_prints_where_the_file_lies_and_verify_agrees(tmp_path: Path) -> None:
    result = run("pull", "SmolLM2-135M-Instruct")
    assert result.exit_code == 0
    path = tmp_path / "home/models/smollm2-135m-instruct-q4_1/SmolLM2-135M-Instruct.Q4_1.gguf"
    assert path.read_bytes() == CONTENT
    assert str(path) in result.stdout
    assert run("verify").exit_code == 0
    path.write_bytes(CONTENT[:-1] + b"x")
    wrong = run("verify", "--json")
    assert wrong.exit_code == 1
    (entry,) = json.loads(wrong.stdout)["artifacts"]
    assert entry["is_ok"] is False
    assert "sha256 is" in entry["detail"]
    assert run("pull").exit_code == 0
    assert path.read_bytes() == CONTENT


@pytest.mark.usefixtures("manifest")
def test_verify_of_nothing_is_fine_but_of_a_named_missing_model_is_not() -> None:
    assert run("verify").exit_code == 0
    missing = run("verify", "SmolLM2-135M-Instruct")
    assert missing.exit_code == 1
    assert "not there; run: agentkit models pull" in missing.stdout


def test_errors_are_typed_for_the_one_place_that_prints_them(manifest: Path, tmp_path: Path) -> None:
    assert isinstance(run("pull", "SmolLM2").exception, ManifestError)
    (tmp_path / "tiny.gguf").unlink()
    assert isinstance(run("pull").exception, PullError)
    manifest.write_text("version: 1\nmodel: []\n", encoding="utf-8")
    assert isinstance(run("list").exception, ConfigError)


@pytest.mark.parametrize("command", ["list", "pull", "verify"])
def test_help_shows_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: agentkit models {command}" in result.stdout


def test_wrong_use_exits_with_2() -> None:
    assert run("pull", "--nonsense").exit_code == 2
