"""Checks of the training that need PyTorch: `make train-check`, not part of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from batches import POOL, draw
from speech import Speaker
from train import Options, Trainer

TOKENIZER = Path(__file__).parent.parent / "tokenizer.model"


def trainer(out: Path) -> Trainer:
    torch.set_num_threads(1)
    return Trainer(Options(out, TOKENIZER, steps=100, homes=2, said=2, seed=3))


def test_two_steps_are_one_step_and_one_more_after_a_restart(tmp_path: Path) -> None:
    at_once = trainer(tmp_path / "a")
    at_once.advance()
    at_once.advance()
    first = trainer(tmp_path / "b")
    first.advance()
    first.save()
    second = trainer(tmp_path / "b")
    second.load()
    second.advance()

    assert second.step == 2
    for name, weight in at_once.model.state_dict().items():
        assert torch.equal(weight, second.model.state_dict()[name]), name


def test_batches_follow_from_the_seed(tmp_path: Path) -> None:
    pieces = trainer(tmp_path).pieces
    one, same, other = (draw(pieces, Speaker(s), n_homes=2, n_said=2) for s in (5, 5, 6))
    assert all(torch.equal(a.ids, b.ids) for a, b in zip(one, same, strict=True))
    assert not all(a.ids.shape == b.ids.shape and torch.equal(a.ids, b.ids) for a, b in zip(one, other, strict=True))


def test_no_sentence_sees_another(tmp_path: Path) -> None:
    """The loss of a sentence is the same alone and among others of its home."""
    model, pieces = trainer(tmp_path).model, trainer(tmp_path).pieces
    batch = draw(pieces, Speaker(8), n_homes=1, n_said=3)[0]
    together = model(batch.ids, torch.arange(batch.ids.numel()), batch.positions, batch.parts)
    for part in (1, 2, 3):
        kept = (batch.parts[0] == 0) | (batch.parts[0] == part)
        alone = model(batch.ids[:, kept], torch.arange(int(kept.sum())))
        assert torch.allclose(alone, together[kept], atol=1e-4)


def test_pool_is_sorted_into_batches_without_loss(tmp_path: Path) -> None:
    batches = draw(trainer(tmp_path).pieces, Speaker(9), n_homes=3, n_said=2)
    assert len(batches) == POOL
    assert all(b.ids.shape == b.weights.shape and (b.weights > 0).any() for b in batches)


@pytest.mark.parametrize("is_held_out", [False, True])
def test_held_out_wordings_are_never_trained_on(is_held_out: bool) -> None:
    speaker, other = Speaker(11, is_held_out=is_held_out), Speaker(12, is_held_out=not is_held_out)
    lines = speaker.phrases["en"]["frames"]
    assert {speaker.pick(lines) for _ in range(2000)}.isdisjoint(other.pick(lines) for _ in range(2000))
