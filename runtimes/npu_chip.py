"""The modelled chip of `npu_sim`: when each transfer and kernel of a step would run, on a virtual clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import yaml

from agentkit.decoder.backend import DecoderSpec
from agentkit.decoder.kv_cache import padded_head_dim

DATA = Path(__file__).with_name("npu_sim.yaml")
_KB, _GB_S = 1024, 1e3  # bytes; bytes per µs


@dataclass(frozen=True)
class Way:
    """How host and chip work together; each step of the ladder switches one more thing on."""

    has_bound_cache: bool = True
    """The cache lies in the chip's memory; else every step copies its rows there first."""
    is_fused: bool = True
    """Attention in one kernel, the FFN in two (rule A5)."""
    is_back_to_back: bool = True
    """One fence per step; else the host waits for each kernel (rule A11)."""
    is_double_buffered: bool = True
    """The next tile of weights comes while this one is multiplied (rule A10)."""
    is_pass_shared: bool = True
    """Steps that are queued when a pass over the weights begins go along in it."""


SYNCHRONOUS = Way(
    has_bound_cache=False, is_fused=True, is_back_to_back=False, is_double_buffered=False, is_pass_shared=False
)
"""Every transfer and every kernel is waited for; the kernels are the same ones."""


@dataclass(frozen=True)
class Chip:
    """What the model of the chip is made of; see npu_sim.yaml."""

    title: str
    host: Mapping[str, float]
    dma: Mapping[str, float]
    compute: Mapping[str, Any]
    kernels: Mapping[str, Sequence[Mapping[str, Any]]]
    sram_kb: float
    bytes_per_weight: float
    bytes_per_value: float

    @classmethod
    def load(cls, path: Path = DATA) -> Chip:
        """Read the description."""
        return cls(**yaml.safe_load(path.read_text("utf-8")))

    def mac_us(self, n_macs: float, n_rows: int) -> float:
        """Time of that many multiplications when n_rows share each weight."""
        table: Mapping[int, float] = self.compute["utilisation"]
        share = table[max((rows for rows in table if rows <= n_rows), default=min(table))]
        return float(n_macs / (self.compute["peak_gmac_s"] * 1e3 * share))


@dataclass(frozen=True)
class Event:
    """One thing that a resource of the modelled system does."""

    resource: str
    """host, dma, io or npu."""
    label: str
    start_us: float
    end_us: float


@dataclass
class Step:
    """One submitted step."""

    number: int
    n_rows: int
    n_cached: int
    """Rows in the cache behind it."""
    submitted_us: float
    done_us: float | None = None
    """When its fence passes; None until the chip has taken it."""


@dataclass
class Timeline:
    """The virtual clock: when host, both DMA channels and the array are free next."""

    chip: Chip
    spec: DecoderSpec
    way: Way
    events: list[Event] | None = None
    """Everything that happened, if somebody wants to draw it."""
    host_us: float = 0.0
    npu_us: float = 0.0
    """End of the last kernel."""
    busy_us: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("host", "dma", "io", "npu"), 0.0))
    _channel_us: dict[str, float] = field(default_factory=lambda: {"dma": 0.0, "io": 0.0})
    _tile_free_us: list[float] = field(default_factory=lambda: [0.0, 0.0])
    _n_tiles: int = 0
    _pending: list[Step] = field(default_factory=list)

    def submit(self, number: int, n_rows: int, n_cached: int) -> Step:
        """Charge the host's work before the step and queue it."""
        host, copied = self.chip.host, 0.0
        if not self.way.has_bound_cache:
            copied = n_cached * self._row_bytes() * self.spec.n_layers / (host["copy_gb_s"] * _GB_S)
        self._on_host("pre", host["pre_us"] + copied + host["submit_us"])
        step = Step(number, n_rows, n_cached, self.host_us)
        self._pending.append(step)
        return step

    def wait(self, step: Step) -> None:
        """Move the host to the step's fence and charge its work after it."""
        while step.done_us is None:
            self._run_pass()
        self.host_us = max(self.host_us, step.done_us)
        self._on_host("fence", self.chip.host["fence_us"])
        self._on_host("post", self.chip.host["post_us"])

    def _run_pass(self) -> None:
        """Let the chip take the oldest step, with those that wait by then if passes are shared."""
        first = self._pending[0]
        start_us = max(self.npu_us, first.submitted_us)
        together = [first]
        if self.way.is_pass_shared:
            together += [step for step in self._pending[1:] if step.submitted_us <= start_us]
        self._pending = [step for step in self._pending if step not in together]
        ready_us = start_us
        layer = self.chip.kernels["fused" if self.way.is_fused else "plain"]
        for index in range(self.spec.n_layers):
            for kernel in layer:
                ready_us = self._kernel(f"{index}.{kernel['name']}", kernel, together, ready_us)
        for kernel in self.chip.kernels["head"]:
            ready_us = self._kernel(kernel["name"], kernel, together, ready_us)
        out_bytes = len(together) * self.spec.vocab_size * 4
        done_us = self._transfer("io", "logits", out_bytes, ready_us)
        for step in together:
            step.done_us = done_us

    def _kernel(self, label: str, kernel: Mapping[str, Any], steps: Sequence[Step], ready_us: float) -> float:
        """Run one kernel on all steps of the pass; returns when the next one may start."""
        n_weights = sum(self._size(a) * self._size(b) for a, b in kernel.get("weights", ()))
        n_rows = sum(step.n_rows for step in steps)
        if kernel.get("is_attention"):
            ready_us = self._attention(label, steps, ready_us)
        elif not n_weights:
            ready_us = self._compute(label, self.chip.compute["kernel_us"], ready_us)
        else:
            ready_us = self._product(label, n_weights, n_rows, ready_us)
        if not self.way.is_back_to_back:  # the host waits for the kernel and calls the driver for the next one
            self.host_us = max(self.host_us, ready_us)
            self._on_host("fence", self.chip.host["fence_us"])
            ready_us = self.host_us
        return ready_us

    def _product(self, label: str, n_weights: int, n_rows: int, ready_us: float) -> float:
        """Bring the weights tile by tile and multiply; a tile is half of the SRAM when two take turns."""
        chip = self.chip
        n_halves = 2 if self.way.is_double_buffered else 1
        tile_bytes = chip.sram_kb * _KB / n_halves
        n_bytes = n_weights * chip.bytes_per_weight
        n_tiles = ceil(n_bytes / tile_bytes)
        for tile in range(n_tiles):
            half = self._n_tiles % n_halves
            self._n_tiles += 1
            # Weights do not depend on the step: with two halves they may come before the kernel before has ended
            after_us = self._tile_free_us[half] if self.way.is_double_buffered else max(ready_us, self.npu_us)
            here_us = self._transfer("dma", label, n_bytes / n_tiles, after_us)
            start_us = max(here_us, ready_us)
            took_us = chip.mac_us(n_weights / n_tiles * n_rows, n_rows) + chip.compute["kernel_us"] * (tile == 0)
            end_us = self._compute(label, took_us, start_us)
            self._tile_free_us[half] = end_us
            ready_us = end_us
        return ready_us

    def _attention(self, label: str, steps: Sequence[Step], ready_us: float) -> float:
        for step in steps:
            n_seen = step.n_cached + step.n_rows
            here_us = self._transfer("io", label, n_seen * self._row_bytes(), ready_us)
            n_macs = 2 * step.n_rows * n_seen * self.spec.n_heads * padded_head_dim(self.spec.head_dim)
            took_us = self.chip.mac_us(n_macs, step.n_rows) + self.chip.compute["kernel_us"]
            ready_us = self._compute(label, took_us, max(ready_us, here_us))
        return ready_us

    def _transfer(self, channel: str, label: str, n_bytes: float, after_us: float) -> float:
        rate = self.chip.dma["weights_gb_s" if channel == "dma" else "io_gb_s"]
        start_us = max(self._channel_us[channel], after_us)
        self._channel_us[channel] = start_us + self.chip.dma["setup_us"] + n_bytes / (rate * _GB_S)
        self._note(channel, label, start_us, self._channel_us[channel])
        return self._channel_us[channel]

    def _compute(self, label: str, took_us: float, after_us: float) -> float:
        start_us = max(self.npu_us, after_us)
        self.npu_us = start_us + took_us
        self._note("npu", label, start_us, self.npu_us)
        return self.npu_us

    def _on_host(self, label: str, took_us: float) -> None:
        self._note("host", label, self.host_us, self.host_us + took_us)
        self.host_us += took_us

    def _note(self, resource: str, label: str, start_us: float, end_us: float) -> None:
        self.busy_us[resource] += end_us - start_us
        if self.events is not None:
            self.events.append(Event(resource, label, start_us, end_us))

    def _row_bytes(self) -> float:
        """Bytes of one cache row of one layer: K and V of every head, padded (rule A3)."""
        return self.spec.n_kv_heads * 2 * padded_head_dim(self.spec.head_dim) * self.chip.bytes_per_value

    def _size(self, name: str) -> int:
        spec = self.spec
        sizes = {
            "hidden": spec.hidden_size, "ffn": spec.ffn_size, "vocab": spec.vocab_size,
            "q": spec.n_heads * spec.head_dim, "kv": spec.n_kv_heads * spec.head_dim,
        }  # fmt: skip
        return sizes[name]
