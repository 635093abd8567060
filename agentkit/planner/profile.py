"""Boards as data: what a device can compute, move, store and dissipate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import log
from pathlib import Path

from agentkit.errors import ConfigError
from agentkit.planner.constraints import BITS, GB
from agentkit.yaml_lines import YamlMap, check_keys, did_you_mean, load_mapping, take, take_list

PROFILES = Path(__file__).parent / "profiles.yaml"
_PROFILE_KEYS = (
    *("name", "title", "memory_gb", "reserved_gb", "runtime_gb", "storage_gb", "max_model_gb"),
    *("bandwidth_gb_s", "bandwidth_share", "heat_limit_c", "power", "engines"),
)
_POWER_KEYS = ("sustained_w", "burst_w", "burst_s", "base_w", "w_per_gb_s", "w_per_tops")
_ENGINE_KEYS = ("target", "kind", "peak_tops", "utilisation")
_MEASURED_KEYS = ("parameters", "precision", "target", "ms_per_token")


class Kind(StrEnum):
    """What sort of engine a target runs on."""

    CPU = "cpu"
    GPU = "gpu"
    NPU = "npu"
    TPU = "tpu"
    REMOTE = "remote"
    """Another machine."""
    SIMULATOR = "sim"
    REFERENCE = "reference"


@dataclass(frozen=True)
class Engine:
    """One target of a device."""

    target: str
    kind: Kind
    peak_tops: float
    utilisation: float
    """Share of the peak that a decoder's operators reach (C2)."""
    precisions: tuple[str, ...] = ()
    """What it can hold weights in, best first; () = whatever the artifact has."""
    next_step: str = ""
    """What to do if it is not installed."""

    @property
    def effective_tops(self) -> float:
        """Peak times utilisation."""
        return self.peak_tops * self.utilisation


@dataclass(frozen=True)
class Power:
    """Limits and a linear model of the draw (C5)."""

    sustained_w: float
    burst_w: float
    burst_s: float
    base_w: float
    w_per_gb_s: float
    w_per_tops: float


@dataclass(frozen=True)
class Measured:
    """One figure that somebody took on such a board."""

    parameters: int
    precision: str
    target: str
    ms_per_token: float


@dataclass(frozen=True)
class DeviceProfile:
    """One board; `free` figures are what a model may use now."""

    name: str
    title: str
    memory_bytes: int
    memory_free_bytes: int
    runtime_bytes: int
    """What a runtime needs besides weights and cache."""
    storage_free_bytes: int
    max_model_bytes: int
    bandwidth_bytes_s: float
    bandwidth_share: float
    heat_limit_c: float
    power: Power
    engines: tuple[Engine, ...]
    measured: tuple[Measured, ...] = ()
    compatible: tuple[str, ...] = ()
    """Device-tree names of such boards."""
    machine: str | None = None
    """Processor family whose unknown boards are taken for this one."""
    is_host: bool = False
    """True if the figures are of the machine that runs this."""

    @property
    def effective_bandwidth_bytes_s(self) -> float:
        """What decoding gets of the memory bandwidth."""
        return self.bandwidth_bytes_s * self.bandwidth_share

    def engine(self, target: str) -> Engine | None:
        """Return the engine of that target, None if the profile has none."""
        return next((engine for engine in self.engines if engine.target == target), None)

    def measured_near(self, parameters: int) -> dict[str, float]:
        """Return milliseconds per token by target from models within a factor of two in size, the nearest first."""
        near: dict[str, tuple[float, float]] = {}
        for entry in self.measured:
            distance = abs(log(entry.parameters / parameters))
            if distance <= log(2) and distance < near.get(entry.target, (9.0, 0.0))[0]:
                near[entry.target] = (distance, entry.ms_per_token)
        return {target: ms for target, (_, ms) in near.items()}


def load_profiles(path: Path = PROFILES) -> dict[str, DeviceProfile]:
    """Read board profiles by name. Raises ConfigError."""
    root = load_mapping(path)
    check_keys(root, ("version", "profiles"), required=("version", "profiles"), what="the profiles")
    profiles: dict[str, DeviceProfile] = {}
    for node in take_list(root, "profiles", YamlMap):
        profile = _profile(node)
        if profile.name in profiles:
            raise node.error(f"duplicate profile name {profile.name!r}; rename one", "name")
        profiles[profile.name] = profile
    return profiles


def find_profile(name: str, profiles: Mapping[str, DeviceProfile]) -> DeviceProfile:
    """Return the profile of that name. Raises ConfigError naming the nearest one."""
    if name not in profiles:
        raise ConfigError(f"no device profile {name!r}; {did_you_mean(name, profiles)}", path=PROFILES)
    return profiles[name]


def _profile(node: YamlMap) -> DeviceProfile:
    check_keys(node, (*_PROFILE_KEYS, "compatible", "machine", "measured"), required=_PROFILE_KEYS, what="a profile")
    memory, reserved = _bytes(node, "memory_gb"), _bytes(node, "reserved_gb")
    return DeviceProfile(
        name=take(node, "name", str),
        title=take(node, "title", str),
        memory_bytes=memory,
        memory_free_bytes=memory - reserved,
        runtime_bytes=_bytes(node, "runtime_gb"),
        storage_free_bytes=_bytes(node, "storage_gb"),
        max_model_bytes=_bytes(node, "max_model_gb"),
        bandwidth_bytes_s=take(node, "bandwidth_gb_s", float) * GB,
        bandwidth_share=take(node, "bandwidth_share", float),
        heat_limit_c=take(node, "heat_limit_c", float),
        power=_power(take(node, "power", YamlMap)),
        engines=tuple(_engine(engine) for engine in take_list(node, "engines", YamlMap)),
        measured=tuple(_measured(entry) for entry in take_list(node, "measured", YamlMap, ())),
        compatible=take_list(node, "compatible", str, ()),
        machine=take(node, "machine", str, None),
    )


def _power(node: YamlMap) -> Power:
    check_keys(node, _POWER_KEYS, required=_POWER_KEYS, what="power")
    return Power(**{key: take(node, key, float) for key in _POWER_KEYS})


def _engine(node: YamlMap) -> Engine:
    check_keys(node, (*_ENGINE_KEYS, "precisions", "next_step"), required=_ENGINE_KEYS, what="an engine")
    kind = take(node, "kind", str)
    if kind not in list(Kind):
        raise node.error(f"kind is {kind!r}; {did_you_mean(kind, [item.value for item in Kind])}", "kind")
    precisions = take_list(node, "precisions", str, ())
    for precision in precisions:
        if precision not in BITS:
            raise node.error(f"precision {precision!r} is unknown; {did_you_mean(precision, BITS)}", "precisions")
    return Engine(
        target=take(node, "target", str),
        kind=Kind(kind),
        peak_tops=take(node, "peak_tops", float),
        utilisation=take(node, "utilisation", float),
        precisions=precisions,
        next_step=take(node, "next_step", str, ""),
    )


def _measured(node: YamlMap) -> Measured:
    check_keys(node, _MEASURED_KEYS, required=_MEASURED_KEYS, what="a measurement")
    return Measured(
        parameters=take(node, "parameters", int),
        precision=take(node, "precision", str),
        target=take(node, "target", str),
        ms_per_token=take(node, "ms_per_token", float),
    )


def _bytes(node: YamlMap, key: str) -> int:
    return round(take(node, key, float) * GB)
