"""How to reach the network; the defaults suit people, tests shorten them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

OnProgress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""


@dataclass(frozen=True)
class FetchOptions:
    """Addresses, patience and pauses of a pull."""

    hf_endpoint: str | None = None
    """Base address of the model hub; None = $HF_ENDPOINT or https://huggingface.co."""
    connect_timeout_s: float = 15.0
    read_timeout_s: float = 30.0
    """Silence after which a connection counts as dropped."""
    n_tries: int = 6
    """Failures in a row, without a byte gained, before giving up."""
    backoff_s: float = 0.5
    """Pause after the first failure; doubles each time, at most 20 s."""
    sleep: Callable[[float], None] = time.sleep
    on_wait: Callable[[], None] | None = None
    """Called once if another process is pulling the same file."""


DEFAULTS = FetchOptions()
