from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.errors import ConfigError
from agentkit.planner import find_profile, load_profiles
from agentkit.planner.profile import PROFILES, Kind


def test_shipped_profiles_load() -> None:
    profiles = load_profiles()
    assert {"rk3588", "raspberry_pi_5", "npu_8tops", "x86_64"} <= set(profiles)
    npu = profiles["rk3588"].engine("npu_rknn")
    assert npu is not None
    assert (npu.kind, npu.peak_tops) == (Kind.NPU, 6)
    assert all(profile.engine("cpu_onnx") for profile in profiles.values())


def test_unknown_profile_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'rk3588'"):
        find_profile("rk3568", load_profiles())


def test_figures_hold_for_models_of_like_size_only() -> None:
    rk3588 = load_profiles()["rk3588"]
    assert rk3588.measured_near(494_000_000) == {"cpu_onnx": 80, "npu_rknn": 120}
    assert rk3588.measured_near(1_500_000_000) == {}
    assert rk3588.measured_near(134_515_008) == {}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("kind: npu", "kind: nqu", "did you mean 'npu'"),
        ("memory_gb: 8", "memory: 8", "unknown key 'memory' in a profile; did you mean 'memory_gb'"),
        ("[int8, f16]", "[int8, fp16]", "precision 'fp16' is unknown; did you mean"),
        ("name: raspberry_pi_5", "name: rk3588", "duplicate profile name"),
        ("utilisation: 0.3", "utilisation: high", "wanted a number"),
    ],
)
def test_bad_profile_is_one_clear_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "profiles.yaml"
    path.write_text(PROFILES.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=complaint) as caught:
        load_profiles(path)
    assert caught.value.line is not None
