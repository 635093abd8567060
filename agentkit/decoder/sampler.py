"""Chooses the next token from masked logits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentkit.decoder.backend import Logits

Sampler = Callable[[Logits], int]


@dataclass(frozen=True)
class Sampling:
    """How to choose; the default is greedy."""

    temperature: float = 0.0
    """0 = always the likeliest token; below 1 sharper, above 1 flatter."""
    top_k: int = 0
    """Only the k likeliest tokens; 0 = all."""
    top_p: float = 1.0
    """Only the likeliest tokens that together reach this probability."""
    seed: int | None = None
    """None = different every time."""

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 100:
            raise ValueError(f"temperature is {self.temperature}, wanted 0 to 100")
        if self.top_k < 0:
            raise ValueError(f"top_k is {self.top_k}, wanted 0 (all) or more")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}, wanted above 0 and at most 1")


def make_sampler(sampling: Sampling) -> Sampler:
    """Build the function that picks one id from logits [vocab_size]; tokens at -inf are never picked."""
    if sampling.temperature == 0:
        return lambda logits: int(logits.argmax())
    rng = np.random.default_rng(sampling.seed)

    def sample(logits: Logits) -> int:
        ids, probabilities = _candidates(logits, sampling)
        index = int(np.searchsorted(probabilities.cumsum(), rng.random()))
        return int(ids[min(index, len(ids) - 1)])

    return sample


def log_probability(logits: Logits, token_id: int) -> float:
    """Return the log-softmax of one token among those that the mask left."""
    highest = logits.max()
    shares = np.exp(logits - highest)  # [vocab_size] f32, 0 where masked
    return float(logits[token_id] - highest - np.log(shares.sum()))


def _candidates(logits: Logits, sampling: Sampling) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return ids and probabilities that remain after top-k and top-p, likeliest first."""
    ids = np.flatnonzero(logits > -np.inf)  # [n_allowed] i64
    if 0 < sampling.top_k < len(ids):
        ids = ids[np.argpartition(-logits[ids], sampling.top_k - 1)[: sampling.top_k]]
    ids = ids[np.argsort(-logits[ids], kind="stable")]
    scaled = logits[ids].astype(np.float64) / sampling.temperature
    probabilities = np.exp(scaled - scaled[0])
    probabilities /= probabilities.sum()
    if sampling.top_p < 1:
        n_kept = int(np.searchsorted(probabilities.cumsum(), sampling.top_p)) + 1
        ids, probabilities = ids[:n_kept], probabilities[:n_kept] / probabilities[:n_kept].sum()
    return ids, probabilities
