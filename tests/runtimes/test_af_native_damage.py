"""Damaged files of every kind: refused with one line or packed again, never a crash and never other numbers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtimes.af_native.build import ensure_library, find_compiler
from runtimes.af_native.layout import PAGE
from runtimes.af_native.library import Library
from tests.runtimes.test_af_native import BUILD_FLAGS
from tests.support.tiny import family_spec, random_weights, tiny_spec, write_folder, write_gguf

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler")
SOME = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SPEC = tiny_spec(n_layers=1, vocab_size=320)


class Opener:
    """A process that opens models; one that a model crashed is noticed, and started again for the next."""

    def __init__(self, cache_dir: Path):
        self.cache_dir = cache_dir
        self._process: subprocess.Popen[str] | None = None

    def open(self, path: Path) -> str:
        if self._process is None:
            command = [sys.executable, "-m", "tests.runtimes.native.open_damaged"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(path), str(self.cache_dir), BUILD_FLAGS]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self.close()
            return "bug the process crashed"
        return str(json.loads(line))

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()
        self._process = None


@pytest.fixture(scope="module")
def opener(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opener]:
    ensure_library(folder, extra_flags=BUILD_FLAGS)
    cache_dir = tmp_path_factory.mktemp("damage")
    shutil.copytree(folder / "af_native", cache_dir / "af_native")
    opener = Opener(cache_dir)
    yield opener
    opener.close()


@st.composite
def damages(draw: st.DrawFn, size: int, head: int) -> bytes:
    """What to do to a file of that size: `head` bytes in front matter most."""
    kind = draw(st.sampled_from(["cut", "flip", "number", "longer"]))
    at = draw(st.one_of(st.integers(0, min(head, size) - 1), st.integers(0, size - 1)))
    value = draw(st.sampled_from([0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 62, (1 << 64) - 1]))
    return json.dumps([kind, at, value]).encode()


def damaged(whole: bytes, damage: bytes) -> bytes:
    kind, at, value = json.loads(damage)
    if kind == "cut":
        return whole[:at]
    if kind == "longer":
        return whole + bytes(at % 5000 + 1)
    new = bytes([whole[at] ^ (1 << value % 8)]) if kind == "flip" else value.to_bytes(8, "little")
    return (whole[:at] + new + whole[at + len(new) :])[: len(whole)]


def is_in_order(answer: str) -> bool:
    return answer.startswith(("ran ", "refused ")) and "\n" not in answer


@SOME
@given(data=st.data())
def test_a_damaged_packed_file_gives_the_numbers_of_the_whole_one(opener: Opener, data: st.DataObject) -> None:
    path = opener.cache_dir / "packed.gguf"
    if not path.exists():
        write_gguf(path, SPEC, kind="Q4_1", embed_kind="Q8_0")
    expected = opener.open(path)
    (packed,) = opener.cache_dir.glob("packed-*.af")
    whole = packed.read_bytes()
    packed.unlink()  # a mapped file must not be cut under its reader
    packed.write_bytes(damaged(whole, data.draw(damages(len(whole), 80))))

    assert expected.startswith("ran ")
    assert opener.open(path) == expected
    packed.write_bytes(whole)  # damage in the unused rest of the first page stays


@SOME
@given(data=st.data())
def test_a_packed_file_whose_sum_was_made_to_fit_is_run_without_a_crash(
    opener: Opener, folder: Path, data: st.DataObject
) -> None:
    path = opener.cache_dir / "forged.gguf"
    if not path.exists():
        write_gguf(path, SPEC, kind="Q4_1", embed_kind="Q8_0")
    assert opener.open(path).startswith("ran ")
    (packed,) = opener.cache_dir.glob("forged-*.af")
    whole = packed.read_bytes()
    tensors = np.frombuffer(damaged(whole[PAGE:], data.draw(damages(len(whole) - PAGE, 4096))), np.uint8)
    if len(tensors) % 64:
        return
    library = Library(ensure_library(folder, extra_flags=BUILD_FLAGS))
    padded = np.empty(len(tensors) + 64, np.uint8)
    aligned = padded[-padded.ctypes.data % 64 :][: len(tensors)]
    aligned[:] = tensors
    packed.unlink()
    packed.write_bytes(whole[:48] + library.sum(aligned.ctypes.data, aligned.size) + whole[80:PAGE] + aligned.tobytes())

    assert is_in_order(opener.open(path))
    packed.unlink()


@SOME
@given(data=st.data(), architecture=st.sampled_from(["llama", "qwen2", "qwen3"]), has_folder=st.booleans())
def test_a_damaged_checkpoint_is_refused_with_one_line_or_runs(
    opener: Opener, data: st.DataObject, architecture: str, has_folder: bool
) -> None:
    spec = SPEC if architecture == "llama" else family_spec(architecture, n_layers=1)
    path = opener.cache_dir / (architecture if has_folder else f"{architecture}.gguf")
    if not path.exists():
        (write_folder if has_folder else write_gguf)(path, spec, weights=random_weights(spec))
    file = path / "model.safetensors" if has_folder else path
    whole = file.read_bytes()
    file.write_bytes(damaged(whole, data.draw(damages(len(whole), 12_000))))

    answer = opener.open(path)

    file.write_bytes(whole)
    assert is_in_order(answer), answer
    for packed in opener.cache_dir.glob("*.af"):
        packed.unlink()


@SOME
@given(data=st.data())
def test_a_damaged_config_is_refused_with_one_line_or_runs(opener: Opener, data: st.DataObject) -> None:
    path = opener.cache_dir / "config"
    if not path.exists():
        write_folder(path, SPEC)
    file = path / "config.json"
    whole = file.read_text(encoding="utf-8")
    config = json.loads(whole)
    key = data.draw(st.sampled_from(sorted(config)))
    config[key] = data.draw(st.sampled_from([None, 0, -1, 1, 3, 2**31, 2**70, 1e300, "x", [], {}, True]))
    file.write_text(json.dumps(config), encoding="utf-8")

    answer = opener.open(path)

    file.write_text(whole, encoding="utf-8")
    assert is_in_order(answer), (key, answer)
