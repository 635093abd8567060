"""Opens a decoder on the planned targets: the first now, the others when they are needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from agentkit import __version__
from agentkit.decoder.backend import Backend, SessionOptions
from agentkit.decoder.decoder import Decoder
from agentkit.decoder.governor import Governor
from agentkit.decoder.identity import identity
from agentkit.decoder.memory_pool import Pools
from agentkit.decoder.prefix_store import PrefixStore
from agentkit.decoder.sensors import Sensors
from agentkit.decoder.targets import Opened
from agentkit.decoder.tokenizer import load_tokenizer
from agentkit.plugins import find_backend


def open_decoder(
    choices: Sequence[tuple[str, str | None]],
    checkpoint: Path,
    options: SessionOptions,
    cache_dir: Path,
    *,
    backends: Mapping[str, Backend] | None = None,
    max_repeats: int = 64,
) -> Decoder:
    """Open the checkpoint on the first (target, precision) that works, warmed up and with sealed pools.

    `backends` are used before installed ones. Raises CheckpointError, and the last target's error if none opens.
    """
    tokenizer = load_tokenizer(checkpoint)
    planned: list[tuple[str, Callable[[], Opened]]] = [
        (target, partial(_open, target, checkpoint, replace(options, precision=precision), cache_dir, backends))
        for target, precision in choices
    ]
    (first, precision), n_threads = choices[0], options.n_threads or len(os.sched_getaffinity(0))
    half = replace(options, precision=precision, n_threads=n_threads // 2)
    lean = [(f"{first} ({half.n_threads} threads)", partial(_open, first, checkpoint, half, cache_dir, backends))]
    lean = lean if half.n_threads else []
    sensors = Sensors()
    governor = None if sensors.is_blind else Governor(sensors, n_levels=1 + len(lean))
    decoder = Decoder(planned, tokenizer, max_repeats=max_repeats, lean=lean, governor=governor)
    decoder.warm_up()
    return decoder


def _open(
    target: str, checkpoint: Path, options: SessionOptions, cache_dir: Path, backends: Mapping[str, Backend] | None
) -> Opened:
    backend = find_backend(target, backends)
    pools = Pools.from_sizes(backend.plan(checkpoint, options))
    session = backend.open(checkpoint, options, pools=pools, cache_dir=cache_dir)
    key = repr((__version__, target, backend.probe().detail, options, identity(checkpoint)))
    return Opened(session, pools, PrefixStore(cache_dir / "prefixes", key))
