"""Opens targets for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.compiler.quantise import check_precision, run_tensor
from agentkit.decoder.backend import Backend, Session, SessionOptions
from agentkit.decoder.memory_pool import Pools
from runtimes import onnx_cpu, reference

OPTIONS = SessionOptions(max_seq_len=128, n_slots=2, buckets=(1, 4, 16, 32), n_threads=1)


Open = Callable[[Path, Path, SessionOptions, str | None], Session]


def open_on(backend: Backend) -> Open:
    """How to open models on a target: checkpoint, folder of compiled models, options, precision."""

    def opened(path: Path, cache_dir: Path, options: SessionOptions = OPTIONS, precision: str | None = None) -> Session:
        options = replace(options, precision=precision)
        pools = Pools.from_sizes(backend.plan(path, options))
        return backend.open(path, options, pools=pools, cache_dir=cache_dir)

    return opened


def open_onnx(path: Path, cache_dir: Path, options: SessionOptions = OPTIONS, precision: str | None = None) -> Session:
    return open_on(onnx_cpu.BACKEND)(path, cache_dir, options, precision)


def open_reference(path: Path, options: SessionOptions = OPTIONS, precision: str | None = None) -> Session:
    """Open the reference on the weights as a graph of that precision runs them."""
    checkpoint = load_checkpoint(path)
    chosen = check_precision(checkpoint, precision)
    pools = Pools.from_sizes(reference.plan_sizes(checkpoint.spec, options))
    return reference.ReferenceSession(
        checkpoint.spec, lambda name: run_tensor(checkpoint, name, chosen), options, pools
    )
