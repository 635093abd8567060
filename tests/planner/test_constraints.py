from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.artifact import Shape
from agentkit.planner import DeviceProfile, Workload, load_profiles
from agentkit.planner.constraints import GB, cache_bytes, limits, max_tokens_s, needs, warnings, weight_bytes

ASSISTANT = Workload(ttft_ms=300, tpot_ms=50, n_prompt=128)


@pytest.fixture(scope="module")
def phone() -> DeviceProfile:
    return load_profiles()["npu_8tops"]


def test_effective_compute_is_peak_times_utilisation(phone: DeviceProfile) -> None:
    npu = phone.engines[0]
    assert replace(npu, utilisation=0.2).effective_tops == pytest.approx(1.6)
    assert replace(npu, utilisation=0.4).effective_tops == pytest.approx(3.2)


def test_decode_ceiling_is_bandwidth_over_weights() -> None:
    assert max_tokens_s(25 * GB, weight_bytes(3 * GB, "int4")) == pytest.approx(16, abs=1)


def test_7b_weights_by_precision() -> None:
    assert [weight_bytes(7 * GB, bits) / GB for bits in ("f16", "int8", "int4")] == [14, 7, 3.5]


def test_cache_counts_keys_and_values_of_padded_heads() -> None:
    shape = Shape(n_layers=30, hidden_size=576, n_kv_heads=3, head_dim=64)
    assert cache_bytes(shape, max_seq_len=2048) == 2 * 2 * 30 * 3 * 64 * 2048
    assert cache_bytes(replace(shape, head_dim=65), max_seq_len=1) == 2 * 2 * 30 * 3 * 128
    assert cache_bytes(shape, max_seq_len=2048, n_slots=3) == 3 * cache_bytes(shape, max_seq_len=2048)


def test_worked_example_of_a_voice_assistant_on_an_8_tops_npu(phone: DeviceProfile) -> None:
    npu = phone.engines[0]
    allowed = limits(phone, npu, ASSISTANT, precision="int4")
    assert allowed.effective_bandwidth_bytes_s == pytest.approx(15 * GB)
    assert allowed.max_weight_bytes == pytest.approx(0.75 * GB)
    assert allowed.max_parameters == pytest.approx(1.5 * GB)

    shape = Shape(n_layers=32, hidden_size=2048, n_kv_heads=32, head_dim=64)
    cache = cache_bytes(shape, max_seq_len=2048)
    assert cache == pytest.approx(0.5 * GB, rel=0.1)

    need = needs(
        phone,
        npu,
        ASSISTANT,
        parameters=allowed.max_parameters,
        n_weight_bytes=allowed.max_weight_bytes,
        n_cache_bytes=cache,
    )
    assert 1.5 * GB <= need.total_bytes <= 2.0 * GB
    assert need.total_bytes <= phone.memory_free_bytes
    assert need.weight_bytes <= phone.max_model_bytes
    assert need.gflop_per_token == pytest.approx(3)
    assert need.gflops == pytest.approx(60)
    assert need.tpot_ms == pytest.approx(50)
    assert need.ttft_ms < 300
    assert need.power_w == pytest.approx((3.5, 4.5), abs=0.1)
    (warning,) = warnings(phone, ASSISTANT, need)
    assert "reaches the sustained 4 W: limit concurrency or clocks" in warning


def test_each_missed_wish_is_a_warning_with_a_next_step(phone: DeviceProfile) -> None:
    npu = phone.engines[0]
    need = needs(phone, npu, ASSISTANT, parameters=7 * GB, n_weight_bytes=int(3.5 * GB), n_cache_bytes=GB)
    text = "\n".join(warnings(phone, ASSISTANT, need))
    assert "wanted 300 ms: keep the prefix" in text
    assert "233 ms a token at best, wanted 50 ms" in text
    assert "4.9 of 4.0 GB free memory" in text
