from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentkit.compiler.checkpoint import Checkpoint, load_checkpoint, tensor_shapes
from agentkit.errors import CheckpointError, UnknownArchitecture
from tests.support.tiny import random_weights, tiny_spec, write_folder, write_gguf


def all_tensors(checkpoint: Checkpoint) -> dict[str, np.ndarray]:
    return {name: checkpoint.tensor(name) for name in tensor_shapes(checkpoint.spec)}


@pytest.mark.parametrize("is_head_tied", [True, False])
def test_gguf_and_safetensors_of_the_same_weights_read_alike(tmp_path: Path, is_head_tied: bool) -> None:
    spec = tiny_spec(is_head_tied=is_head_tied)
    weights = random_weights(spec)

    gguf = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", spec, weights=weights))
    folder = load_checkpoint(write_folder(tmp_path / "tiny", spec, weights=weights))
    sharded = load_checkpoint(write_folder(tmp_path / "sharded", spec, weights=weights, n_shards=3))

    assert folder.spec == sharded.spec == spec
    assert replace(gguf.spec, rms_norm_eps=spec.rms_norm_eps) == spec  # GGUF keeps the epsilon in f32
    assert gguf.spec.rms_norm_eps == pytest.approx(spec.rms_norm_eps)
    for checkpoint in (gguf, folder, sharded):
        read = all_tensors(checkpoint)
        assert read.keys() == weights.keys()
        assert all(np.array_equal(read[name], weights[name]) for name in weights)
        assert np.array_equal(checkpoint.tensor("head"), weights["embed" if is_head_tied else "head"])


@pytest.mark.parametrize(
    ("kind", "precision", "n_bits"), [("Q4_0", "int4", 4), ("Q4_1", "int4", 4), ("Q8_0", "int8", 8)]
)
def test_blocks_as_stored_give_exactly_the_dequantised_matrix(
    tmp_path: Path, kind: str, precision: str, n_bits: int
) -> None:
    checkpoint = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", kind=kind))

    assert checkpoint.precision == precision
    for name in ("layers.0.q", "layers.1.down", "embed"):
        blocks = checkpoint.blocks(name)
        assert blocks.n_bits == n_bits
        assert blocks.codes.max() < 2**n_bits
        np.testing.assert_array_equal(blocks.dequantise(), checkpoint.tensor(name))


def test_half_precision_is_read_as_f32(tmp_path: Path) -> None:
    weights = random_weights()

    checkpoint = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", weights=weights, kind="F16"))

    assert checkpoint.precision == "f32"
    np.testing.assert_array_equal(checkpoint.tensor("layers.0.up"), weights["layers.0.up"].astype(np.float16))


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    other = tmp_path / "model.bin"
    other.write_bytes(b"GGUF")

    with pytest.raises(CheckpointError, match=r"got a \.bin file, wanted \.gguf or a Hugging Face folder"):
        load_checkpoint(other)
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        load_checkpoint(tmp_path / "absent.gguf")


def test_an_unknown_architecture_is_named_with_the_known_ones(tmp_path: Path) -> None:
    gguf = write_gguf(tmp_path / "tiny.gguf", tiny_spec(architecture="mamba"))
    folder = write_folder(tmp_path / "tiny", config={"model_type": "qwen2_moe"})

    with pytest.raises(UnknownArchitecture, match="architecture 'mamba' is unknown; known are llama, mistral"):
        load_checkpoint(gguf)
    with pytest.raises(UnknownArchitecture, match="architecture 'qwen2_moe' is unknown"):
        load_checkpoint(folder)


@pytest.mark.parametrize("change", ["missing", "shape", "extra"])
def test_tensors_that_do_not_fit_the_metadata_are_named(tmp_path: Path, change: str) -> None:
    weights = random_weights()
    if change == "missing":
        del weights["layers.1.up"]
    elif change == "shape":
        weights["layers.1.up"] = weights["layers.1.up"][:-1]
    else:
        weights["final_bias"] = np.zeros(64, np.float32)
    folder = tmp_path / "tiny"
    if change == "extra":
        write_extra(folder, weights)
    else:
        write_folder(folder, weights=weights)

    with pytest.raises(CheckpointError) as error:
        load_checkpoint(folder)

    wanted = {
        "missing": "tensor layers.1.up is missing, wanted (96, 64)",
        "shape": "tensor layers.1.up has shape (95, 64), wanted (96, 64)",
        "extra": "got tensor model.norm.bias (and 0 more)",
    }
    assert wanted[change] in str(error.value)
    assert "\n" not in str(error.value)


def write_extra(folder: Path, weights: dict[str, np.ndarray]) -> None:
    from safetensors.numpy import load_file, save_file

    bias = weights.pop("final_bias")
    write_folder(folder, weights=weights)
    save_file(load_file(folder / "model.safetensors") | {"model.norm.bias": bias}, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rope_scaling", {"type": "linear"}),
        ("sliding_window", 4096),
        ("attention_bias", True),
        ("hidden_act", "gelu"),
        ("rope_parameters", {"rope_type": "llama3"}),
    ],
)
def test_a_variant_that_would_run_wrongly_is_refused(tmp_path: Path, key: str, value: object) -> None:
    folder = write_folder(tmp_path / "tiny", config={key: value})

    with pytest.raises(CheckpointError, match=r"rope_type|not supported|wanted 'silu'"):
        load_checkpoint(folder)


def test_rope_scaling_in_a_gguf_is_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", metadata={"llama.rope.scaling.type": "yarn"})

    with pytest.raises(CheckpointError, match=r"rope.scaling.type = 'yarn' is not supported"):
        load_checkpoint(path)


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF\x01\0\0\0", b"GARBAGE in, error out"])
def test_what_is_no_gguf_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)

    with pytest.raises(CheckpointError, match=r"bad\.gguf: .*; (pull|convert)"):
        load_checkpoint(path)


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_gguf_cut_off_anywhere_is_a_checkpoint_error(tmp_path: Path, data: st.DataObject) -> None:
    whole = tmp_path / "whole.gguf"
    if not whole.exists():
        write_gguf(whole, kind="Q4_1")
    content = whole.read_bytes()
    used = max(info_end(whole), 1)
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(content[: data.draw(st.integers(0, used - 1))])

    with pytest.raises(CheckpointError) as error:
        load_checkpoint(cut)
    assert "\n" not in str(error.value)


def info_end(path: Path) -> int:
    from agentkit.decoder.gguf_header import read_header, tensor_bytes

    tensors = read_header(path).tensors
    return max(info.offset + tensor_bytes(path, name, info) for name, info in tensors.items())


@given(position=st.integers(0, 20000), byte=st.integers(0, 255))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_flipped_byte_in_the_header_reads_or_is_a_checkpoint_error(tmp_path: Path, position: int, byte: int) -> None:
    whole = tmp_path / "whole.gguf"
    if not whole.exists():
        write_gguf(whole, kind="Q4_0")
    content = bytearray(whole.read_bytes())
    content[position] = byte
    flipped = tmp_path / "flipped.gguf"
    flipped.write_bytes(content)

    message = ""
    try:
        load_checkpoint(flipped)
    except CheckpointError as err:
        message = str(err)

    assert "\n" not in message


def test_an_absurd_number_of_layers_is_refused_at_once(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", config={"num_hidden_layers": 10**9})

    with pytest.raises(CheckpointError, match="1000000000 layers but 20 tensors"):
        load_checkpoint(folder)


@pytest.mark.parametrize("damage", ["cut", "empty", "no header", "no config"])
def test_a_damaged_folder_is_one_clear_line(tmp_path: Path, damage: str) -> None:
    folder = write_folder(tmp_path / "tiny")
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    if damage == "no config":
        (folder / "config.json").unlink()
    else:
        weights.write_bytes({"cut": content[:-100], "empty": b"", "no header": b"\xff" * 64}[damage])

    with pytest.raises(CheckpointError) as error:
        load_checkpoint(folder)
    assert "\n" not in str(error.value)
