"""Where each tensor lies in the packed file: a pure function of the model's shape and the forms of its matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from agentkit.compiler.checkpoint import BLOCK, Checkpoint
from agentkit.compiler.quantise import PARTS, Form, choose_form
from agentkit.decoder.backend import DecoderSpec

TILE = 16
"""Rows that are computed together."""
LINE = 64
PAGE = 4096


class Packed(IntEnum):
    """How the codes of a matrix are packed; the numbers are those of the library."""

    F32 = 0
    INT8 = 1
    INT4 = 2
    INT4_MIN = 3


CODE_BYTES = {Packed.F32: 4 * BLOCK * TILE, Packed.INT8: BLOCK * TILE, Packed.INT4: BLOCK * TILE // 2}
CODE_BYTES |= {Packed.INT4_MIN: CODE_BYTES[Packed.INT4]}
SCALE_BYTES = {Packed.F32: 0, Packed.INT8: 2 * TILE, Packed.INT4: 2 * TILE, Packed.INT4_MIN: 4 * TILE}
_PACKED = {Form.DENSE: Packed.F32, Form.INT8: Packed.INT8, Form.INT4: Packed.INT4}


@dataclass(frozen=True)
class Matrix:
    """One packed product: matrices below one another, or tile by tile in turns."""

    names: tuple[str, ...]
    form: Packed
    read_as: Form
    """What the compiler reads its blocks as."""
    n_rows: int
    """Of all names together."""
    n_columns: int
    offset: int
    """Bytes from the first tensor of the file."""

    @property
    def is_interleaved(self) -> bool:
        """True for gate and up, whose tiles alternate."""
        return self.names[0].endswith(".gate")

    @property
    def n_tiles(self) -> int:
        """Tiles of 16 rows; of interleaved matrices whole blocks of outputs."""
        if self.is_interleaved:
            return 2 * round_up(self.n_rows // 2, BLOCK) // TILE
        return round_up(self.n_rows, TILE) // TILE

    @property
    def n_blocks(self) -> int:
        """Blocks of 32 columns."""
        return round_up(self.n_columns, BLOCK) // BLOCK

    @property
    def tile_bytes(self) -> int:
        """Codes of all blocks, then scales, then minimums, to whole lines."""
        return round_up(self.n_blocks * (CODE_BYTES[self.form] + SCALE_BYTES[self.form]), LINE)

    @property
    def n_bytes(self) -> int:
        """Size in the file."""
        return self.n_tiles * self.tile_bytes


@dataclass(frozen=True)
class Vector:
    """Weights of a norm, or biases below one another, in f32."""

    names: tuple[str, ...]
    n_values: int
    offset: int


@dataclass(frozen=True)
class Layout:
    """All tensors by name: `layers.N.qkv`, `layers.N.attn_norm`, `head` …"""

    matrices: dict[str, Matrix]
    vectors: dict[str, Vector]
    n_bytes: int
    """Of all tensors, to whole pages."""

    @classmethod
    def of(cls, checkpoint: Checkpoint, precision: str) -> Layout:
        """Lay the checkpoint's tensors out in the order in which a step reads them."""
        spec, end = checkpoint.spec, 0
        matrices: dict[str, Matrix] = {}
        vectors: dict[str, Vector] = {}
        for name, members in _in_order(spec):
            if len(checkpoint.shape(members[0])) == 1:
                vectors[name] = Vector(members, sum(checkpoint.shape(member)[0] for member in members), end)
                end += round_up(4 * vectors[name].n_values, LINE)
                continue
            end = round_up(end, PAGE)
            matrices[name] = _matrix(checkpoint, members, precision, end)
            end += matrices[name].n_bytes
        return cls(matrices, vectors, round_up(end, PAGE))


def round_up(n: int, step: int) -> int:
    """Round up to a multiple."""
    return -(-n // step) * step


def _in_order(spec: DecoderSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not spec.is_head_tied:
        yield "embed", ("embed",)
    for layer in range(spec.n_layers):
        if spec.has_qkv_bias:
            yield f"layers.{layer}.qkv_bias", tuple(f"layers.{layer}.{part}_bias" for part in PARTS["qkv"])
        for norm in ("q_norm", "k_norm") if spec.has_qk_norm else ():
            yield f"layers.{layer}.{norm}", (f"layers.{layer}.{norm}",)
        for norm, groups in (("attn_norm", ("qkv", "o")), ("ffn_norm", ("gate_up", "down"))):
            yield f"layers.{layer}.{norm}", (f"layers.{layer}.{norm}",)
            for group in groups:
                yield f"layers.{layer}.{group}", tuple(f"layers.{layer}.{part}" for part in PARTS[group])
    yield "final_norm", ("final_norm",)
    yield "head", ("head",)


def _matrix(checkpoint: Checkpoint, names: tuple[str, ...], precision: str, offset: int) -> Matrix:
    form = choose_form(checkpoint, names, precision)
    if names[0] in ("embed", "head") and form is not Form.DENSE:
        form = Form.INT8
    shapes = [checkpoint.shape(name) for name in names]
    packed = _PACKED.get(form, Packed.INT4_MIN)
    return Matrix(names, packed, form, sum(shape[0] for shape in shapes), shapes[0][1], offset)
