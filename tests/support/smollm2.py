"""Finds the pulled SmolLM2 checkpoint for tests marked `model`."""

from __future__ import annotations

import os
from pathlib import Path

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"

# "The kitchen light is on. Please turn off the lamp in the living room and close the curtain before you go to bed,
# because it is late and the children are asleep." and what the model's tokenizer makes of it
TOKEN_IDS = (
    504,
    9902,
    1420,
    314,
    335,
    30,
    8765,
    1607,
    767,
    260,
    17559,
    281,
    260,
    2242,
    3589,
    284,
    2800,
    260,
    34008,
    1092,
    346,
    685,
    288,
    4463,
    28,
    975,
    357,
    314,
    3008,
    284,
    260,
    1122,
    359,
    16394,
    30,
)


def smollm2_path() -> Path:
    """Return the checkpoint's path, or fail saying how to get it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(os.environ.get("AGENTKIT_HOME") or cache / "agentkit")
    found = next(iter(sorted(home.rglob(NAME))), None) if home.exists() else None
    assert found, f"{NAME} is not below {home}; run: agentkit models pull smollm2-135m-instruct"
    return found
