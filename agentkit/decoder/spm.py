"""SentencePiece tokenizers, from a *.model file or from the vocabulary that a GGUF file embeds."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import sentencepiece

from agentkit.decoder.bpe import spm_bytes
from agentkit.decoder.tokenizer import Tokenizer, Vocabulary
from agentkit.decoder.vocab import TokenType, gguf_list, gguf_vocabulary
from agentkit.errors import CheckpointError

_BPE: Final = 2  # TrainerSpec.ModelType
_NO_PREFIX: Final = b"\x1a\x02\x18\x00"
"""`normalizer_spec { add_dummy_prefix: false }`; protobuf lets it override when appended to a serialised model."""


def from_model_file(path: Path) -> Tokenizer:
    """Load a *.model file. Raises CheckpointError if it is not one."""
    try:
        model = path.read_bytes()
    except OSError as err:
        raise CheckpointError(f"{path}: cannot be read ({err}); copy it from the checkpoint again") from err
    original = _processor(model, path)
    core = _processor(model + _NO_PREFIX, path)
    pieces = [core.id_to_piece(i) for i in range(core.get_piece_size())]
    special = {p: i for i, p in enumerate(pieces) if core.is_control(i)}
    vocabulary = Vocabulary(
        token_bytes=tuple(p.encode() if p in special else spm_bytes(p) for p in pieces),
        special_ids=special,
        bos_id=core.bos_id() if core.bos_id() >= 0 else None,
        eos_ids=(core.eos_id(),) if core.eos_id() >= 0 else (),
        has_bos=core.bos_id() >= 0,
        has_space_prefix=bool(original.encode("a", out_type=str)[0].startswith("▁")),
    )
    return Tokenizer(vocabulary, partial(_encode, core))


def from_gguf(metadata: Mapping[str, Any], path: Path) -> Tokenizer:
    """Rebuild the SentencePiece model that GGUF metadata lists piece by piece."""
    names = gguf_list(metadata, "tokens", path)
    scores = gguf_list(metadata, "scores", path, n_items=len(names))
    types = gguf_list(metadata, "token_type", path, n_items=len(names))
    core = _processor(_serialise(names, scores, types), path)
    vocabulary = gguf_vocabulary(
        metadata,
        path,
        to_bytes=lambda name, kind: name.encode() if kind == TokenType.CONTROL else spm_bytes(name),
        has_space_prefix=bool(metadata.get("tokenizer.ggml.add_space_prefix", True)),
    )
    return Tokenizer(vocabulary, partial(_encode, core))


def _encode(core: sentencepiece.SentencePieceProcessor, text: str) -> list[int]:
    ids: list[int] = core.encode(text)
    return ids


def _processor(model: bytes, path: Path) -> sentencepiece.SentencePieceProcessor:
    core = sentencepiece.SentencePieceProcessor()
    try:
        core.load_from_serialized_proto(model)
    except RuntimeError as err:
        raise CheckpointError(f"{path}: holds no SentencePiece model ({err}); copy it again") from err
    return core


def _serialise(names: list[str], scores: list[float], types: list[int]) -> bytes:
    """Write a SentencePiece ModelProto: pieces, BPE with byte fallback, and no change to white space."""
    out = bytearray()
    for name, score, kind in zip(names, scores, types, strict=True):
        if kind == TokenType.USER_DEFINED:  # SentencePiece would find these in any text; `Tokenizer` cuts them out
            kind = TokenType.CONTROL
        piece = _field(1, name.encode()) + b"\x15" + struct.pack("<f", score) + _number(3, kind)
        out += _field(1, piece)
    unknown = types.index(TokenType.UNKNOWN) if TokenType.UNKNOWN in types else 0
    has_bytes = TokenType.BYTE in types
    trainer = _number(3, _BPE) + _number(35, int(has_bytes)) + _number(40, unknown)
    normalizer = _field(1, b"identity") + _number(3, 0) + _number(4, 0) + _number(5, 1)
    return bytes(out + _field(2, trainer) + _field(3, normalizer))


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
