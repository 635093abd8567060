"""The compiled library as Python functions; ctypes lets go of the interpreter lock during each call."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_double, c_float, c_int32, c_int64, c_uint64, c_void_p
from pathlib import Path
from typing import Any, ClassVar, cast

from agentkit.errors import BackendUnavailable


class AfMatrix(Structure):
    """See src/af.h."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("data", c_void_p), ("n_tiles", c_int32), ("n_blocks", c_int32), ("form", c_int32),
        ("activation", c_int32),
    ]  # fmt: skip


class AfLayer(Structure):
    """See src/af.h."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("qkv", AfMatrix), ("o", AfMatrix), ("gate_up", AfMatrix), ("down", AfMatrix),
        ("attn_norm", c_void_p), ("ffn_norm", c_void_p), ("qkv_bias", c_void_p),
        ("q_norm", c_void_p), ("k_norm", c_void_p),
    ]  # fmt: skip


class AfModel(Structure):
    """See src/af.h."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        *((name, c_int32) for name in ("n_layers", "hidden_size", "n_heads", "n_kv_heads", "head_dim", "ffn_size")),
        *((name, c_int32) for name in ("vocab_size", "padded_head_dim", "max_rows", "max_parts", "n_threads")),
        ("rms_norm_eps", c_float), ("max_seq_len", c_int32), ("layers", POINTER(AfLayer)), ("final_norm", c_void_p),
        ("embed", AfMatrix), ("head", AfMatrix), ("rope", c_void_p), ("scratch", c_void_p),
        ("cores", c_void_p), ("embed_scale", c_float), ("cache_form", c_int32),
        ("linger_us", c_int32),
    ]  # fmt: skip


class AfPart(Structure):
    """See src/af.h."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("token_ids", c_void_p), ("n_rows", c_int32), ("start", c_int32), ("cache", c_void_p), ("allowed", c_void_p),
    ]  # fmt: skip


class AfStep(Structure):
    """See src/af.h."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("parts", POINTER(AfPart)), ("n_parts", c_int64), ("layer_stride", c_int64), ("logits", c_void_p),
    ]  # fmt: skip


MAX_PARTS = 8
"""Sequences that may share a step."""


class Library:
    """One loaded library."""

    def __init__(self, path: Path):
        try:
            self._lib = ctypes.CDLL(str(path))
            self._declare()
        except (OSError, AttributeError) as err:
            raise BackendUnavailable(f"af_native: {path} does not load ({err}); delete its folder") from err

    def instruction_sets(self) -> list[str]:
        """Names of what is compiled in and this processor has, best first."""
        return cast(bytes, self._lib.af_instruction_sets()).decode().split()

    def scratch_bytes(self, model: AfModel) -> int:
        """Bytes that an engine of that model works in."""
        return int(self._lib.af_scratch_bytes(ctypes.byref(model)))

    def open(self, model: AfModel, instruction_set: str) -> int:
        """Start an engine; 0 if this processor lacks the instruction set."""
        return self._lib.af_open(ctypes.byref(model), instruction_set.encode()) or 0

    def step(self, engine: int, step: AfStep) -> bool:
        """Run one step; False if it was cancelled."""
        return int(self._lib.af_step(engine, ctypes.byref(step))) == 0

    def rouse(self, engine: int) -> None:
        """Wake the threads for a step that is about to come."""
        self._lib.af_rouse(engine)

    def cancel(self, engine: int) -> None:
        """End the step in progress after the layer at hand; from any thread."""
        self._lib.af_cancel(engine)

    def close(self, engine: int) -> None:
        """End the engine's threads."""
        self._lib.af_close(engine)

    def sum(self, address: int, n_bytes: int) -> bytes:
        """Return a checksum of whole lines of 64 bytes."""
        sums = (c_uint64 * 4)()
        self._lib.af_sum(address, n_bytes, sums)
        return bytes(sums)

    def read_seconds(self, address: int, n_bytes: int, n_threads: int, instruction_set: str) -> float:
        """Time one read of that memory on that many threads."""
        return float(self._lib.af_read(address, n_bytes, n_threads, instruction_set.encode()))

    def _declare(self) -> None:
        lib = self._lib
        lib.af_instruction_sets.restype = c_char_p
        lib.af_scratch_bytes.argtypes, lib.af_scratch_bytes.restype = [POINTER(AfModel)], c_int64
        lib.af_open.argtypes, lib.af_open.restype = [POINTER(AfModel), c_char_p], c_void_p
        lib.af_step.argtypes, lib.af_step.restype = [c_void_p, POINTER(AfStep)], c_int32
        lib.af_rouse.argtypes, lib.af_rouse.restype = [c_void_p], None
        lib.af_cancel.argtypes, lib.af_cancel.restype = [c_void_p], None
        lib.af_close.argtypes, lib.af_close.restype = [c_void_p], None
        lib.af_sum.argtypes, lib.af_sum.restype = [c_void_p, c_int64, POINTER(c_uint64)], None
        lib.af_read.argtypes, lib.af_read.restype = [c_void_p, c_int64, c_int32, c_char_p], c_double
