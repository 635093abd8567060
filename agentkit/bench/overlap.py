"""Several requests at once on one target: what the pipeline overlaps, and where its throughput comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentkit.decoder.lane import Lane
from agentkit.decoder.pipeline import Pipeline
from agentkit.decoder.run import Run
from agentkit.decoder.sampler import Sampling
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.decoder.trace import StageTrace
from agentkit.decoder.turn import Turn
from agentkit.decoder.watch import Watch
from agentkit.decoder.workers import Workers


@dataclass(frozen=True)
class Load:
    """What is asked."""

    n_requests: int = 16
    n_clients: int = 4
    """So many requests are on their way at once; a client asks again as soon as it has its answer."""
    n_prompt: int = 32
    """Tokens of a request that no saved prefix covers."""
    n_tokens: int = 16


@dataclass(frozen=True)
class Served:
    """What came of it."""

    token_ids: tuple[tuple[int, ...], ...]
    """Answer of each request, in the order they were asked."""
    n_steps: int


def serve(
    lane: Lane, tokenizer: Tokenizer, load: Load, *, n_in_flight: int | None = None, has_workers: bool = False,
    trace: StageTrace | None = None,
) -> Served:  # fmt: skip
    """Answer the requests of a load through one pipeline, in an order that is the same every time."""
    pipeline = Pipeline(lane, watch=Watch(), n_in_flight=n_in_flight)
    workers = Workers(pipeline) if has_workers else None
    turns = [_turn(tokenizer, load, number) for number in range(load.n_requests)]
    active: dict[Run, int] = {}
    n_begun = n_steps = 0
    try:
        while n_begun < len(turns) or active:
            while n_begun < len(turns) and len(active) < min(load.n_clients, lane.kv.n_slots):
                run = Run(
                    lane, turns[n_begun], n_known=tokenizer.vocab_size, busy={run.slot for run in active},
                    sequence=n_begun, trace=trace,
                )  # fmt: skip
                active[run] = n_begun
                pipeline.entry.push(run)
                n_begun += 1
            (workers or pipeline).advance()
            while pipeline.finished:
                run = pipeline.finished.popleft()
                del active[run]
                n_steps += run.times.n_steps
                if run.error is not None:
                    raise run.error
    finally:
        if workers is not None:
            workers.stop()
    return Served(tuple(tuple(turn.ids) for turn in turns), n_steps)


def _turn(tokenizer: Tokenizer, load: Load, number: int) -> Turn:
    ids = prompt_ids(load.n_prompt, number, vocab_size=tokenizer.vocab_size)
    return Turn(
        tokenizer, ids, n_prefix=0, grammar=None, max_tokens=load.n_tokens, sampling=Sampling(), on_text=None,
        cancelled=None, deadline=None, max_repeats=load.n_tokens + 1,
    )  # fmt: skip


def prompt_ids(n_tokens: int, number: int, *, vocab_size: int) -> Sequence[int]:
    """Make a prompt that differs from request to request; ids below the specials are left out."""
    return [16 + (7919 * number + 31 * i) % (vocab_size - 16) for i in range(n_tokens)]
