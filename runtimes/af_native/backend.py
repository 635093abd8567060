"""The native target behind the port: probes, plans, builds and opens."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.decoder.backend import PoolSizes, Probe, SessionOptions
from agentkit.decoder.kv_cache import cache_facts
from agentkit.decoder.memory_pool import Pools, align
from runtimes.af_native.artifact import ensure_packed
from runtimes.af_native.build import REMEDY, ensure_library, find_compiler, find_prebuilt
from runtimes.af_native.library import Library
from runtimes.af_native.plan import CACHES, Plan, cache_of
from runtimes.af_native.session import AfNativeSession

FAST_FLAGS = {"x86_64": {"avx2", "fma", "f16c"}, "aarch64": {"asimddp"}}
"""What the processor must have by family; without it the portable kernels run, slower than ONNX Runtime."""

LINGER_MS = 1.0
"""Longer than what the host does between two steps of a turn."""


class AfNative:
    """The native CPU target; offers f32, int8 and int4."""

    name = "af_native"

    def __init__(
        self, *, instruction_set: str | None = None, cache: str | None = None, linger_ms: float = LINGER_MS,
        build_flags: tuple[str, ...] = (),
    ):  # fmt: skip
        """`instruction_set` names one instead of the best; `build_flags` are added to the compiler's.

        `cache` is f16 or int8, by default f16 for precision f32 and int8 below. For `linger_ms` after a step threads
        spin for the next one, then they sleep.
        """
        self._instruction_set, self._cache, self._build_flags = instruction_set, cache, build_flags
        self._linger_us = round(linger_ms * 1000)

    def probe(self) -> Probe:
        """Look for a compiler, and for instructions that make it worth while."""
        machine = platform.machine()
        if self._instruction_set is None and not FAST_FLAGS.get(machine, {"-"}) <= processor_flags():
            return Probe(False, f"this {machine} processor lacks the instructions it is made for; cpu_onnx is faster")
        if find_prebuilt() is not None:
            builder = "this package"
        elif (compiler := find_compiler()) is not None:
            builder = compiler.title
        else:
            return Probe(False, f"no C++ compiler to build it with; {REMEDY}")
        n_cores = len(os.sched_getaffinity(0))
        detail = f"C++ kernels for {machine} built by {builder}, {n_cores} cores"
        cache = cache_facts(*CACHES[cache_of("int8", self._cache)])  # what is planned is never f32
        return Probe(True, detail, {"compiler": builder, "n_cores": n_cores, **cache})

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        """Compute the pool sizes of `open` from the checkpoint's header."""
        return Plan.of(load_checkpoint(checkpoint, options.importance), options, self._cache).sizes

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> AfNativeSession:
        """Build the library and pack the weights if need be, then map them and start the threads."""
        loaded = load_checkpoint(checkpoint, options.importance)
        plan = Plan.of(loaded, options, self._cache)
        library = Library(ensure_library(cache_dir, extra_flags=self._build_flags))
        instruction_set = self._instruction_set or library.instruction_sets()[0]
        weights = ensure_packed(loaded, plan.layout, plan.precision, library=library, cache_dir=cache_dir)
        pools.weight.reserve("mapped weights", align(weights.size))
        return AfNativeSession(loaded.spec, options, plan, weights, pools, library, instruction_set, self._linger_us)


def processor_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str]:
    """Return the features that the kernel names, empty where it names none."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    return {flag for line in lines if line.lower().startswith(("flags", "features")) for flag in line.split()}
