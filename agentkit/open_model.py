"""Brings a model up: manifest → probes → plan → pull and verify → open → warm up, telling each step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentkit.config import App

if TYPE_CHECKING:
    from pathlib import Path

    from agentkit.artifact import Artifact
    from agentkit.decoder.decoder import Decoder
    from agentkit.planner.plan import Choice, Plan

Say = Callable[[str], None]
PROGRESS_EVERY_S = 1.0


@dataclass(frozen=True)
class Model:
    """A warm decoder and the plan that chose its target."""

    decoder: Decoder
    plan: Plan


def compiled_dir() -> Path:
    """Folder of what targets compile out of checkpoints."""
    from agentkit.fetch import agentkit_home

    return agentkit_home() / "compiled"


def plan_model(app: App) -> Plan:
    """Choose targets for the app's model on this machine. Raises ManifestError, ConfigError."""
    from agentkit.fetch import agentkit_home, is_pulled
    from agentkit.manifest import find_manifest, find_model, load_manifest
    from agentkit.planner import choose, probe_host, probe_targets

    home = agentkit_home()
    model = find_model(load_manifest(find_manifest(app.manifest)), app.model)
    pulled = [artifact.name for artifact in model.artifacts if is_pulled(artifact, home)]
    return choose(model, probe_targets(), device=probe_host(home), named=app.target, pulled=pulled)


def open_model(app: App, say: Say) -> Model:
    """Open the app's model on the first planned target that works, warm.

    Raises NoTarget, ManifestError, CheckpointError, DecoderError; each says the next step.
    """
    from agentkit.decoder.backend import SessionOptions
    from agentkit.decoder.open import open_decoder

    plan = plan_model(app)
    for line in plan.lines():
        say(f"plan     {line}")
    first, *_ = choices = plan.require()
    checkpoint = _pull(first.artifact, say)
    options = SessionOptions(
        max_seq_len=min(SessionOptions.max_seq_len, plan.model.context),
        n_threads=app.threads,
        cores=app.cores,
        precision=_precision(first, app),
        importance=_calibrate(app, checkpoint, _precision(first, app), say),
    )
    _tell_pools(first, checkpoint, options, say)
    started_at = time.perf_counter()
    say(f"opening  {first.target}{f' in {options.precision}' if options.precision else ''}, warming up every path")
    decoder = open_decoder(
        [(choice.target, _precision(choice, app)) for choice in choices if choice.artifact == first.artifact],
        checkpoint,
        options,
        compiled_dir(),
    )
    say(f"warm     {decoder.status()['target']} after {time.perf_counter() - started_at:.1f} s; pools are sealed")
    return Model(decoder, plan)


def _pull(artifact: Artifact, say: Say) -> Path:
    from agentkit.fetch import agentkit_home, pull

    told_at = time.monotonic()

    def on_progress(n_done: int, n_all: int) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= PROGRESS_EVERY_S:
            told_at = time.monotonic()
            say(f"pulling  {artifact.name}: {n_done / 1e6:.0f} of {n_all / 1e6:.0f} MB")

    return pull(artifact, home=agentkit_home(), on_progress=on_progress)


def _tell_pools(choice: Choice, checkpoint: Path, options: Any, say: Say) -> None:
    """Print the pools before anything is allocated (rule A9)."""
    from agentkit.plugins import find_backend

    sizes = find_backend(choice.target).plan(checkpoint, options)
    parts: Mapping[str, int] = {"weight": sizes.weight_bytes, "cache": sizes.cache_bytes, "temp": sizes.temp_bytes}
    say("pools    " + ", ".join(f"{name} {n_bytes / 1e6:.1f} MB" for name, n_bytes in parts.items()))


def _precision(choice: Choice, app: App) -> str | None:
    """What to ask of the target: what the plan found that it must be, else what the app says; None = as stored."""
    return app.precision if choice.precision == choice.artifact.precision else choice.precision


def _calibrate(app: App, checkpoint: Path, precision: str | None, say: Say) -> str:
    """Path of the calibration for weights that are to be rounded to 4 bits; "" if none are or the app wants none.

    At 8 bits it gains less than the rounding of the inputs costs (docs/benchmarks.md), and is not worth the wait.
    """
    from agentkit.calibrate import ensure_calibrated

    if not app.calibrate or precision != "int4":
        return ""
    return ensure_calibrated(app, checkpoint, precision, cache_dir=compiled_dir(), say=say)
