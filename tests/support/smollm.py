"""Finds the pulled SmolLM2 checkpoint for tests marked `model`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_FILE = Path("models/smollm2-135m-instruct-q4_1/SmolLM2-135M-Instruct.Q4_1.gguf")

# "The kitchen light is on. Please turn off the lamp in the living room and close the curtain before you go to bed,
# because it is late and the children are asleep." and what the model's tokenizer makes of it
TOKEN_IDS = (
    504, 9902, 1420, 314, 335, 30, 8765, 1607, 767, 260, 17559, 281, 260, 2242, 3589, 284, 2800, 260,
    34008, 1092, 346, 685, 288, 4463, 28, 975, 357, 314, 3008, 284, 260, 1122, 359, 16394, 30,
)  # fmt: skip


def smollm_path() -> Path:
    """Return the checkpoint; fails the test with the next step if it was not pulled."""
    home = os.environ.get("AGENTKIT_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "agentkit"
    path = Path(home).expanduser() / _FILE
    if not path.is_file():
        pytest.fail(f"{path} is missing; run: agentkit models pull SmolLM2-135M-Instruct")
    return path
