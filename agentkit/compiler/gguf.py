"""Reads the weights of Llama-family GGUF files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import BLOCK, Checkpoint, QuantBlocks, Tensor
from agentkit.compiler.family import Family, find_family
from agentkit.decoder.backend import DecoderSpec
from agentkit.decoder.gguf_header import GGUFHeader, kind_name, map_file, read_header, tensor_bytes
from agentkit.errors import CheckpointError

_NAMES = {"token_embd.weight": "embed", "output_norm.weight": "final_norm", "output.weight": "head"}
_LAYER_NAMES = {
    "attn_norm": "attn_norm", "attn_q": "q", "attn_k": "k", "attn_v": "v", "attn_output": "o",
    "ffn_norm": "ffn_norm", "ffn_gate": "gate", "ffn_up": "up", "ffn_down": "down",
    "attn_q_norm": "q_norm", "attn_k_norm": "k_norm",
}  # fmt: skip
_PRECISIONS = {"F32": "f32", "F16": "f32", "BF16": "f32", "Q4_0": "int4", "Q4_1": "int4"}
"""Everything else runs as int8: in 8 bits a matrix of another block format loses next to nothing."""


def open_gguf(path: Path) -> Checkpoint:
    """Open a Llama-family GGUF file. Raises CheckpointError."""
    header = read_header(path)
    architecture = str(header.metadata.get("general.architecture", "nameless"))
    family = find_family(path, architecture)
    spec = _spec(header, architecture, family)
    reader = _GGUFReader(header, spec, is_interleaved=family.is_interleaved)
    return Checkpoint(path, spec, _precision(header), reader)


def _spec(header: GGUFHeader, architecture: str, family: Family) -> DecoderSpec:
    meta, path = header.metadata, header.path

    def get(key: str, default: Any = None) -> Any:
        value = meta.get(f"{architecture}.{key}", default)
        if value is None:
            raise CheckpointError(f"{path}: metadata {architecture}.{key} is missing; convert the file again")
        return value

    for key in ("rope.scaling.type", "expert_count", "attention.sliding_window"):
        if get(key, 0) not in (0, "none"):
            raise CheckpointError(f"{path}: {key} = {get(key)!r} is not supported; choose a checkpoint without it")
    embed = header.tensors.get("token_embd.weight")
    try:
        n_heads, hidden = int(get("attention.head_count")), int(get("embedding_length"))
        return DecoderSpec(
            architecture=architecture,
            n_layers=int(get("block_count")),
            hidden_size=hidden,
            n_heads=n_heads,
            n_kv_heads=int(get("attention.head_count_kv", n_heads)),
            head_dim=int(get("attention.key_length", hidden // n_heads)),
            ffn_size=int(get("feed_forward_length")),
            vocab_size=embed.shape[0] if embed and embed.shape else 0,
            max_seq_len=int(get("context_length")),
            rope_theta=float(get("rope.freq_base", 10000.0)),
            rms_norm_eps=float(get("attention.layer_norm_rms_epsilon")),
            is_head_tied="output.weight" not in header.tensors,
            has_qkv_bias=family.has_qkv_bias,
            has_qk_norm=family.has_qk_norm,
            activation=family.activation,
            embed_scale=hidden**0.5 if family.has_scaled_embedding else 1.0,
        )
    except (TypeError, ValueError, ArithmeticError) as err:
        raise CheckpointError(f"{path}: metadata of {architecture} is damaged ({err}); pull the file again") from err


def _precision(header: GGUFHeader) -> str:
    matrices = [kind_name(info.kind) for name, info in header.tensors.items() if name.startswith("blk.0.ffn_")]
    kinds = {kind for kind in matrices if kind != "F32"} or {"F32"}
    return max((_PRECISIONS.get(kind, "int8") for kind in kinds), key=("f32", "int8", "int4").index)


def _own_name(name: str) -> str | None:
    if name in _NAMES:
        return _NAMES[name]
    match name.split("."):
        case ["blk", layer, part, "weight"] if part in _LAYER_NAMES:
            return f"layers.{layer}.{_LAYER_NAMES[part]}"
        case ["blk", layer, part, "bias"] if part in ("attn_q", "attn_k", "attn_v"):
            return f"layers.{layer}.{_LAYER_NAMES[part]}_bias"
    return None


class _GGUFReader:
    """Serves tensors out of the mapped file."""

    def __init__(self, header: GGUFHeader, spec: DecoderSpec, *, is_interleaved: bool):
        self._is_interleaved = is_interleaved
        self._path, self._data, self._spec = header.path, map_file(header.path), spec
        self._infos = {_own_name(name) or name: info for name, info in header.tensors.items()}
        self.shapes = {name: info.shape for name, info in self._infos.items()}

    def tensor(self, name: str) -> Tensor:
        from gguf import GGMLQuantizationType, quants

        info = self._infos[name]
        values = quants.dequantize(self._raw(name), GGMLQuantizationType(info.kind))
        return self._rows(name, np.asarray(values, np.float32).reshape(info.shape))

    def kind(self, name: str) -> str:
        return kind_name(self._infos[name].kind)

    def blocks(self, name: str) -> QuantBlocks:
        rows, columns = self.shapes[name]
        n_bits, codes, scale, minimum = _UNPACK[self.kind(name)](self._raw(name).reshape(rows * columns // BLOCK, -1))
        return QuantBlocks(
            n_bits,
            self._rows(name, codes.reshape(rows, columns)),
            self._rows(name, scale.reshape(rows, -1)),
            self._rows(name, minimum.reshape(rows, -1)),
        )

    def _raw(self, name: str) -> NDArray[np.uint8]:
        info = self._infos[name]
        raw = self._data[info.offset : info.offset + tensor_bytes(self._path, name, info)]
        return raw.reshape(info.shape[0], -1) if len(info.shape) > 1 else raw

    def _rows(self, name: str, matrix: NDArray[Any]) -> NDArray[Any]:
        # of some families GGUF interleaves the two rotary halves of each q and k head: element 2i turns with 2i + 1
        n_heads = {"q": self._spec.n_heads, "k": self._spec.n_kv_heads}.get(name.rsplit(".", 1)[-1])
        if n_heads is None or not self._is_interleaved:
            return matrix
        rows, columns = matrix.shape
        return matrix.reshape(n_heads, rows // n_heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


_Unpacked = tuple[int, NDArray[np.uint8], Tensor, Tensor]


def _scale(raw: NDArray[np.uint8], start: int) -> Tensor:
    return np.ascontiguousarray(raw[:, start : start + 2]).view("<f2").astype(np.float32)


def _nibbles(raw: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.concatenate([raw & 15, raw >> 4], axis=1)  # [n_blocks, 32] u8: low halves are the first 16 weights


def _q4_0(raw: NDArray[np.uint8]) -> _Unpacked:
    scale = _scale(raw, 0)
    return 4, _nibbles(raw[:, 2:]), scale, np.float32(-8) * scale


def _q4_1(raw: NDArray[np.uint8]) -> _Unpacked:
    return 4, _nibbles(raw[:, 4:]), _scale(raw, 0), _scale(raw, 2)


def _q8_0(raw: NDArray[np.uint8]) -> _Unpacked:
    scale = _scale(raw, 0)
    return 8, raw[:, 2:] ^ np.uint8(128), scale, np.float32(-128) * scale


_UNPACK: Mapping[str, Callable[[NDArray[np.uint8]], _Unpacked]] = {"Q4_0": _q4_0, "Q4_1": _q4_1, "Q8_0": _q8_0}
