"""Batches of homes: several sentences about one home share its tokens, and no sentence sees another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sentencepiece as spm
import torch
from speech import Example, Speaker

POOL = 8
"""Batches drawn at once and sorted by length."""
MAX_LENGTH = 448
_TEXT_WEIGHT = 0.05
_TEXT_STRIDE = 3


@dataclass(frozen=True)
class Batch:
    """Token ids with what follows each; all [n_homes, length]."""

    ids: torch.Tensor
    positions: torch.Tensor
    """A sentence counts on from its home, as if it stood alone behind it."""
    parts: torch.Tensor
    """0 = home, 1… = sentence, -1 = padding."""
    targets: torch.Tensor
    weights: torch.Tensor
    """Share in the loss; 0 = none."""


@dataclass(frozen=True)
class _Row:
    ids: list[int]
    positions: list[int]
    parts: list[int]
    weights: list[float]


def draw(pieces: spm.SentencePieceProcessor, speaker: Speaker, *, n_homes: int, n_said: int) -> list[Batch]:
    """Draw POOL batches of like length, in random order: less padding, same data."""
    rows: list[_Row] = []
    while len(rows) < n_homes * POOL:
        row = _row(pieces, speaker.draw(n_said))
        if len(row.ids) <= MAX_LENGTH:
            rows.append(row)
    rows.sort(key=lambda r: len(r.ids))
    batches = [_batch(rows[i * n_homes : (i + 1) * n_homes]) for i in range(POOL)]
    speaker.rng.shuffle(batches)
    return batches


def encode_answer(pieces: spm.SentencePieceProcessor, answer: str) -> list[int]:
    """Token ids of an answer, [end] included."""
    return [*pieces.encode(answer.removesuffix("[end]")), pieces.eos_id()]


def _row(pieces: spm.SentencePieceProcessor, examples: list[Example]) -> _Row:
    home = pieces.encode(examples[0].home)
    ids, positions, parts = list(home), list(range(len(home))), [0] * len(home)
    weights = list(_text_weights(len(home)))
    for part, example in enumerate(examples, start=1):
        said, answer = pieces.encode(example.said), encode_answer(pieces, example.answer)
        ids += said + answer
        positions += range(len(home), len(home) + len(said) + len(answer))
        parts += [part] * (len(said) + len(answer))
        weights += [*_text_weights(len(said) - 1), *[1.0] * len(answer), 0.0]  # weight of what follows each token
    return _Row(ids, positions, parts, weights)


def _text_weights(n: int) -> Iterator[float]:
    return (_TEXT_WEIGHT if i % _TEXT_STRIDE == 0 and i + 1 < n else 0.0 for i in range(n))


def _batch(rows: list[_Row]) -> Batch:
    shape = (len(rows), max(len(r.ids) for r in rows))
    ids, positions, targets = (np.zeros(shape, np.int64) for _ in range(3))
    parts, weights = np.full(shape, -1, np.int64), np.zeros(shape, np.float32)
    for i, row in enumerate(rows):
        n = len(row.ids)
        ids[i, :n], positions[i, :n], parts[i, :n], weights[i, :n] = row.ids, row.positions, row.parts, row.weights
        targets[i, : n - 1] = row.ids[1:]
    return Batch(*(torch.from_numpy(x) for x in (ids, positions, parts, targets, weights)))
