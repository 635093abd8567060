"""Notices when a target answers with numbers that cannot be right (rule B10)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentkit.decoder.backend import Logits
from agentkit.errors import UnhealthyLogits

Fingerprint = tuple[float, float, float]
"""Highest, lowest and a sample's sum of one step's logits: equal ones mean that the target answered the same twice."""


def check_logits(logits: Logits) -> Fingerprint:
    """Look at raw logits [vocab_size] before any mask. Raises UnhealthyLogits; two passes, no allocation."""
    highest, lowest = float(logits.max()), float(logits.min())
    if math.isnan(highest):
        what = "NaN among the logits"
    elif math.isinf(highest):
        what = "all logits are -inf" if highest < 0 else "+inf among the logits"
    elif highest == lowest:
        what = "all logits are zero" if highest == 0 else f"all logits are {highest:g}"
    else:
        return highest, lowest, float(logits[::61].sum())
    raise UnhealthyLogits(f"{what}, wanted finite numbers that differ; the next planned target takes over")


@dataclass
class RepeatCheck:
    """Tells a stuck target from a model that talks in circles.

    Both repeat one token endlessly. A stuck target does so with the very same logits whatever it is given and must be
    replaced; a small model does so with logits that move, on every target alike, and only its answer must end.
    """

    max_repeats: int = 64
    """As often in a row one token may come; more is a circle."""
    max_stuck: int = 8
    """As often in a row the same token may come with the same logits; more is a stuck target."""
    _token_id: int = -1
    _fingerprint: Fingerprint = (0.0, 0.0, 0.0)
    _n_repeats: int = 0
    _n_stuck: int = 0

    def note(self, token_id: int, fingerprint: Fingerprint) -> bool:
        """Take one sampled token; returns True if the answer goes in circles. Raises UnhealthyLogits if stuck."""
        is_same = token_id == self._token_id
        self._n_repeats = self._n_repeats + 1 if is_same else 1
        self._n_stuck = self._n_stuck + 1 if is_same and fingerprint == self._fingerprint else 1
        self._token_id, self._fingerprint = token_id, fingerprint
        if self._n_stuck > self.max_stuck:
            n_stuck, self._n_stuck = self._n_stuck, 0  # the next target gets a fresh count
            raise UnhealthyLogits(
                f"token {token_id} came {n_stuck} times in a row with the same logits; the next target takes over"
            )
        return self._n_repeats > self.max_repeats
