"""The fourth level (rule A12): decode steps while the rest of the machine is under stress."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from agentkit.bench.figures import Check, machine, spread
from agentkit.bench.opened import open_warm
from agentkit.bench.priority import Breather, realtime
from agentkit.decoder.backend import Session, SessionOptions
from agentkit.errors import BackendUnavailable

MAX_MOVE, MAX_MOVE_REALTIME = 1.10, 1.5
_SETTLE_S = 1.0
_BURN = "import sys\nblock = bytearray(1 << 24)\nwhile True:\n    block[:] = bytes(1 << 24)\n"


def system_bench(
    checkpoint: Path, *, cache_dir: Path, target: str = "cpu_onnx", options: SessionOptions | None = None,
    n_steps: int = 400, stress: str | None = None, is_shared: bool = False,
    on_phase: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Measure steps idle, under stress, and under stress with the realtime option.

    `stress` is stress-ng or builtin; by default whichever there is. On a shared machine, which is never idle, the idle
    phase gets the realtime option as well. Raises BackendUnavailable.
    """
    stress = stress or ("stress-ng" if shutil.which("stress-ng") else "builtin")
    options = options or SessionOptions(max_seq_len=512, n_slots=1, buckets=(1,))
    phases: dict[str, list[float]] = {}
    why = ""
    for number, (name, is_stressed, is_realtime) in enumerate(
        (("idle", False, is_shared), ("under stress", True, False), ("under stress, realtime", True, True)), 1
    ):
        with _stressed(stress if is_stressed else None), _raised(is_realtime, options.n_threads) as refused:
            why = why or refused
            phases[name] = _phase(checkpoint, cache_dir, target, options, n_steps)
        if on_phase:
            on_phase(number)
    figures = {name: spread(ms) for name, ms in phases.items()}
    idle = figures["idle"]["p99"]
    checks = [
        Check("P99 under stress / idle", figures["under stress"]["p99"] / idle, MAX_MOVE),
        Check(
            "P99 under stress / idle, realtime", figures["under stress, realtime"]["p99"] / idle, MAX_MOVE_REALTIME,
            note=why,
        ),
    ]  # fmt: skip
    return {
        "machine": machine(),
        "checkpoint": checkpoint.name,
        "target": target,
        "stress": stress,
        "is_shared": is_shared,
        "step_ms": figures,
        "steps_ms": {name: [round(ms, 4) for ms in values] for name, values in phases.items()},
        "checks": [check.as_dict() for check in checks],
    }


def _raised(is_wanted: bool, n_threads: int) -> AbstractContextManager[str]:
    return realtime(n_threads) if is_wanted else nullcontext("")


def _phase(checkpoint: Path, cache_dir: Path, target: str, options: SessionOptions, n_steps: int) -> list[float]:
    opened = open_warm(checkpoint, target, options, cache_dir)
    try:
        return _steps(opened.session, n_steps)
    finally:
        opened.session.close()


def _steps(session: Session, n_steps: int) -> list[float]:
    step_ms, token_id, breather = [], np.ones(1, np.int64), Breather()
    for index in range(n_steps):
        if index % session.options.max_seq_len == 0:
            session.kv.reset(0)
        if breather.pause():
            session.step(token_id, 1, slot=0)  # neither counted nor committed
        started_s = time.perf_counter()
        logits = session.step(token_id, 1, slot=0)
        step_ms.append((time.perf_counter() - started_s) * 1e3)
        session.kv.commit(0, 1)
        token_id[0] = logits.argmax()
    return step_ms


@contextmanager
def _stressed(stress: str | None) -> Iterator[None]:
    """Keep every core and the memory busy beside us."""
    if stress is None:
        yield
        return
    n_cores = len(os.sched_getaffinity(0))
    if stress == "stress-ng":
        command, n_processes = ["stress-ng", "--cpu", str(n_cores), "--vm", "1", "--vm-bytes", "128M", "--quiet"], 1
    else:
        command, n_processes = [sys.executable, "-c", _BURN], n_cores
    try:
        running = [subprocess.Popen(command) for _ in range(n_processes)]
    except FileNotFoundError as err:
        raise BackendUnavailable(f"{stress} is not installed; install it or take --stress builtin") from err
    try:
        time.sleep(_SETTLE_S)
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()
