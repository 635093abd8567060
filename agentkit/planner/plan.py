"""The planner's answer: targets in order, every rejection with its reason, and the numbers behind it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agentkit.artifact import Artifact, ModelSpec
from agentkit.errors import NoTarget
from agentkit.planner.constraints import GB, Needs
from agentkit.planner.profile import DeviceProfile

MAX_REJECTIONS_SHOWN = 4


class Reason(StrEnum):
    """Why a target was not chosen."""

    NOT_INSTALLED = "not_installed"
    """No target of that name is in this installation."""
    UNAVAILABLE = "unavailable"
    """Its probe failed: hardware, driver or library is missing."""
    NOT_NAMED = "not_named"
    """It runs only when asked for by name, or another was asked for."""
    NO_ARTIFACT = "no_artifact"
    PRECISION = "precision"
    """It cannot hold weights in the precision of the artifact."""
    NO_STORAGE = "no_storage"
    NO_MEMORY = "no_memory"


@dataclass(frozen=True)
class Choice:
    """One target that can run the model."""

    target: str
    artifact: Artifact
    precision: str
    """Of the weights as this target holds them."""
    why: str
    needs: Needs | None = None
    """Numbers on the device's profile; None where the profile does not know the engine."""


@dataclass(frozen=True)
class Rejection:
    """One target that cannot, and what would change that."""

    target: str
    reason: Reason
    detail: str


@dataclass(frozen=True)
class Plan:
    """Where a model runs, in order of preference; the later ones are the fallbacks."""

    model: ModelSpec
    device: DeviceProfile
    choices: tuple[Choice, ...]
    rejections: tuple[Rejection, ...]
    warnings: tuple[str, ...] = ()

    def require(self) -> tuple[Choice, ...]:
        """Return the choices. Raises NoTarget with every rejection if there are none."""
        if self.choices:
            return self.choices
        found = "; ".join(f"{item.target}: {item.detail}" for item in self.rejections) or "no target is installed"
        raise NoTarget(f"{self.model.name}: nothing can run it on {self.device.title} ({found})")

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "model": {
                "name": self.model.name,
                "architecture": self.model.architecture,
                "parameters": self.model.parameters,
                "precision": self.model.precision,
            },
            "device": {
                "name": self.device.name,
                "title": self.device.title,
                "is_host": self.device.is_host,
                "memory_bytes": self.device.memory_bytes,
                "memory_free_bytes": self.device.memory_free_bytes,
                "storage_free_bytes": self.device.storage_free_bytes,
                "effective_bandwidth_bytes_s": self.device.effective_bandwidth_bytes_s,
            },
            "choices": [_choice_dict(choice) for choice in self.choices],
            "rejections": [
                {"target": item.target, "reason": item.reason.value, "detail": item.detail} for item in self.rejections
            ],
            "warnings": list(self.warnings),
        }

    def lines(self) -> list[str]:
        """Return the plan as at most a dozen lines for people."""
        billions = f"{self.model.parameters / 1e9:.3g} B parameters"
        lines = [
            f"{self.model.name}: {billions}, {self.model.architecture}, {self.model.precision}; on {self.device.title}"
        ]
        for rank, choice in enumerate(self.choices, 1):
            lines.append(f"  {rank}. {choice.target} ({choice.precision}): {choice.why}")
        if not self.choices:
            lines.append("  nothing can run it here")
        shown = self.rejections[:MAX_REJECTIONS_SHOWN]
        lines += [f"  no {item.target} ({item.reason}): {item.detail}" for item in shown]
        if len(self.rejections) > len(shown):
            lines.append(f"  … and {len(self.rejections) - len(shown)} more; see --json")
        return lines + self._sheet() + [f"  ! {warning}" for warning in self.warnings]

    def _sheet(self) -> list[str]:
        if not self.choices or self.choices[0].needs is None:
            return []
        first, device = self.choices[0].needs, self.device
        low, high = first.power_w
        memory = (
            f"  memory: {first.weight_bytes / GB:.2f} GB weights + {first.cache_bytes / GB:.2f} GB cache, "
            f"{first.total_bytes / GB:.2f} GB in all of {device.memory_free_bytes / GB:.1f} GB free"
        )
        bandwidth = device.effective_bandwidth_bytes_s / GB
        speed = (
            f"  speed: at most {first.max_tokens_s:.0f} tokens/s at {bandwidth:.0f} GB/s; "
            f"first token after ≈{first.ttft_ms:.0f} ms; {first.gflop_per_token:.2g} GFLOP per token"
        )
        power = f"  power: ≈{low:.1f}–{high:.1f} W while generating, {device.power.sustained_w:g} W sustained at most"
        return [memory, speed, power]


def _choice_dict(choice: Choice) -> dict[str, Any]:
    return {
        "target": choice.target,
        "artifact": choice.artifact.name,
        "precision": choice.precision,
        "why": choice.why,
        "needs": choice.needs.as_dict() if choice.needs else None,
    }
