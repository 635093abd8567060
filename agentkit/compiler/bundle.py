"""The compiled form on disk: a folder with the graph, its weights and a table of contents, complete or not there.

It is written beside its place, flushed and renamed, so that a kill at any moment leaves nothing that looks finished;
and it is checked against its table when it is opened, so that a damaged one is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, StringStringEntryProto, TensorProto, helper

from agentkit.compiler.checkpoint import Checkpoint
from agentkit.compiler.decoder_graph import build_graph
from agentkit.compiler.graph import MS, Constant, Graph
from agentkit.compiler.leftovers import outdated
from agentkit.decoder.identity import identity
from agentkit.errors import CheckpointError

VERSION = 1
"""Raised whenever the same checkpoint compiles to another graph."""
GRAPH, WEIGHTS, TABLE = "decoder.onnx", "weights.bin", "bundle.json"
_PAGE = 4096
_PREFIX = ".compiling-"
LEFT_BEHIND_S = 3600
"""No compilation takes so long: what is older was killed."""
_DTYPES: dict[type[np.generic], int] = {np.float32: TensorProto.FLOAT, np.uint8: TensorProto.UINT8}


@dataclass(frozen=True)
class Target:
    """What a checkpoint is compiled for."""

    precision: str
    n_positions: int
    """Rows of the rotary tables."""


@dataclass(frozen=True)
class Bundle:
    """A compiled decoder on disk."""

    graph: Path
    """The ONNX file; its weights lie beside it."""
    looked_up: Mapping[str, NDArray[Any]]
    """Constants that each step reads rows of, mapped from the file."""


def positions_for(max_seq_len: int, trained: int) -> int:
    """Round up, so that caches of usual capacities share one bundle."""
    return min(trained, max(4096, max_seq_len))


def ensure_bundle(checkpoint: Checkpoint, target: Target, cache_dir: Path) -> Bundle:
    """Return the compiled form, compiling now if it is missing or damaged. Raises CheckpointError."""
    folder = cache_dir / bundle_name(checkpoint, target)
    if bundle := _whole(folder):
        with contextlib.suppress(OSError):  # a cache that cannot be written is not swept either
            os.utime(folder / TABLE)
        _sweep(cache_dir, folder)
        return bundle
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _sweep(cache_dir, folder)
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=cache_dir, ignore_cleanup_errors=True) as name:
            written = Path(name) / "bundle"
            write_graph(written, build_graph(checkpoint, target.precision, target.n_positions))
            _move(written, folder)
    except OSError as err:
        raise CheckpointError(
            f"{cache_dir}: cannot write the compiled model ({err}); free space or choose another"
        ) from err
    if bundle := _whole(folder):
        return bundle
    raise CheckpointError(f"{folder}: the compiled model cannot be read back; check the disk or choose another cache")


def bundle_name(checkpoint: Checkpoint, target: Target) -> str:
    """Return a folder name that changes with the checkpoint's files, the target and the compiler."""
    key = json.dumps(
        [VERSION, *identity(checkpoint.path), target.precision, target.n_positions, *checkpoint.calibrated_by]
    )
    return f"{checkpoint.path.resolve().stem}-{target.precision}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _sweep(cache_dir: Path, in_use: Path) -> None:
    """Remove what killed compilations left behind, what nobody opened for long and what newer ones replaced.

    Whoever has a bundle open maps its files, which stay until they are closed.
    """
    now = time.time()
    for folder in outdated({table.parent: table for table in cache_dir.glob(f"*/{TABLE}")}, in_use=in_use):
        with contextlib.suppress(OSError):
            left = cache_dir / f"{_PREFIX}{folder.name}"
            folder.rename(left)  # in one step: nobody finds half of it
            os.utime(left, (0, 0))
    for left in cache_dir.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if now - left.stat().st_mtime > LEFT_BEHIND_S:
                shutil.rmtree(left, ignore_errors=True)


def _whole(folder: Path) -> Bundle | None:
    """Open the bundle, or None if it is not there, cut off or damaged."""
    try:
        table = json.loads((folder / TABLE).read_text(encoding="utf-8"))
        if table.pop("check") != _check(table):
            return None
        if any(_sha256(folder / name) != table["sha256"][name] for name in (GRAPH, WEIGHTS)):
            return None
        looked_up = {name: _map(folder / WEIGHTS, **place) for name, place in table["looked_up"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Bundle(folder / GRAPH, looked_up)


def _check(table: Mapping[str, Any]) -> str:
    """The table's own checksum, which it carries itself."""
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()


def _map(path: Path, *, offset: int, shape: list[int], dtype: str) -> NDArray[Any]:
    return np.memmap(path, dtype, mode="r", offset=offset, shape=tuple(shape))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _move(written: Path, folder: Path) -> None:
    if folder.exists():
        if _whole(folder):
            return  # another process was faster
        shutil.rmtree(folder)
    written.rename(folder)
    _sync(folder.parent)


def write_graph(folder: Path, graph: Graph) -> None:
    """Write a new folder with the graph, its weights beside it and the table of contents, flushed."""
    folder.mkdir()
    tensors: list[TensorProto] = []
    with (folder / WEIGHTS).open("wb") as file:
        places: dict[str, tuple[int, int]] = {}
        for constant in graph.constants.values():
            place = places.get(constant.same_bytes_as or "") or _append(file, constant)
            places[constant.name] = place
            tensors.append(_external(constant, place))
        _flush(file)
    model = _model(graph, tensors)
    with (folder / GRAPH).open("wb") as file:
        file.write(model.SerializeToString())
        _flush(file)
    looked_up = {
        name: {"offset": places[name][0], "shape": constant.shape, "dtype": np.dtype(constant.dtype).name}
        for name, constant in graph.constants.items()
        if constant.is_looked_up
    }
    table = {"sha256": {name: _sha256(folder / name) for name in (GRAPH, WEIGHTS)}, "looked_up": looked_up}
    with (folder / TABLE).open("wb") as file:
        file.write(json.dumps({**table, "check": _check(table)}).encode())
        _flush(file)
    _sync(folder)


def _append(file: BinaryIO, constant: Constant) -> tuple[int, int]:
    values = np.ascontiguousarray(constant.make(), constant.dtype)
    assert values.nbytes == constant.n_bytes, (constant.name, values.shape, constant.shape)
    file.seek(-(-file.tell() // _PAGE) * _PAGE)  # ONNX Runtime maps what begins on a page
    offset = file.tell()
    file.write(values.data)
    return offset, values.nbytes


def _external(constant: Constant, place: tuple[int, int]) -> TensorProto:
    tensor = TensorProto(name=constant.name, dims=constant.shape, data_type=_DTYPES[constant.dtype])
    tensor.data_location = TensorProto.EXTERNAL
    entries: dict[str, Any] = {"location": WEIGHTS, "offset": place[0], "length": place[1]}
    tensor.external_data.extend(StringStringEntryProto(key=key, value=str(value)) for key, value in entries.items())
    return tensor


def _model(graph: Graph, tensors: list[TensorProto]) -> ModelProto:
    made = helper.make_graph(graph.nodes, "decoder", graph.inputs, graph.outputs, tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=10, producer_name="agentkit")


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
