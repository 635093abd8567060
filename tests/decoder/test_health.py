from __future__ import annotations

import numpy as np
import pytest

from agentkit.decoder.backend import Logits
from agentkit.decoder.health import RepeatCheck, check_logits
from agentkit.errors import UnhealthyLogits


def logits(**changes: float) -> Logits:
    values = np.linspace(-5, 5, 100, dtype=np.float32)
    for index, value in changes.items():
        values[int(index[1:])] = value
    return values


def test_finite_different_logits_pass() -> None:
    check_logits(logits())
    check_logits(logits(i3=-np.inf))  # some targets mask padded vocabulary rows


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (logits(i50=np.nan), "NaN"),
        (logits(i50=np.inf), r"\+inf"),
        (np.full(100, -np.inf, np.float32), "all logits are -inf"),
        (np.full(100, np.inf, np.float32), r"\+inf"),
        (np.zeros(100, np.float32), "all logits are zero"),
        (np.full(100, 2.5, np.float32), "all logits are 2.5"),
        (np.full(100, np.nan, np.float32), "NaN"),
    ],
)
def test_impossible_logits_are_named(values: Logits, what: str) -> None:
    with pytest.raises(UnhealthyLogits, match=what):
        check_logits(values)


def test_the_same_token_with_the_same_logits_again_and_again_is_a_stuck_target() -> None:
    check, same, other = RepeatCheck(max_stuck=3), (2.0, -1.0, 7.5), (2.0, -1.0, 7.25)
    for token_id, fingerprint in (
        (5, same),
        (5, same),
        (5, same),
        (5, other),
        (6, same),
        (5, same),
        (5, same),
        (5, same),
    ):
        assert not check.note(token_id, fingerprint)
    with pytest.raises(UnhealthyLogits, match="token 5 came 4 times in a row with the same logits"):
        check.note(5, same)
    assert not check.note(5, same)  # the next target starts counting afresh


def test_the_same_token_with_logits_that_move_is_a_circle_of_the_model() -> None:
    check = RepeatCheck(max_repeats=4)
    assert [check.note(5, (float(i), 0.0, 0.0)) for i in range(6)] == [False] * 4 + [True] * 2
    assert not check.note(6, (0.0, 0.0, 0.0))
