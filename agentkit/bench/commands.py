"""Many commands in a row through the whole agent: memory must stay flat, pools sealed, turns quick."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from agentkit.config import App
from agentkit.startup import Options, Talk, opened_once
from agentkit.types import Utterance

MAX_GROWTH_MB = 10.0
"""What the resident set may grow by over 2,000 commands."""
MODEL_EVERY = 10
WARM_UP = 200
"""Commands before memory is measured from: every sentence of the smart home once, caches filled."""


def commands_bench(
    options: Options,
    say: Callable[[str], None],
    *,
    n_commands: int = 2000,
    sample_every: int = 100,
    on_command: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Run the commands after a warm-up and return memory samples and milliseconds per turn by path.

    States of devices are kept nowhere.
    """
    rss_mb: list[tuple[int, float]] = []
    ms: dict[str, list[float]] = defaultdict(list)
    process = psutil.Process()
    with (
        tempfile.TemporaryDirectory(prefix="agentkit-") as folder,
        opened_once(replace(options, state=Path(folder)), say) as talk,
    ):
        sentences = itertools.cycle(spoken(talk.app, has_model=options.has_model))
        for text in itertools.islice(sentences, WARM_UP):
            _turn(talk, text, 0)
        for n_done in range(n_commands + 1):
            if n_done % sample_every == 0 or n_done == n_commands:
                rss_mb.append((n_done, process.memory_info().rss / 1e6))
            if n_done < n_commands:
                path, took_ms = _turn(talk, next(sentences), n_done)
                ms[path].append(took_ms)
            if on_command:
                on_command(n_done)
    growth_mb = rss_mb[-1][1] - rss_mb[0][1]
    return {
        "n_commands": n_commands,
        "rss_mb": rss_mb,
        "growth_mb": growth_mb,
        "is_flat": growth_mb < MAX_GROWTH_MB,
        "ms": {path: _figures(values) for path, values in sorted(ms.items())},
    }


def spoken(app: App, *, has_model: bool) -> list[str]:
    """Sentences that name a device and a plain tool; every tenth is worded so that only a model could know it."""
    plain = list(app.plain_commands())
    if not has_model:
        return plain
    odd = itertools.cycle([f"would you kindly see to the {device.name} as usual" for device in app.home.devices])
    return [next(odd) if number % MODEL_EVERY == 0 else text for number, text in enumerate(plain, 1)]


def _turn(talk: Talk, text: str, number: int) -> tuple[str, float]:
    started_at = time.perf_counter()
    reply = talk.agent.handle(Utterance(text, session=f"bench-{number}", source="cli"))
    return reply.path, (time.perf_counter() - started_at) * 1e3


def _figures(ms: list[float]) -> dict[str, float]:
    return {"n": len(ms), "p50": float(np.percentile(ms, 50)), "p99": float(np.percentile(ms, 99)), "max": max(ms)}
