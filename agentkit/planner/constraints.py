"""The constraint sheet (C1–C6): compute, memory, power, latency and storage as numbers before a model is chosen. Pure.

Decoding one token reads every weight once, so memory bandwidth bounds its speed; prefill is bound by compute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentkit.artifact import Shape
    from agentkit.planner.profile import DeviceProfile, Engine

GB = 10**9
CACHE_FACTS = ("cache_value_bytes", "cache_head_dim_step", "cache_scale_bytes", "cache_block_rows")
"""What a target's probe may say of its cache."""
CACHE_VALUE_BYTES, HEAD_DIM_STEP = 2, 64
"""Of a cache whose target does not say otherwise: f16, head_dim padded to a multiple of 64."""
POWER_SPREAD = 0.12
"""Either way around the estimate: boards of one type differ that much."""
BITS: Mapping[str, float] = {
    "f32": 32.0,
    "f16": 16.0,
    "bf16": 16.0,
    "int8": 8.0,
    "int4": 4.0,
    "w4g128": 4.125,
    "q4_0": 4.5,
    "q4_1": 5.0,
    "q4_k": 4.5,
    "q5_0": 5.5,
    "q5_1": 6.0,
    "q5_k": 5.5,
    "q6_k": 6.5625,
    "q8_0": 8.5,
}
"""Bits per weight, with the scales where the format fixes them."""


@dataclass(frozen=True)
class Workload:
    """What the user feels."""

    ttft_ms: float = 300.0
    """Time to the first token that is still good."""
    tpot_ms: float = 50.0
    """Time per further token that is still good."""
    n_prompt: int = 128
    """Tokens to prefill per request; what a saved prefix covers does not count."""
    is_latency_insensitive: bool = False
    is_hard_real_time: bool = False


@dataclass(frozen=True)
class Limits:
    """What a device allows, whatever the model."""

    effective_tops: float
    effective_bandwidth_bytes_s: float
    max_weight_bytes: int
    """Weights that can be read once within tpot_ms."""
    max_parameters: int
    """The same in weights of one precision."""


@dataclass(frozen=True)
class Needs:
    """What one model takes on one engine of a device."""

    weight_bytes: int
    cache_bytes: int
    total_bytes: int
    """Weights, cache and runtime."""
    max_tokens_s: float
    """Ceiling from memory bandwidth."""
    gflop_per_token: float
    gflops: float
    """Compute while generating at the workload's pace, or as fast as the ceiling allows."""
    ttft_ms: float
    tpot_ms: float
    power_w: tuple[float, float]
    """Estimate while generating, low and high."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "power_w": list(self.power_w)}


def weight_bytes(parameters: int, precision: str) -> int:
    """Bytes of that many weights; KeyError for an unknown precision."""
    return round(parameters * BITS[precision] / 8)


def cache_bytes(
    shape: Shape, *, max_seq_len: int, n_slots: int = 1, value_bytes: int = CACHE_VALUE_BYTES,
    head_dim_step: int = HEAD_DIM_STEP, scale_bytes: int = 0, block_rows: int = 1,
) -> int:  # fmt: skip
    """Bytes of a KV cache: K and V of every layer, head and position, and the scales of a quantised one."""
    head_dim = -(-shape.head_dim // head_dim_step) * head_dim_step
    n_rows = -(-max_seq_len // block_rows) * block_rows
    return 2 * (value_bytes * head_dim + scale_bytes) * shape.n_layers * shape.n_kv_heads * n_rows * n_slots


def max_tokens_s(bandwidth_bytes_s: float, n_weight_bytes: int) -> float:
    """Tokens a second that memory bandwidth allows (C3)."""
    return bandwidth_bytes_s / n_weight_bytes


def limits(device: DeviceProfile, engine: Engine, workload: Workload, *, precision: str) -> Limits:
    """Work out the largest model that keeps the workload's pace."""
    bandwidth = device.effective_bandwidth_bytes_s
    max_bytes = round(bandwidth * workload.tpot_ms / 1000)
    return Limits(
        effective_tops=engine.effective_tops,
        effective_bandwidth_bytes_s=bandwidth,
        max_weight_bytes=max_bytes,
        max_parameters=round(max_bytes * 8 / BITS[precision]),
    )


def needs(
    device: DeviceProfile,
    engine: Engine,
    workload: Workload,
    *,
    parameters: int,
    n_weight_bytes: int,
    n_cache_bytes: int,
) -> Needs:
    """Work out what a model of that size takes."""
    ceiling = max_tokens_s(device.effective_bandwidth_bytes_s, n_weight_bytes)
    pace = min(ceiling, 1000 / workload.tpot_ms)
    flop = 2.0 * parameters  # one multiplication and one addition per weight
    power = device.power
    watts = power.base_w + power.w_per_gb_s * pace * n_weight_bytes / GB + power.w_per_tops * pace * flop / 1e12
    return Needs(
        weight_bytes=n_weight_bytes,
        cache_bytes=n_cache_bytes,
        total_bytes=n_weight_bytes + n_cache_bytes + device.runtime_bytes,
        max_tokens_s=ceiling,
        gflop_per_token=flop / 1e9,
        gflops=pace * flop / 1e9,
        ttft_ms=1000 * flop * workload.n_prompt / (engine.effective_tops * 1e12),
        tpot_ms=1000 * max(1 / ceiling, flop / (engine.effective_tops * 1e12)),
        power_w=(watts * (1 - POWER_SPREAD), watts * (1 + POWER_SPREAD)),
    )


def warnings(device: DeviceProfile, workload: Workload, need: Needs) -> tuple[str, ...]:
    """Name every constraint that is touched but does not forbid the model, with what to do."""
    found = []
    low, high = need.power_w
    if high > device.power.sustained_w:
        found.append(
            f"power {low:.1f}–{high:.1f} W reaches the sustained {device.power.sustained_w:g} W: "
            f"limit concurrency or clocks, or it throttles at {device.heat_limit_c:g} °C"
        )
    if need.ttft_ms > workload.ttft_ms:
        found.append(
            f"first token after ≈{need.ttft_ms:.0f} ms, wanted {workload.ttft_ms:g} ms: keep the prefix in the cache"
        )
    if need.tpot_ms > workload.tpot_ms:
        found.append(
            f"{need.tpot_ms:.0f} ms a token at best, wanted {workload.tpot_ms:g} ms: take a smaller model or fewer bits"
        )
    if need.total_bytes > 0.8 * device.memory_free_bytes:
        free = device.memory_free_bytes / GB
        found.append(f"{need.total_bytes / GB:.1f} of {free:.1f} GB free memory: little is left for anything else")
    return tuple(found)
