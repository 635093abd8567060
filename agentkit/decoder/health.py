"""Notices when a target answers with numbers that cannot be right (rule B10)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentkit.decoder.backend import Logits
from agentkit.errors import UnhealthyLogits


def check_logits(logits: Logits) -> None:
    """Look at raw logits [vocab_size] before any mask. Raises UnhealthyLogits; two passes, no allocation."""
    highest, lowest = float(logits.max()), float(logits.min())
    if math.isnan(highest):
        what = "NaN among the logits"
    elif math.isinf(highest):
        what = "all logits are -inf" if highest < 0 else "+inf among the logits"
    elif highest == lowest:
        what = "all logits are zero" if highest == 0 else f"all logits are {highest:g}"
    else:
        return
    raise UnhealthyLogits(f"{what}, wanted finite numbers that differ; the next planned target takes over")


@dataclass
class RepeatCheck:
    """Counts how often one token is sampled in a row."""

    max_repeats: int = 64
    _token_id: int = -1
    _n_repeats: int = 0

    def note(self, token_id: int) -> None:
        """Take one sampled token. Raises UnhealthyLogits when the same one came max_repeats times in a row."""
        self._n_repeats = self._n_repeats + 1 if token_id == self._token_id else 1
        self._token_id = token_id
        if self._n_repeats >= self.max_repeats:
            n_repeats, self._n_repeats = self._n_repeats, 0  # the next target gets a fresh count
            raise UnhealthyLogits(
                f"token {token_id} came {n_repeats} times in a row; the next planned target takes over"
            )
