"""What the plan promises of the cache is what the pools are made for and what a session then takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.artifact import ModelSpec
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.memory_pool import Pools
from agentkit.manifest import find_model, load_manifest
from agentkit.planner import choose, load_profiles, probe_targets
from agentkit.planner.host import assume_targets
from agentkit.plugins import find_backend
from tests.planner.conftest import MANIFEST

CHECKPOINT = MANIFEST.parent / "home" / "home.Q8_0.gguf"
PROFILE = "rk3588"
TARGETS = ("reference", "cpu_onnx", "af_native", "npu_sim", "cpu_af")


@pytest.fixture(scope="module")
def model() -> ModelSpec:
    return find_model(load_manifest(MANIFEST), "agentkit-home-6m")


@pytest.mark.parametrize("target", TARGETS)
def test_plan_pools_and_session_agree_on_the_cache(model: ModelSpec, cache_with_library: Path, target: str) -> None:
    backend = find_backend(target)
    probe = backend.probe()
    if not probe.is_available:
        pytest.skip(probe.detail)
    options = SessionOptions(max_seq_len=min(SessionOptions.max_seq_len, model.context), n_threads=1)
    named = target if probe.facts.get("kind") == "sim" else None
    device = load_profiles()[PROFILE]
    like = device.engines[-1]
    device = replace(device, engines=(*device.engines, *(replace(like, target=name) for name in TARGETS)))
    plan = choose(model, {target: probe}, device=device, named=named)
    needs = next(choice.needs for choice in plan.choices if choice.target == target)

    pools = Pools.from_sizes(backend.plan(CHECKPOINT, options))
    session = backend.open(CHECKPOINT, options, pools=pools, cache_dir=cache_with_library)
    try:
        assert needs is not None
        sizes = (pools.cache.n_bytes, pools.cache.used_bytes, session.kv.data.nbytes)
        assert sizes == (needs.cache_bytes,) * 3
    finally:
        session.close()


def test_a_plan_on_paper_counts_the_cache_of_a_target_as_here() -> None:
    here, assumed = probe_targets(), assume_targets(load_profiles()[PROFILE])
    for name, probe in assumed.items():
        if here[name].is_available:
            assert probe.facts == {k: v for k, v in here[name].facts.items() if k.startswith("cache_")}
    assert assumed["cpu_onnx"].facts["cache_value_bytes"] == 4
