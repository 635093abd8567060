"""A model brought up from a manifest of its own, compiled to what the app asks for."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.config import App, load_app
from agentkit.decoder.chat import Prompt
from agentkit.open_model import open_model
from tests.support.tiny import write_gguf

MANIFEST = """
version: 1
models:
  - name: tiny
    architecture: llama
    parameters: 100000
    precision: f32
    languages: [en]
    license: {{spdx: Apache-2.0, url: https://www.apache.org/licenses/LICENSE-2.0}}
    source: https://example.org
    context: 512
    roles: [agent]
    shape: {{n_layers: 2, hidden_size: 64, n_kv_heads: 2, head_dim: 16}}
    artifacts:
      - name: tiny-f32
        file: tiny.gguf
        targets: any
        precision: f32
        size: {size}
        sha256: {sha256}
        source: file:tiny.gguf
"""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_with_library: Path) -> App:
    monkeypatch.setenv("AGENTKIT_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "compiled").symlink_to(cache_with_library)
    path = write_gguf(tmp_path / "tiny.gguf", kind="F32", embed_kind="F32")
    data = path.read_bytes()
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(MANIFEST.format(size=len(data), sha256=hashlib.sha256(data).hexdigest()))
    smart_home = load_app(Path(__file__).parents[1] / "apps" / "smart_home")
    few = replace(smart_home.home, devices=smart_home.home.devices[:3])
    return replace(smart_home, model="tiny", manifest=manifest, home=few, target="cpu_onnx", threads=1)


@pytest.mark.parametrize(
    ("precision", "calibrate", "is_calibrated"),
    [(None, True, False), ("int8", True, False), ("int4", True, True), ("int4", False, False)],
)
def test_weights_are_calibrated_if_the_app_has_them_rounded_to_4_bits(
    app: App, tmp_path: Path, precision: str | None, calibrate: bool, is_calibrated: bool
) -> None:
    said: list[str] = []
    model = open_model(replace(app, precision=precision, calibrate=calibrate), said.append)
    try:
        generation = model.decoder.generate(Prompt("", "turn on the light"), max_tokens=2)
    finally:
        model.decoder.close()

    assert generation.target == "cpu_onnx"
    assert any(line.startswith("calibrated") for line in said) is is_calibrated
    assert any(f"cpu_onnx in {precision}" in line for line in said) is (precision is not None)
    assert (tmp_path / "home" / "compiled" / "calibrations").exists() is is_calibrated
