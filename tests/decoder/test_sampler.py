from __future__ import annotations

import math

import numpy as np
import pytest

from agentkit.decoder.sampler import Sampling, log_probability, make_sampler

LOGITS = np.array([1.0, 3.0, -np.inf, 2.0, 2.5], np.float32)


def draw(sampling: Sampling, n: int = 400) -> set[int]:
    sampler = make_sampler(sampling)
    return {sampler(LOGITS) for _ in range(n)}


def test_greedy_takes_the_likeliest() -> None:
    assert make_sampler(Sampling())(LOGITS) == 1


def test_masked_tokens_are_never_drawn() -> None:
    assert draw(Sampling(temperature=50, seed=1)) == {0, 1, 3, 4}


def test_top_k_keeps_the_k_likeliest() -> None:
    assert draw(Sampling(temperature=50, top_k=2, seed=1)) == {1, 4}


def test_top_p_keeps_the_smallest_set_that_reaches_p() -> None:
    assert draw(Sampling(temperature=1, top_p=0.4, seed=1)) == {1}
    assert draw(Sampling(temperature=1, top_p=0.6, seed=1)) == {1, 4}


def test_one_seed_gives_one_sequence() -> None:
    first, second = (make_sampler(Sampling(temperature=1, seed=7)) for _ in range(2))
    assert [first(LOGITS) for _ in range(50)] == [second(LOGITS) for _ in range(50)]


def test_frequencies_follow_the_softmax() -> None:
    sampler = make_sampler(Sampling(temperature=1, seed=3))
    n = 4000
    share = sum(sampler(LOGITS) == 1 for _ in range(n)) / n
    assert share == pytest.approx(math.exp(log_probability(LOGITS, 1)), abs=0.03)


def test_log_probabilities_of_allowed_tokens_sum_to_one() -> None:
    assert sum(math.exp(log_probability(LOGITS, i)) for i in (0, 1, 3, 4)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "bad", [{"temperature": -1}, {"temperature": float("nan")}, {"top_k": -1}, {"top_p": 0}, {"top_p": 1.5}]
)
def test_nonsense_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Sampling(**bad)  # type: ignore[arg-type]
