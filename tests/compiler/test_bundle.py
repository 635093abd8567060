from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from agentkit.compiler.bundle import GRAPH, TABLE, WEIGHTS, Target, ensure_bundle, positions_for
from agentkit.compiler.checkpoint import QuantBlocks, Reader, load_checkpoint
from agentkit.errors import CheckpointError
from tests.support.tiny import write_gguf

TARGET = Target("int4", 512)


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf", kind="Q4_1", embed_kind="Q8_0")


def modified(path: Path) -> int:
    return path.stat().st_mtime_ns


def test_a_bundle_is_compiled_once_and_then_taken_as_it_is(gguf: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    first = ensure_bundle(load_checkpoint(gguf), TARGET, cache)
    written = modified(first.graph)
    second = ensure_bundle(load_checkpoint(gguf), TARGET, cache)

    assert second.graph == first.graph
    assert modified(second.graph) == written
    assert [entry.name for entry in cache.iterdir()] == [first.graph.parent.name]


def test_another_checkpoint_or_precision_gets_another_folder(gguf: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = ensure_bundle(load_checkpoint(gguf), TARGET, cache).graph

    other_precision = ensure_bundle(load_checkpoint(gguf), Target("int8", 512), cache).graph
    os.utime(gguf, ns=(0, 0))
    touched = ensure_bundle(load_checkpoint(gguf), TARGET, cache).graph

    assert len({first.parent, other_precision.parent, touched.parent}) == 3


@pytest.mark.parametrize("name", [GRAPH, WEIGHTS, TABLE])
@pytest.mark.parametrize("damage", ["missing", "cut", "flipped"])
def test_a_damaged_bundle_is_compiled_again(gguf: Path, tmp_path: Path, name: str, damage: str) -> None:
    cache = tmp_path / "cache"
    folder = ensure_bundle(load_checkpoint(gguf), TARGET, cache).graph.parent
    content = (folder / name).read_bytes()
    if damage == "missing":
        (folder / name).unlink()
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        (folder / name).write_bytes({"cut": content[:middle], "flipped": flipped}[damage])

    ensure_bundle(load_checkpoint(gguf), TARGET, cache)

    assert (folder / name).read_bytes() == content


class FailingReader:
    """Reads like another reader until a tensor of the last layer is asked for."""

    def __init__(self, reader: Reader):
        self.shapes, self.kind, self.tensor = reader.shapes, reader.kind, reader.tensor
        self._reader = reader

    def blocks(self, name: str) -> QuantBlocks:
        if name.startswith("layers.1."):
            raise OSError(5, "Input/output error")
        return self._reader.blocks(name)


def test_a_compilation_that_dies_leaves_nothing_that_looks_finished(gguf: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    checkpoint = load_checkpoint(gguf)
    failing = replace(checkpoint, reader=FailingReader(checkpoint.reader))

    with pytest.raises(CheckpointError, match=r"cannot write the compiled model .*Input/output error"):
        ensure_bundle(failing, TARGET, cache)

    assert list(cache.iterdir()) == []
    assert ensure_bundle(checkpoint, TARGET, cache).graph.exists()


def test_a_cache_that_cannot_be_written_is_named(gguf: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("a file")

    with pytest.raises(CheckpointError, match=r"cache: cannot write .*; free space or choose another"):
        ensure_bundle(load_checkpoint(gguf), TARGET, cache)


@pytest.mark.parametrize("is_compiled", [True, False])
def test_what_a_killed_compilation_left_is_swept_after_an_hour(gguf: Path, tmp_path: Path, is_compiled: bool) -> None:
    cache = tmp_path / "cache"
    old, young = cache / ".compiling-old", cache / ".compiling-young"
    if is_compiled:
        ensure_bundle(load_checkpoint(gguf), TARGET, cache)
    old.mkdir(parents=True)
    young.mkdir()
    os.utime(old, (0, 0))

    ensure_bundle(load_checkpoint(gguf), TARGET, cache)

    assert (old.exists(), young.exists()) == (False, True)


def test_bundles_that_nobody_opened_for_long_are_swept(gguf: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    unused = ensure_bundle(load_checkpoint(gguf), Target("int8", 512), cache).graph.parent
    used = ensure_bundle(load_checkpoint(gguf), TARGET, cache)
    (cache / "prefixes").mkdir()
    for folder in (unused, used.graph.parent):
        os.utime(folder / TABLE, (0, 0))

    again = ensure_bundle(load_checkpoint(gguf), TARGET, cache)

    assert again.graph.exists()
    assert sorted(entry.name for entry in cache.iterdir()) == sorted([used.graph.parent.name, "prefixes"])


def test_every_change_of_the_table_is_noticed(gguf: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    folder = ensure_bundle(load_checkpoint(gguf), TARGET, cache).graph.parent
    content = (folder / TABLE).read_text()
    table = json.loads(content)
    place = next(iter(table["looked_up"].values()))
    place["offset"] += 4096
    for damaged in (json.dumps(table), "[1]", "{}", content.replace("looked_up", "looked_in")):
        (folder / TABLE).write_text(damaged)

        ensure_bundle(load_checkpoint(gguf), TARGET, cache)

        assert (folder / TABLE).read_text() == content


def test_the_graph_is_plain_named_and_keeps_its_weights_beside_it(gguf: Path, tmp_path: Path) -> None:
    bundle = ensure_bundle(load_checkpoint(gguf), TARGET, tmp_path / "cache")

    model = onnx.load(bundle.graph, load_external_data=False)

    operators = {node.op_type for node in model.graph.node}
    assert not operators & {"If", "Loop", "Scan"}
    assert {"MatMulNBits", "GroupQueryAttention", "SkipSimplifiedLayerNormalization"} <= operators
    names = [name for node in model.graph.node for name in node.output if name]
    assert len(names) == len(set(names))
    assert "layers.1.qkv" in names
    assert all(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer)
    assert bundle.graph.stat().st_size < 40_000


def test_the_tied_head_takes_no_second_place_in_the_file(gguf: Path, tmp_path: Path) -> None:
    bundle = ensure_bundle(load_checkpoint(gguf), TARGET, tmp_path / "cache")

    model = onnx.load(bundle.graph, load_external_data=False)

    places = {
        tensor.name: next(entry.value for entry in tensor.external_data if entry.key == "offset")
        for tensor in model.graph.initializer
    }
    assert places["logits.codes"] == places["embed.codes"]
    assert places["logits.scale"] == places["embed.scale"]
    np.testing.assert_array_equal(bundle.looked_up["embed.codes"], load_checkpoint(gguf).blocks("embed").codes)


def test_usual_capacities_share_one_bundle() -> None:
    assert positions_for(256, 8192) == positions_for(2048, 8192) == 4096
    assert positions_for(6000, 8192) == 6000
    assert positions_for(256, 512) == 512
