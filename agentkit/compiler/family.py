"""Which model families the compiler knows, and in what each differs from Llama."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from agentkit.decoder.backend import Activation
from agentkit.errors import UnknownArchitecture


@dataclass(frozen=True)
class Family:
    """RoPE, grouped-query attention, RMSNorm, a gated feed-forward; no sliding window. The defaults are Llama's."""

    has_qkv_bias: bool = False
    has_qk_norm: bool = False
    """Each head of q and k is normed before it is turned."""
    activation: Activation = "silu"
    activation_names: tuple[str, ...] = ("silu",)
    """What `hidden_act` of a Hugging Face config may say."""
    has_scaled_embedding: bool = False
    """Embeddings are multiplied by the root of their length."""
    norm_offset: float = 0.0
    """What a Hugging Face folder leaves out of the norms' weights; a GGUF file has it in them."""
    is_interleaved: bool = False
    """A GGUF file has q and k in the order of neighbouring rotary pairs."""
    is_head_tied: bool = False
    """What a Hugging Face config means that does not say."""


_LLAMA = Family(is_interleaved=True)
KNOWN: Mapping[str, Family] = MappingProxyType(
    {
        "llama": _LLAMA,
        "mistral": _LLAMA,
        "smollm2": _LLAMA,
        "qwen2": Family(has_qkv_bias=True),
        "qwen3": Family(has_qk_norm=True),
        "gemma": Family(
            activation="gelu",
            activation_names=("gelu", "gelu_pytorch_tanh"),
            has_scaled_embedding=True,
            norm_offset=1.0,
            is_head_tied=True,
        ),
    }
)


def find_family(path: Path, architecture: str) -> Family:
    """Return the family. Raises UnknownArchitecture."""
    if architecture not in KNOWN:
        raise UnknownArchitecture(
            f"{path}: architecture {architecture!r} is unknown; known are {', '.join(KNOWN)}; convert or choose another"
        )
    return KNOWN[architecture]
