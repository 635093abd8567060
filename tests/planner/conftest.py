from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.artifact import ModelSpec
from agentkit.decoder.backend import Probe
from agentkit.manifest import find_model, load_manifest
from agentkit.planner import DeviceProfile, load_profiles

MANIFEST = Path(__file__).parent.parent.parent / "models" / "manifest.yaml"
OK = Probe(is_available=True, detail="found")

MakeModel = Callable[..., ModelSpec]


@pytest.fixture(scope="session")
def smollm2() -> ModelSpec:
    return find_model(load_manifest(MANIFEST))


@pytest.fixture
def make_model(smollm2: ModelSpec) -> MakeModel:
    """Make a model of another size, with a portable int4 file unless told otherwise."""

    def make(
        parameters: float, *, precision: str = "int4", targets: tuple[str, ...] = ("any",), size: int | None = None
    ) -> ModelSpec:
        file = replace(smollm2.artifacts[0], precision=precision, targets=targets, size=size or int(parameters / 2))
        return replace(smollm2, name="other", parameters=int(parameters), precision=precision, artifacts=(file,))

    return make


@pytest.fixture(scope="session")
def rk3588() -> DeviceProfile:
    return load_profiles()["rk3588"]


@pytest.fixture(scope="session")
def roomy(rk3588: DeviceProfile) -> DeviceProfile:
    """The same board with so much memory and storage that neither decides, and nothing measured."""
    lots = 10**12
    return replace(rk3588, memory_free_bytes=lots, storage_free_bytes=lots, max_model_bytes=lots, measured=())
