"""The compiled form on disk: a folder with the graph, its weights and a table of contents, complete or not there.

It is written beside its place, flushed and renamed, so that a kill at any moment leaves nothing that looks finished;
and it is checked against its table when it is opened, so that a damaged one is compiled again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from onnx import ModelProto, StringStringEntryProto, TensorProto, helper

from agentkit.compiler.checkpoint import Checkpoint
from agentkit.compiler.decoder_graph import build_graph
from agentkit.compiler.graph import MS, Constant, Graph
from agentkit.errors import CheckpointError

VERSION = 1
"""Raised whenever the same checkpoint compiles to another graph."""
GRAPH, WEIGHTS, TABLE = "decoder.onnx", "weights.bin", "bundle.json"
_PAGE = 4096
_DTYPES: dict[type[np.generic], int] = {np.float32: TensorProto.FLOAT, np.uint8: TensorProto.UINT8}


@dataclass(frozen=True)
class Target:
    """What a checkpoint is compiled for."""

    precision: str
    n_positions: int
    """Rows of the rotary tables."""


def positions_for(max_seq_len: int, trained: int) -> int:
    """Round up, so that caches of usual capacities share one bundle."""
    return min(trained, max(4096, max_seq_len))


def ensure_bundle(checkpoint: Checkpoint, target: Target, cache_dir: Path) -> Path:
    """Return the path of the compiled graph, compiling now if it is missing or damaged. Raises CheckpointError."""
    folder = cache_dir / bundle_name(checkpoint, target)
    if _is_whole(folder):
        return folder / GRAPH
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".compiling-", dir=cache_dir, ignore_cleanup_errors=True) as name:
            written = Path(name) / "bundle"
            _write(written, build_graph(checkpoint, target.precision, target.n_positions))
            _move(written, folder)
    except OSError as err:
        raise CheckpointError(
            f"{cache_dir}: cannot write the compiled model ({err}); free space or choose another"
        ) from err
    return folder / GRAPH


def bundle_name(checkpoint: Checkpoint, target: Target) -> str:
    """Return a folder name that changes with the checkpoint's files, the target and the compiler."""
    path = checkpoint.path.resolve()
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.is_file()]
    key = json.dumps([VERSION, str(path), stats, target.precision, target.n_positions])
    return f"{path.stem}-{target.precision}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _is_whole(folder: Path) -> bool:
    try:
        table = json.loads((folder / TABLE).read_text(encoding="utf-8"))
        return all(_sha256(folder / name) == table[name] for name in (GRAPH, WEIGHTS))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _move(written: Path, folder: Path) -> None:
    if folder.exists():
        if _is_whole(folder):
            return  # another process was faster
        shutil.rmtree(folder)
    written.rename(folder)
    _sync(folder.parent)


def _write(folder: Path, graph: Graph) -> None:
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
    table = {name: _sha256(folder / name) for name in (GRAPH, WEIGHTS)}
    with (folder / TABLE).open("wb") as file:
        file.write(json.dumps(table).encode())
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
