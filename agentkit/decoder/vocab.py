"""Reads the parts of a vocabulary that byte-level BPE and SentencePiece share in GGUF metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from agentkit.decoder.tokenizer import Vocabulary
from agentkit.errors import CheckpointError

_END_KEYS: Final = ("eos_token_id", "eot_token_id", "eom_token_id")


class TokenType(IntEnum):
    """`tokenizer.ggml.token_type`, numbered as SentencePiece does."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


def gguf_list(metadata: Mapping[str, Any], key: str, path: Path, *, n_items: int | None = None) -> list[Any]:
    """Return `tokenizer.ggml.<key>`, checked for presence and length. Raises CheckpointError."""
    items = metadata.get(f"tokenizer.ggml.{key}")
    if not isinstance(items, list) or not items:
        raise CheckpointError(f"{path}: tokenizer.ggml.{key} is missing; the file holds no usable tokenizer")
    if n_items is not None and len(items) != n_items:
        raise CheckpointError(f"{path}: tokenizer.ggml.{key} has {len(items)} items, wanted {n_items}; the file is bad")
    return items


def gguf_vocabulary(
    metadata: Mapping[str, Any], path: Path, *, to_bytes: Callable[[str, int], bytes], has_space_prefix: bool
) -> Vocabulary:
    """Build the vocabulary; `to_bytes` turns a token's name and type into the bytes that it stands for."""
    tokens = gguf_list(metadata, "tokens", path)
    types = gguf_list(metadata, "token_type", path, n_items=len(tokens))
    special, added = sort_names((name, index, types[index] == TokenType.CONTROL) for index, name in enumerate(tokens)
                                if types[index] in (TokenType.CONTROL, TokenType.USER_DEFINED))  # fmt: skip
    ends = [metadata.get(f"tokenizer.ggml.{key}") for key in _END_KEYS]
    eos_ids = tuple(dict.fromkeys(i for i in ends if isinstance(i, int) and 0 <= i < len(tokens)))
    bos_id = metadata.get("tokenizer.ggml.bos_token_id")
    return Vocabulary(
        token_bytes=tuple(to_bytes(name, kind) for name, kind in zip(tokens, types, strict=True)),
        special_ids=special,
        added_ids=added,
        bos_id=bos_id if isinstance(bos_id, int) and 0 <= bos_id < len(tokens) else None,
        eos_ids=eos_ids,
        has_bos=bool(metadata.get("tokenizer.ggml.add_bos_token", has_space_prefix)),
        has_space_prefix=has_space_prefix,
        chat_template=metadata.get("tokenizer.chat_template"),
    )


def sort_names(tokens: Any) -> tuple[dict[str, int], dict[str, int]]:
    """Sort (name, id, is_control) into special and added ones.

    What looks like markup is special even if the checkpoint only calls it user-defined, so that nobody can type it.
    """
    special: dict[str, int] = {}
    added: dict[str, int] = {}
    for name, index, is_control in tokens:
        if is_control or (name.startswith("<") and name.endswith(">")):
            special[name] = index
        else:
            added[name] = index
    return special, added
