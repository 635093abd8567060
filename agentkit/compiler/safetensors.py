"""Reads Hugging Face folders: config.json and model.safetensors, or the shards that its index names."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import Checkpoint, QuantBlocks, Tensor
from agentkit.compiler.family import Family, find_family
from agentkit.decoder.backend import DecoderSpec
from agentkit.errors import CheckpointError

_NAMES = {"model.embed_tokens.weight": "embed", "model.norm.weight": "final_norm", "lm_head.weight": "head"}
_LAYER_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "q", "self_attn.k_proj": "k", "self_attn.v_proj": "v",
    "self_attn.o_proj": "o", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "gate", "mlp.up_proj": "up", "mlp.down_proj": "down",
    "self_attn.q_norm": "q_norm", "self_attn.k_norm": "k_norm",
}  # fmt: skip
_ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2}
_Entry = tuple[NDArray[np.uint8], str]
"""[bytes] u8, and the type that they hold."""


def open_folder(folder: Path) -> Checkpoint:
    """Open a Llama-family folder. Raises CheckpointError."""
    config = _json(folder / "config.json")
    family = find_family(folder, str(config.get("model_type", "nameless")))
    _check_config(folder, config, family)
    spec = _spec(folder, config, family)
    index = folder / "model.safetensors.index.json"
    if index.exists():
        weight_map = _json(index).get("weight_map", {})
        files = [folder / name for name in sorted(set(weight_map.values()))]
    else:
        files = [folder / "model.safetensors"]
    reader = _FolderReader(files, has_own_head=not spec.is_head_tied, norm_offset=family.norm_offset)
    return Checkpoint(folder, spec, "f32", reader)


def _check_config(folder: Path, config: Mapping[str, Any], family: Family) -> None:
    for key in ("rope_scaling", "sliding_window", "attention_bias", "mlp_bias"):
        is_off = key == "sliding_window" and not config.get("use_sliding_window", True)
        if config.get(key) and not is_off:
            raise CheckpointError(f"{folder}: {key} = {config[key]!r} is not supported; choose a model without it")
    activation = config.get("hidden_activation") or config.get("hidden_act") or family.activation_names[0]
    if activation not in family.activation_names:
        wanted = " or ".join(map(repr, family.activation_names))
        raise CheckpointError(f"{folder}: hidden_act = {activation!r}, wanted {wanted}; choose another model")


def _spec(folder: Path, config: Mapping[str, Any], family: Family) -> DecoderSpec:
    try:
        n_heads, hidden = int(config["num_attention_heads"]), int(config["hidden_size"])
        return DecoderSpec(
            architecture=str(config["model_type"]),
            n_layers=int(config["num_hidden_layers"]),
            hidden_size=hidden,
            n_heads=n_heads,
            n_kv_heads=int(config.get("num_key_value_heads") or n_heads),
            head_dim=int(config.get("head_dim") or hidden // n_heads),
            ffn_size=int(config["intermediate_size"]),
            vocab_size=int(config["vocab_size"]),
            max_seq_len=int(config["max_position_embeddings"]),
            rope_theta=_rope_theta(folder, config),
            rms_norm_eps=float(config["rms_norm_eps"]),
            is_head_tied=bool(config.get("tie_word_embeddings", family.is_head_tied)),
            has_qkv_bias=family.has_qkv_bias,
            has_qk_norm=family.has_qk_norm,
            activation=family.activation,
            embed_scale=hidden**0.5 if family.has_scaled_embedding else 1.0,
        )
    except (KeyError, TypeError, ValueError, ArithmeticError) as err:
        raise CheckpointError(
            f"{folder / 'config.json'}: {err} is missing or no number; take the folder's config from its source"
        ) from err


def _rope_theta(folder: Path, config: Mapping[str, Any]) -> float:
    parameters = config.get("rope_parameters") or {}  # where newer configs keep it
    if parameters.get("rope_type", "default") != "default":
        raise CheckpointError(
            f"{folder}: rope_type {parameters['rope_type']!r} is not supported; choose a model without scaling"
        )
    return float(parameters.get("rope_theta") or config.get("rope_theta") or 10000.0)


class _FolderReader:
    """Serves tensors out of the mapped files."""

    def __init__(self, files: list[Path], *, has_own_head: bool, norm_offset: float):
        self._norm_offset = norm_offset
        self._entries: dict[str, _Entry] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for file in files:
            self._add(file, has_own_head=has_own_head)

    def tensor(self, name: str) -> Tensor:
        raw, dtype = self._entries[name]
        if dtype == "BF16":
            values = (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            values = raw.view("<f4" if dtype == "F32" else "<f2").astype(np.float32)
        if name.endswith("norm"):
            values = values + np.float32(self._norm_offset)
        return values.reshape(self.shapes[name])

    def kind(self, name: str) -> str:
        return self._entries[name][1]

    def blocks(self, name: str) -> QuantBlocks:
        raise KeyError(f"{name} is {self.kind(name)}, wanted a kind in blocks")

    def _add(self, file: Path, *, has_own_head: bool) -> None:
        header, data = _open(file)
        for stored, entry in header.items():
            if stored == "__metadata__" or stored.endswith("rotary_emb.inv_freq"):
                continue
            name = _own_name(stored)
            if name == "head" and not has_own_head:
                continue  # some files repeat the tied matrix
            self.shapes[name], self._entries[name] = _slice(file, stored, entry, data)


def _slice(file: Path, stored: str, entry: Any, data: NDArray[np.uint8]) -> tuple[tuple[int, ...], _Entry]:
    try:
        shape, dtype = tuple(int(n) for n in entry["shape"]), str(entry["dtype"])
        start, end = (int(n) for n in entry["data_offsets"])
    except (KeyError, TypeError, ValueError) as err:
        raise CheckpointError(f"{file}: the entry of {stored} is damaged ({err}); pull the file again") from err
    if dtype not in _ITEM_BYTES:
        raise CheckpointError(f"{file}: tensor {stored} is {dtype}, wanted F32, F16 or BF16; convert the file")
    wanted = math.prod(shape) * _ITEM_BYTES[dtype]
    if start < 0 or end > data.size or end - start != wanted:
        raise CheckpointError(
            f"{file}: truncated: {stored} needs bytes {start} to {start + wanted}, the file has {data.size}; "
            "pull the file again"
        )
    return shape, (data[start:end], dtype)


def _own_name(stored: str) -> str:
    if stored in _NAMES:
        return _NAMES[stored]
    match stored.split("."):
        case ["model", "layers", layer, *part, "weight"] if ".".join(part) in _LAYER_NAMES:
            return f"layers.{layer}.{_LAYER_NAMES['.'.join(part)]}"
        case ["model", "layers", layer, "self_attn", ("q_proj" | "k_proj" | "v_proj") as part, "bias"]:
            return f"layers.{layer}.{part[0]}_bias"
    return stored


def _open(file: Path) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    try:
        data = np.memmap(file, np.uint8, mode="r")
        n_header = int(data[:8].view("<u8")[0])
        header = json.loads(bytes(data[8 : 8 + n_header]))
        return dict(header), np.asarray(data[8 + n_header :])
    except (OSError, TypeError, ValueError, IndexError) as err:
        raise CheckpointError(f"{file}: got no readable safetensors file ({err}); pull the file again") from err


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        raise CheckpointError(f"{path}: cannot be read ({err}); a Hugging Face folder needs it") from err
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: got a {type(content).__name__}, wanted an object; pull the file again")
    return content
