"""Finds the pulled SmolLM2 checkpoint for tests marked `model`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_FILE = Path("models/smollm2-135m-instruct-q4_1/SmolLM2-135M-Instruct.Q4_1.gguf")


def smollm_path() -> Path:
    """Return the checkpoint; fails the test with the next step if it was not pulled."""
    home = os.environ.get("AGENTKIT_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "agentkit"
    path = Path(home).expanduser() / _FILE
    if not path.is_file():
        pytest.fail(f"{path} is missing; run: agentkit models pull SmolLM2-135M-Instruct")
    return path
