"""Percentiles, thresholds and the machine that they were measured on."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

PERCENTILES = (50, 90, 95, 99)
PACKAGES = ("agentkit", "numpy", "onnxruntime", "llama-cpp-python", "onnxruntime-genai")


@dataclass(frozen=True)
class Check:
    """One figure against what the documents ask for."""

    name: str
    value: float | None
    """None = it cannot be measured here; the note says why."""
    limit: float
    is_upper: bool = True
    """True: at most the limit is good. False: at least."""
    unit: str = ""
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """None where nothing was measured."""
        if self.value is None:
            return None
        return self.value <= self.limit if self.is_upper else self.value >= self.limit

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        wanted = f"{'at most' if self.is_upper else 'at least'} {self.limit:g} {self.unit}".strip()
        return {"name": self.name, "value": self.value, "wanted": wanted, "is_met": self.is_met, "note": self.note}


def spread(ms: Sequence[float]) -> dict[str, float]:
    """Return number, mean, deviation, percentiles and maximum."""
    values = np.asarray(ms, np.float64)
    found = {"n": float(len(values)), "mean": float(values.mean()), "std": float(values.std())}
    found |= {f"p{p}": float(np.percentile(values, p)) for p in PERCENTILES}
    return {**found, "max": float(values.max())}


def machine() -> dict[str, Any]:
    """Return processor, cores, load, versions and date."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "cpu": _cpu_name(),
        "n_cores": len(os.sched_getaffinity(0)),
        "load_1min": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        lines = []
    return lines[0] if lines else platform.machine()
