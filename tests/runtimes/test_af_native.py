from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from agentkit.decoder.backend import DecoderSpec, SessionOptions
from agentkit.decoder.memory_pool import Pools
from agentkit.errors import BackendUnavailable, CheckpointError, PoolError, PromptTooLong, StepFailed
from runtimes.af_native import BACKEND, AfNative
from runtimes.af_native.artifact import MAGIC
from runtimes.af_native.backend import processor_flags
from runtimes.af_native.build import ensure_library, find_compiler
from runtimes.af_native.layout import PAGE
from runtimes.af_native.library import Library
from runtimes.af_native.session import AfNativeSession
from tests.runtimes.opened import OPTIONS, open_reference
from tests.support.tiny import TINY, random_weights, tiny_spec, write_folder, write_gguf

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler")

BUILD_FLAGS = tuple(os.environ.get("AF_NATIVE_FLAGS", "").split())
"""Set by `make native-check`."""
INSTRUCTION_SETS = ("portable", "avx2", "avx_vnni", "avx512", "neon", "neon_i8mm")

# Largest difference of a logit to the reference on the same weights; the logits' standard deviation is 1. In f32 the
# cache is f16; below, it has 8 bits, and the kernels round their inputs to 8 bits per block, in 14 products one after
# the other.
TOLERANCE = {"f32": {"atol": 5e-3}, "int8": {"atol": 0.2}, "int4": {"atol": 0.2}}
ORDER_TOLERANCE = {"f32": {"atol": 2e-3}, "int8": {"atol": 0.1}, "int4": {"atol": 0.1}}
"""The same rows in steps of other lengths: sums in another order, which may round an input or a cached value the
other way."""

FILES = {"f32": ("F32", "F32"), "int8": ("Q8_0", "Q8_0"), "int4": ("Q4_1", "Q8_0")}


@pytest.fixture(scope="module")
def library(folder: Path) -> Library:
    return Library(ensure_library(folder, extra_flags=BUILD_FLAGS))


@pytest.fixture(params=INSTRUCTION_SETS)
def instruction_set(request: pytest.FixtureRequest, library: Library) -> str:
    if request.param not in library.instruction_sets():
        pytest.skip(f"this processor has no {request.param}")
    return str(request.param)


_OPEN: list[AfNativeSession] = []


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    yield
    while _OPEN:
        _OPEN.pop().close()


def open_native(
    path: Path, cache_dir: Path, options: SessionOptions = OPTIONS, *, precision: str | None = None,
    instruction_set: str | None = None, cache: str | None = None,
) -> AfNativeSession:  # fmt: skip
    options = replace(options, precision=precision)
    backend = AfNative(instruction_set=instruction_set, cache=cache, build_flags=BUILD_FLAGS)
    pools = Pools.from_sizes(backend.plan(path, options))
    session = backend.open(path, options, pools=pools, cache_dir=cache_dir)
    _OPEN.append(session)
    return session


def checkpoint(folder: Path, precision: str, kind: str = "") -> Path:
    stored, embed = FILES[precision]
    path = folder / f"{kind or stored}.gguf"
    return path if path.exists() else write_gguf(path, kind=kind or stored, embed_kind=embed)


def random_ids(n: int, seed: int = 0, vocab_size: int = TINY.vocab_size) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, vocab_size, n)


def prefill(session: AfNativeSession, token_ids: np.ndarray, bucket: int, slot: int) -> np.ndarray:
    padded = np.full(bucket, 7, np.int64)
    padded[: len(token_ids)] = token_ids
    logits = session.step(padded, len(token_ids), slot=slot).copy()
    session.kv.commit(slot, len(token_ids))
    return logits


def single_steps(session: AfNativeSession, token_ids: np.ndarray, slot: int) -> np.ndarray:
    for token_id in token_ids:
        logits = session.step(np.array([token_id]), 1, slot=slot)
        session.kv.commit(slot, 1)
    return logits.copy()


@pytest.mark.parametrize(
    ("precision", "kind"),
    [("f32", ""), ("int8", ""), ("int8", "Q4_1"), ("int4", "Q4_0"), ("int4", "Q4_1"), ("int4", "F32"), ("int4", "F16")],
)
def test_prefill_and_64_greedy_steps_agree_with_the_reference(
    folder: Path, precision: str, kind: str, instruction_set: str
) -> None:
    path = checkpoint(folder, precision, kind)
    options = replace(OPTIONS, n_threads=2)
    session = open_native(path, folder, options, precision=precision, instruction_set=instruction_set)
    reference = open_reference(path, precision=precision)
    prompt = random_ids(21)

    logits, expected = prefill(session, prompt, 32, slot=1), prefill(reference, prompt, 32, slot=0)
    np.testing.assert_allclose(logits, expected, **TOLERANCE[precision])
    for _ in range(64):
        chosen = expected.argmax()
        expected = single_steps(reference, np.array([chosen]), slot=0)
        logits = single_steps(session, np.array([chosen]), slot=1)
        np.testing.assert_allclose(logits, expected, **TOLERANCE[precision])
    assert expected.std() > 0.5


@pytest.mark.parametrize("cache", ["f16", "int8"])
def test_either_cache_goes_with_every_precision(folder: Path, cache: str, instruction_set: str) -> None:
    for precision in FILES:
        path = checkpoint(folder, precision)
        session = open_native(path, folder, precision=precision, instruction_set=instruction_set, cache=cache)
        reference = open_reference(path, precision=precision)
        tolerance = TOLERANCE[precision] if cache == "f16" else {"atol": 0.2}
        for n in (30, 1, 1, 9, 1, 32, 1):
            bucket = 1 if n == 1 else 32
            logits, expected = (prefill(one, random_ids(n, n), bucket, 0) for one in (session, reference))
            np.testing.assert_allclose(logits, expected, **tolerance)


def test_a_cache_in_8_bits_takes_half_and_moves_f32_logits_little(folder: Path) -> None:
    path = checkpoint(folder, "f32")
    wide, narrow = (open_native(path, folder, cache=cache) for cache in ("f16", "int8"))
    assert narrow.kv.data.nbytes == wide.kv.data.nbytes * 132 / 256
    for n in (32, 32, 1, 1):
        expected, logits = (prefill(session, random_ids(n, n), n, 0).copy() for session in (wide, narrow))
        np.testing.assert_allclose(logits, expected, atol=0.05)
        assert not np.array_equal(logits, expected)


def test_huge_tiny_and_absent_values_survive_a_cache_in_8_bits(tmp_path: Path, folder: Path) -> None:
    weights = random_weights()
    for layer, factor in enumerate((1e-7, 0.0)):
        weights[f"layers.{layer}.v"] = weights[f"layers.{layer}.v"] * factor
    weights["layers.0.k"] = weights["layers.0.k"] * 1e3
    path = write_gguf(tmp_path / "odd.gguf", weights=weights)
    session, reference = open_native(path, folder, precision="f32", cache="int8"), open_reference(path, precision="f32")

    for n in (32, 1, 1):
        logits, expected = prefill(session, random_ids(n, n), n, 0), prefill(reference, random_ids(n, n), n, 0)
        np.testing.assert_allclose(logits, expected, atol=1e-3)


@pytest.mark.parametrize("precision", ["f32", "int8", "int4"])
@pytest.mark.parametrize("bucket", OPTIONS.buckets)
@pytest.mark.parametrize("start", [0, 11, 61])
def test_a_padded_prefill_equals_single_steps_for_every_bucket(
    folder: Path, precision: str, bucket: int, start: int
) -> None:
    session = open_native(checkpoint(folder, precision), folder, replace(OPTIONS, n_threads=2), precision=precision)
    before, token_ids = random_ids(start, seed=1), random_ids(bucket)
    for slot in (0, 1):
        if start:
            single_steps(session, before, slot)

    for n_valid in sorted({1, bucket // 2 + 1, bucket}):
        prefilled = prefill(session, token_ids[:n_valid], bucket, slot=0)
        stepped = single_steps(session, token_ids[:n_valid], slot=1)
        np.testing.assert_allclose(prefilled, stepped, **ORDER_TOLERANCE[precision])
        session.kv.truncate(0, start)
        session.kv.truncate(1, start)


SHAPES = [
    tiny_spec(n_heads=1, n_kv_heads=1, head_dim=32, hidden_size=32, ffn_size=32),
    tiny_spec(n_heads=8, n_kv_heads=1, head_dim=16, hidden_size=128, ffn_size=160),
    tiny_spec(n_heads=9, n_kv_heads=3, head_dim=64, hidden_size=96, ffn_size=224, n_layers=3),
    tiny_spec(n_heads=4, n_kv_heads=4, head_dim=64, hidden_size=256, ffn_size=96, is_head_tied=False),
    tiny_spec(n_heads=5, n_kv_heads=1, head_dim=128, hidden_size=64, ffn_size=64, n_layers=1),
    tiny_spec(n_heads=6, n_kv_heads=3, head_dim=80, hidden_size=160, ffn_size=480),
]


def shape_name(spec: DecoderSpec) -> str:
    return f"{spec.n_heads}x{spec.n_kv_heads}x{spec.head_dim}"


@pytest.mark.parametrize("precision", ["f32", "int4"])
@pytest.mark.parametrize("spec", SHAPES, ids=shape_name)
def test_other_shapes_agree_with_the_reference(
    tmp_path: Path, folder: Path, spec: DecoderSpec, precision: str, instruction_set: str
) -> None:
    path = write_folder(tmp_path / "shape", spec, weights=random_weights(spec))
    options = replace(OPTIONS, n_threads=2)
    session = open_native(path, folder, options, precision=precision, instruction_set=instruction_set)
    reference = open_reference(path, precision=precision)

    for n in (29, 3, 17):
        logits, expected = prefill(session, random_ids(n, n), 32, 0), prefill(reference, random_ids(n, n), 32, 0)
        np.testing.assert_allclose(logits, expected, **TOLERANCE[precision])
    for token_id in random_ids(20):
        logits = single_steps(session, np.array([token_id]), 0)
        expected = single_steps(reference, np.array([token_id]), 0)
        np.testing.assert_allclose(logits, expected, **TOLERANCE[precision])


@pytest.mark.parametrize(("n_threads", "cache"), [(1, "f16"), (2, "f16"), (3, "f16"), (1, "int8"), (3, "int8")])
def test_sequences_of_2048_tokens_agree_with_the_reference(
    tmp_path: Path, folder: Path, n_threads: int, cache: str
) -> None:
    spec = tiny_spec(max_seq_len=2048, n_layers=1)
    path = write_gguf(tmp_path / "long.gguf", spec)
    options = SessionOptions(max_seq_len=2048, n_slots=1, buckets=(1, 31, 47, 175, 256), n_threads=n_threads)
    session = open_native(path, folder, options, precision="f32", cache=cache)
    reference = open_reference(path, options)
    tolerance = TOLERANCE["f32"] if cache == "f16" else {"atol": 0.05}

    for n in range(7):
        expected = prefill(reference, random_ids(256, n), 256, 0)
        np.testing.assert_allclose(prefill(session, random_ids(256, n), 256, 0), expected, **tolerance)
    for n in (31, 1, 175, 47):
        for one in (session, reference):
            prefill(one, random_ids(n, n), n, 0)
        logits, expected = (one.step(np.array([5]), 1, slot=0) for one in (session, reference))
        np.testing.assert_allclose(logits, expected, **tolerance)
    assert session.kv.length(0) == 2046


def test_every_count_of_threads_gives_the_same_answers(folder: Path) -> None:
    path = checkpoint(folder, "int4")
    found = []
    for n_threads in (1, 2, 5):
        session = open_native(path, folder, replace(OPTIONS, n_threads=n_threads))
        prefill(session, random_ids(30), 32, 0)
        found.append(single_steps(session, random_ids(40, 3), 0))
    for logits in found[1:]:
        np.testing.assert_array_equal(logits, found[0])


def test_the_same_steps_give_the_same_bits(folder: Path) -> None:
    session = open_native(checkpoint(folder, "int4"), folder, replace(OPTIONS, n_threads=2))
    runs = [
        (prefill(session, random_ids(30), 32, slot), single_steps(session, random_ids(40), slot)) for slot in (0, 1)
    ]

    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])


@pytest.mark.parametrize(("cache", "rubbish"), [("f16", np.nan), ("int8", 255)])
def test_rows_above_the_committed_ones_never_count(folder: Path, cache: str, rubbish: float) -> None:
    session = open_native(checkpoint(folder, "int4"), folder, cache=cache)
    kept = session.kv.data.copy()
    session.kv.data[...] = rubbish  # of 8 bits: scales that are no numbers
    prefill(session, random_ids(30), 32, slot=0)
    expected = single_steps(session, random_ids(3, 5), slot=0)

    session.kv.truncate(0, 0)
    session.kv.data[...] = kept
    prefill(session, random_ids(30), 32, slot=0)
    np.testing.assert_array_equal(single_steps(session, random_ids(3, 5), slot=0), expected)


def test_gguf_and_safetensors_of_the_same_weights_give_equal_logits(tmp_path: Path, folder: Path) -> None:
    spec = tiny_spec(is_head_tied=False, rms_norm_eps=2.0**-17)
    weights = random_weights(spec)
    paths = (
        write_gguf(tmp_path / "tiny.gguf", spec, weights=weights),
        write_folder(tmp_path / "tiny", spec, weights=weights),
    )
    token_ids = random_ids(16)

    for precision in ("f32", "int8"):
        logits = [open_native(p, folder, precision=precision).step(token_ids, 16, slot=0).copy() for p in paths]
        np.testing.assert_array_equal(logits[0], logits[1])


def test_slots_do_not_disturb_each_other_and_a_copy_goes_on_as_the_original(folder: Path) -> None:
    session = open_native(checkpoint(folder, "int4"), folder)
    alone = single_steps(session, random_ids(9), slot=0)
    session.kv.reset(0)
    for i, token_id in enumerate(random_ids(9)):
        logits = single_steps(session, np.array([token_id]), slot=0)
        single_steps(session, random_ids(2, seed=i), slot=1)
    np.testing.assert_array_equal(logits, alone)

    session.kv.copy(0, 1)
    tail = random_ids(5, seed=2)
    np.testing.assert_array_equal(single_steps(session, tail, 0), single_steps(session, tail, 1))


@pytest.mark.parametrize("precision", ["f32", "int8", "int4"])
def test_the_plan_is_what_is_allocated_and_what_the_library_works_in(folder: Path, precision: str) -> None:
    path, options = checkpoint(folder, precision), replace(OPTIONS, precision=precision, n_threads=3)
    backend = AfNative(build_flags=BUILD_FLAGS)
    pools = Pools.from_sizes(backend.plan(path, options))

    session = backend.open(path, options, pools=pools, cache_dir=folder)
    _OPEN.append(session)
    pools.seal()

    assert all(pool["used_bytes"] == pool["n_bytes"] for pool in pools.describe().values())
    assert session.scratch_bytes_of_library() == pools.temp.allocations["scratch"]
    for bucket in session.options.buckets:
        session.step(random_ids(bucket), bucket, slot=0)
    with pytest.raises(PoolError, match="sealed"):
        backend.open(path, options, pools=pools, cache_dir=folder)


def test_logits_are_one_view_that_the_next_step_overwrites(folder: Path) -> None:
    session = open_native(checkpoint(folder, "f32"), folder)

    first = session.step(np.array([1]), 1, slot=0)
    kept = first.copy()
    second = session.step(np.array([2]), 1, slot=0)

    assert np.shares_memory(first, second)
    assert not np.array_equal(first, kept)
    assert (first.shape, first.dtype) == ((TINY.vocab_size,), np.float32)


def test_malformed_steps_and_a_closed_session_are_refused(folder: Path) -> None:
    session = open_native(checkpoint(folder, "f32"), folder)
    session.kv.commit(0, 127)
    with pytest.raises(PromptTooLong, match="has 131 tokens, at most 128 fit"):
        session.step(random_ids(4), 1, slot=0)
    with pytest.raises(StepFailed, match="wanted 0 to 319"):
        session.step(np.array([TINY.vocab_size]), 1, slot=0)
    assert session.step(random_ids(1), 1, slot=0).any()
    session.close()
    session.close()
    with pytest.raises(StepFailed, match="session is closed"):
        session.step(np.array([1]), 1, slot=0)


DAMAGE = {
    "nothing": lambda data: b"",
    "part of the header": lambda data: data[:20],
    "header only": lambda data: data[:PAGE],
    "cut": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + bytes(64),
    "another magic": lambda data: MAGIC[::-1] + data[8:],
    "a flipped bit": lambda data: (
        data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 1]) + data[len(data) // 3 + 1 :]
    ),
    "a wrong size": lambda data: data[:8] + bytes(8) + data[16:],
    "a wrong key": lambda data: data[:16] + bytes(32) + data[48:],
    "a wrong sum": lambda data: data[:48] + bytes(32) + data[80:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_packed_file_is_packed_again(tmp_path: Path, library: Library, folder: Path, damage: str) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", kind="Q4_1", embed_kind="Q8_0")
    expected = open_native(path, folder).step(np.array([1]), 1, slot=0).copy()
    (packed,) = folder.glob(f"{path.stem}-int4-*.af")
    whole = packed.read_bytes()
    packed.unlink()  # a mapped file must not be cut under its reader
    packed.write_bytes(DAMAGE[damage](whole))

    np.testing.assert_array_equal(open_native(path, folder).step(np.array([1]), 1, slot=0), expected)
    assert packed.read_bytes() == whole
    assert not list(folder.glob(".packing-*"))
    packed.unlink()


def test_random_damage_is_always_found(tmp_path: Path, library: Library) -> None:
    data = np.frombuffer(np.random.default_rng(0).bytes(64 * 100), np.uint8).copy()
    expected = library.sum(data.ctypes.data, data.size)
    rng = np.random.default_rng(1)
    for _ in range(300):
        at, bit = int(rng.integers(data.size)), int(rng.integers(8))
        data[at] ^= 1 << bit
        assert library.sum(data.ctypes.data, data.size) != expected
        data[at] ^= 1 << bit
    assert library.sum(data.ctypes.data, data.size) == expected


def test_a_damaged_library_is_compiled_again(folder: Path, library: Library, tmp_path: Path) -> None:
    shutil.copytree(folder / "af_native", tmp_path / "af_native")
    built = ensure_library(tmp_path, extra_flags=BUILD_FLAGS)
    whole = built.read_bytes()
    built.unlink()
    built.write_bytes(whole[: len(whole) // 2])

    assert ensure_library(tmp_path, extra_flags=BUILD_FLAGS) == built
    assert Library(built).instruction_sets()
    assert not list(built.parent.glob(".compiling-*"))


def test_a_scale_that_16_bits_cannot_hold_is_refused(tmp_path: Path, folder: Path) -> None:
    weights = random_weights()
    weights["layers.0.q"] = weights["layers.0.q"] * 1e8
    path = write_gguf(tmp_path / "huge.gguf", weights=weights)

    with pytest.raises(CheckpointError, match=r"layers\.0\.q: a scale is not finite in 16 bits; take precision f32"):
        open_native(path, folder, precision="int8")


def test_columns_that_are_no_whole_blocks_are_refused_with_the_way_out(tmp_path: Path, folder: Path) -> None:
    spec = tiny_spec(ffn_size=100)
    path = write_gguf(tmp_path / "odd.gguf", spec)

    with pytest.raises(CheckpointError, match="a matrix has 100 columns, int8 wants a multiple of 32; take f32"):
        open_native(path, folder, precision="int8")
    logits = open_native(path, folder, precision="f32").step(random_ids(4), 4, slot=0)
    expected = open_reference(path, precision="f32").step(random_ids(4), 4, slot=0)
    np.testing.assert_allclose(logits, expected, **TOLERANCE["f32"])


def test_a_missing_instruction_set_is_named(folder: Path) -> None:
    with pytest.raises(BackendUnavailable, match=r"this processor has no mmx; it has .*portable"):
        open_native(checkpoint(folder, "f32"), folder, instruction_set="mmx")


def test_without_a_compiler_the_probe_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    probe = BACKEND.probe()

    assert not probe.is_available
    assert "apt install g++" in probe.detail
    assert "pip install ziglang" in probe.detail
    with pytest.raises(BackendUnavailable, match=r"no C\+\+ compiler"):
        ensure_library(tmp_path)


def test_a_compiler_that_fails_is_one_line_with_its_first_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho 'x.cpp:1: error: no such header' >&2\nexit 1\n", encoding="ascii")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))

    with pytest.raises(BackendUnavailable, match=r"c\+\+ failed: x\.cpp:1: error: no such header; install") as caught:
        ensure_library(tmp_path / "cache")
    assert "\n" not in str(caught.value)


def test_the_probe_says_what_was_found_and_needs_fast_instructions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "C++ kernels" in BACKEND.probe().detail
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu sse2\n", encoding="ascii")
    assert processor_flags(cpuinfo) >= {"fpu", "sse2"}
    assert processor_flags(tmp_path / "none") == set()

    monkeypatch.setattr("runtimes.af_native.backend.processor_flags", lambda: {"sse2"})
    assert "lacks the instructions" in BACKEND.probe().detail


def test_idle_threads_sleep(folder: Path) -> None:
    session = open_native(checkpoint(folder, "int4"), folder, replace(OPTIONS, n_threads=4))
    session.step(random_ids(1), 1, slot=0)
    time.sleep(0.1)
    process = psutil.Process()
    before = process.cpu_times()
    time.sleep(0.5)
    after = process.cpu_times()
    assert after.user + after.system - before.user - before.system < 0.1


def test_closed_sessions_leave_no_threads_behind(folder: Path) -> None:
    process = psutil.Process()
    open_native(checkpoint(folder, "int4"), folder).close()
    before = process.num_threads()
    for _ in range(5):
        session = open_native(checkpoint(folder, "int4"), folder, replace(OPTIONS, n_threads=3))
        session.step(random_ids(1), 1, slot=0)
        session.close()
    assert process.num_threads() == before


def test_more_slots_and_capacity_cost_cache_and_angles_only(folder: Path) -> None:
    path = checkpoint(folder, "int4")

    small = BACKEND.plan(path, OPTIONS)
    large = BACKEND.plan(path, replace(OPTIONS, n_slots=4, max_seq_len=256))

    assert large.cache_bytes == 4 * small.cache_bytes
    assert large.weight_bytes == small.weight_bytes
    partial = TINY.n_heads * (2 + 64) * 4  # of one sequence and one segment of its rows
    logits = TINY.vocab_size * 4
    more = 128 * TINY.head_dim * 4 + 6 * (partial + 64) + 2 * logits + 4096
    assert 0 < large.temp_bytes - small.temp_bytes < more
