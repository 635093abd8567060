"""Checkpoint → one weight set: the same names, shapes and row order whatever file the weights came in.

Names are `embed`, `final_norm`, `head` and `layers.N.` + attn_norm, q, k, v, o, ffn_norm, gate, up, down; of some
families also q_bias, k_bias, v_bias, q_norm, k_norm. Matrices are [rows out, columns in]; q and k rows are in half-
split rotary order (element i turns with element i + head_dim/2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.importance import Importance, load_importance
from agentkit.decoder.backend import DecoderSpec
from agentkit.errors import CheckpointError

Tensor = NDArray[np.float32]
BLOCK = 32
"""Weights per quantisation block, along the columns."""
FLOAT_KINDS = ("F32", "F16", "BF16")
BLOCK_KINDS = ("Q4_0", "Q4_1", "Q8_0")
"""Kinds that can be run as they are stored; all others are read as f32 and quantised again."""


@dataclass(frozen=True)
class QuantBlocks:
    """A matrix as stored: weight = scale * code + minimum, one scale and minimum per block of 32 columns."""

    n_bits: int
    codes: NDArray[np.uint8]
    """[rows, columns], 0 … 2**n_bits - 1."""
    scale: Tensor
    """[rows, columns / 32]."""
    minimum: Tensor
    """[rows, columns / 32]."""

    def dequantise(self) -> Tensor:
        """Return the matrix in f32."""
        rows, columns = self.codes.shape
        codes = self.codes.reshape(rows, -1, BLOCK).astype(np.float32)
        return (codes * self.scale[..., None] + self.minimum[..., None]).reshape(rows, columns)


class Reader(Protocol):
    """One checkpoint file format."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return the shapes of all tensors in the file, under the names above where they have one."""
        ...

    def tensor(self, name: str) -> Tensor:
        """Read one tensor as f32."""
        ...

    def kind(self, name: str) -> str:
        """Return how one tensor is stored, by its GGML name: F32, F16, BF16, Q4_0, Q4_1, Q8_0 …"""
        ...

    def blocks(self, name: str) -> QuantBlocks:
        """Read one matrix of a kind in BLOCK_KINDS as stored."""
        ...


@dataclass(frozen=True)
class Checkpoint:
    """A decoder's shape and its weights, read when asked for."""

    path: Path
    spec: DecoderSpec
    precision: str
    """Of the layers' matrices as stored: f32, int8 or int4."""
    reader: Reader
    importance: Importance | None = None
    """What counts when weights are rounded; None = all alike."""

    def tensor(self, name: str) -> Tensor:
        """Read one tensor as f32; `head` is `embed` if they are tied."""
        return self.reader.tensor(self._stored(name))

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of one tensor."""
        return self.reader.shapes[self._stored(name)]

    def kind(self, name: str) -> str:
        """Return how one tensor is stored, by its GGML name: F32, F16, BF16, Q4_0, Q4_1, Q8_0 …"""
        return self.reader.kind(self._stored(name))

    def blocks(self, name: str) -> QuantBlocks:
        """Read one matrix of a kind in BLOCK_KINDS as stored."""
        return self.reader.blocks(self._stored(name))

    def weight_of_columns(self, name: str) -> Tensor | None:
        """Return how much each column of a matrix counts when it is rounded, None = all alike."""
        if self.importance is None:
            return None
        # one matrix for both: what reads the table row by row has no inputs to weigh
        return self.importance.of("head" if name == "embed" and self.spec.is_head_tied else name)

    @property
    def calibrated_by(self) -> tuple[str, ...]:
        """Digest of the calibration for keys of compiled forms, () = none."""
        return () if self.importance is None else (self.importance.digest,)

    def _stored(self, name: str) -> str:
        return "embed" if name == "head" and self.spec.is_head_tied else name


def tensor_shapes(spec: DecoderSpec) -> dict[str, tuple[int, ...]]:
    """List every tensor that a decoder of that shape must have."""
    hidden, q_size, kv_size = spec.hidden_size, spec.n_heads * spec.head_dim, spec.n_kv_heads * spec.head_dim
    shapes: dict[str, tuple[int, ...]] = {"embed": (spec.vocab_size, hidden), "final_norm": (hidden,)}
    if not spec.is_head_tied:
        shapes["head"] = (spec.vocab_size, hidden)
    for layer in range(spec.n_layers):
        shapes |= {
            f"layers.{layer}.attn_norm": (hidden,),
            f"layers.{layer}.q": (q_size, hidden),
            f"layers.{layer}.k": (kv_size, hidden),
            f"layers.{layer}.v": (kv_size, hidden),
            f"layers.{layer}.o": (hidden, q_size),
            f"layers.{layer}.ffn_norm": (hidden,),
            f"layers.{layer}.gate": (spec.ffn_size, hidden),
            f"layers.{layer}.up": (spec.ffn_size, hidden),
            f"layers.{layer}.down": (hidden, spec.ffn_size),
        }
        if spec.has_qkv_bias:
            sizes = (("q", q_size), ("k", kv_size), ("v", kv_size))
            shapes |= {f"layers.{layer}.{part}_bias": (size,) for part, size in sizes}
        if spec.has_qk_norm:
            shapes |= {f"layers.{layer}.{part}_norm": (spec.head_dim,) for part in ("q", "k")}
    return shapes


def load_checkpoint(path: Path, importance: str = "") -> Checkpoint:
    """Open a .gguf file or a Hugging Face folder; weights are read later. Raises CheckpointError.

    `importance` is the path of a calibration for what has to be rounded, "" = none.
    """
    found = _open(path)
    return replace(found, importance=load_importance(Path(importance))) if importance else found


def _open(path: Path) -> Checkpoint:
    from agentkit.compiler.gguf import open_gguf
    from agentkit.compiler.safetensors import open_folder

    if not path.exists():
        raise CheckpointError(f"{path}: no such checkpoint; pull the model or give another path")
    if path.is_dir():
        return checked(open_folder(path))
    if path.suffix == ".gguf":
        return checked(open_gguf(path))
    raise CheckpointError(f"{path}: got a {path.suffix or 'nameless'} file, wanted .gguf or a Hugging Face folder")


def checked(checkpoint: Checkpoint) -> Checkpoint:
    """Return the checkpoint if every tensor is there in its shape. Raises CheckpointError."""
    shapes, spec = checkpoint.reader.shapes, checkpoint.spec
    if min(spec.n_layers, spec.n_heads, spec.n_kv_heads, spec.head_dim) < 1 or spec.n_heads % spec.n_kv_heads:
        raise CheckpointError(
            f"{checkpoint.path}: {spec.n_heads} heads over {spec.n_kv_heads} K/V heads; wanted a multiple"
        )
    if spec.n_layers > len(shapes):  # a damaged count would make the list below endless
        raise CheckpointError(
            f"{checkpoint.path}: {spec.n_layers} layers but {len(shapes)} tensors; the file is damaged, pull it again"
        )
    wanted = tensor_shapes(spec)
    for name, shape in wanted.items():
        if name not in shapes:
            raise CheckpointError(f"{checkpoint.path}: tensor {name} is missing, wanted {shape}; pull the file again")
        if shapes[name] != shape:
            raise CheckpointError(
                f"{checkpoint.path}: tensor {name} has shape {shapes[name]}, wanted {shape}; file and metadata disagree"
            )
    if unknown := sorted(set(shapes) - set(wanted)):
        raise CheckpointError(
            f"{checkpoint.path}: got tensor {unknown[0]} (and {len(unknown) - 1} more) that a Llama decoder does not "
            "have; this variant of the family is not supported"
        )
    return checkpoint
