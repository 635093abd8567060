"""Which model families the compiler knows, and the options that put a member outside of them."""

from __future__ import annotations

from pathlib import Path

from agentkit.errors import UnknownArchitecture

KNOWN = ("llama", "mistral", "smollm2")
"""All one decoder: RoPE, grouped-query attention, RMSNorm, SwiGLU, no biases, no sliding window."""


def check_architecture(path: Path, architecture: str) -> None:
    """Raise UnknownArchitecture unless the family is known."""
    if architecture not in KNOWN:
        raise UnknownArchitecture(
            f"{path}: architecture {architecture!r} is unknown; known are {', '.join(KNOWN)}; convert or choose another"
        )
