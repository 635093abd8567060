from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agentkit.compiler.family import KNOWN
from agentkit.decoder.backend import SessionOptions
from agentkit.errors import StepCancelled, StepFailed
from runtimes.af_native.build import ensure_library, find_compiler
from runtimes.af_native.library import Library
from runtimes.af_native.session import AfNativeSession
from tests.runtimes.opened import OPTIONS, open_onnx, open_reference
from tests.runtimes.test_af_native import (
    _OPEN,
    BUILD_FLAGS,
    INSTRUCTION_SETS,
    TOLERANCE,
    checkpoint,
    open_native,
    prefill,
    random_ids,
    single_steps,
)
from tests.support.tiny import FAMILIES, TINY, family_spec, random_weights, tiny_spec, write_folder, write_gguf

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler")

FOUR = SessionOptions(max_seq_len=256, n_slots=4, buckets=(1, 4, 16, 32), n_threads=2)


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    yield
    while _OPEN:
        _OPEN.pop().close()


@pytest.fixture(params=INSTRUCTION_SETS)
def instruction_set(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param not in Library(ensure_library(folder, extra_flags=BUILD_FLAGS)).instruction_sets():
        pytest.skip(f"this processor has no {request.param}")
    return str(request.param)


def mask_of(ids: list[int], vocab_size: int = TINY.vocab_size) -> np.ndarray:
    bits = np.zeros(-(-vocab_size // 32) * 32, np.uint8)
    bits[ids] = 1
    return np.packbits(bits, bitorder="little").view(np.int32)


# ---- families ----


@pytest.mark.parametrize("precision", ["f32", "int4"])
@pytest.mark.parametrize("architecture", FAMILIES)
def test_every_family_agrees_with_the_reference(
    tmp_path: Path, folder: Path, architecture: str, precision: str, instruction_set: str
) -> None:
    spec = family_spec(architecture, head_dim=32, n_heads=6, n_kv_heads=2)
    path = write_folder(tmp_path / architecture, spec, weights=random_weights(spec))
    options = replace(OPTIONS, n_threads=2)
    session = open_native(path, folder, options, precision=precision, instruction_set=instruction_set)
    reference = open_reference(path, precision=precision)

    for n in (29, 3):
        logits, expected = prefill(session, random_ids(n, n), 32, 0), prefill(reference, random_ids(n, n), 32, 0)
        np.testing.assert_allclose(logits, expected, atol=TOLERANCE[precision]["atol"] * expected.std())
    for token_id in random_ids(12):
        logits = single_steps(session, np.array([token_id]), 0)
        expected = single_steps(reference, np.array([token_id]), 0)
        np.testing.assert_allclose(logits, expected, atol=TOLERANCE[precision]["atol"] * expected.std())


@pytest.mark.parametrize("precision", ["f32", "int8"])
@pytest.mark.parametrize("architecture", FAMILIES)
def test_onnx_runtime_agrees_with_the_reference_on_every_family(
    tmp_path: Path, architecture: str, precision: str
) -> None:
    spec = family_spec(architecture)
    path = write_gguf(tmp_path / "tiny.gguf", spec, kind="Q8_0" if precision == "int8" else "F32")
    session, reference = open_onnx(path, tmp_path, precision=precision), open_reference(path, precision=precision)

    for ids in (random_ids(16, 1), random_ids(1, 2), random_ids(1, 3)):
        logits, expected = (prefill(one, ids, len(ids), 0) for one in (session, reference))
        np.testing.assert_allclose(logits, expected, atol=0.1 * expected.std())


@pytest.mark.parametrize("architecture", FAMILIES)
def test_what_a_family_has_more_than_llama_changes_the_answer(tmp_path: Path, architecture: str) -> None:
    spec = family_spec(architecture)
    weights = random_weights(spec)
    plain = tiny_spec()
    path = write_folder(tmp_path / "family", spec, weights=weights)
    as_llama = write_folder(tmp_path / "llama", plain, weights={name: weights[name] for name in random_weights(plain)})
    first, second = (open_reference(p, precision="f32").step(random_ids(16), 16, slot=0) for p in (path, as_llama))
    assert np.abs(first - second).max() > 0.1


@pytest.mark.parametrize("architecture", FAMILIES)
def test_both_file_formats_of_a_family_give_equal_logits(tmp_path: Path, folder: Path, architecture: str) -> None:
    spec = family_spec(architecture, rms_norm_eps=2.0**-17)
    weights = random_weights(spec)
    paths = (
        write_gguf(tmp_path / "tiny.gguf", spec, weights=weights),
        write_folder(tmp_path / "tiny", spec, weights=weights),
    )
    logits = [open_native(p, folder, precision="f32").step(random_ids(16), 16, slot=0).copy() for p in paths]
    np.testing.assert_allclose(logits[0], logits[1], atol=1e-5)


def test_the_tests_know_every_family() -> None:
    assert set(FAMILIES) | {"llama", "mistral", "smollm2"} == set(KNOWN)


# ---- several sequences in one pass ----


def together(session: AfNativeSession, steps: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Submit every slot's ids, wait for all and commit."""
    n = {slot: next(b for b in session.options.buckets if b >= len(ids)) for slot, ids in steps.items()}
    fences = {
        slot: session.submit(np.pad(ids, (0, n[slot] - len(ids))), len(ids), slot=slot) for slot, ids in steps.items()
    }
    found = {slot: session.wait(fence).copy() for slot, fence in fences.items()}
    for slot, ids in steps.items():
        session.kv.commit(slot, len(ids))
    return found


@pytest.mark.parametrize("precision", ["f32", "int8", "int4"])
def test_steps_that_share_a_pass_give_the_bits_that_they_give_alone(
    folder: Path, precision: str, instruction_set: str
) -> None:
    path = checkpoint(folder, precision)
    shared = open_native(path, folder, FOUR, precision=precision, instruction_set=instruction_set)
    alone = open_native(path, folder, FOUR, precision=precision, instruction_set=instruction_set)
    rng = np.random.default_rng(3)
    for lengths in ((29, 1, 130, 3), (1, 1, 1, 1), (1, 4, 1, 2), (1, 1, 1, 1), (8, 1, 1, 5)):
        steps = {slot: random_ids(n, int(rng.integers(999))) for slot, n in enumerate(lengths)}
        steps = {slot: ids[:32] for slot, ids in steps.items()}
        found = together(shared, steps)
        for slot, ids in steps.items():
            expected = prefill(alone, ids, next(b for b in alone.options.buckets if b >= len(ids)), slot)
            np.testing.assert_array_equal(found[slot], expected)
    for slot in range(4):
        n = alone.kv.length(slot)
        np.testing.assert_array_equal(shared.kv.rows(slot, n), alone.kv.rows(slot, n))


def test_eight_sequences_fit_into_a_pass_and_more_take_another(folder: Path) -> None:
    options = replace(FOUR, n_slots=10, n_threads=3)
    session = open_native(checkpoint(folder, "int4"), folder, options)
    alone = open_native(checkpoint(folder, "int4"), folder, options)
    steps = {slot: random_ids(1, slot) for slot in range(10)}

    for slot, logits in together(session, steps).items():
        np.testing.assert_array_equal(logits, alone.step(steps[slot], 1, slot=slot))


def test_a_slot_has_one_step_in_flight_and_steps_end_in_order(folder: Path) -> None:
    session = open_native(checkpoint(folder, "f32"), folder, FOUR)
    first = session.submit(random_ids(1), 1, slot=0)
    second = session.submit(random_ids(1), 1, slot=1)
    with pytest.raises(StepFailed, match="slot 0 has a step in flight"):
        session.submit(random_ids(1), 1, slot=0)
    with pytest.raises(StepFailed, match="not the oldest in flight"):
        session.wait(second)
    session.wait(first)
    session.wait(second)
    session.submit(random_ids(1), 1, slot=0)
    session.abandon()
    session.wait(session.submit(random_ids(1), 1, slot=0))


# ---- cancellation ----


def test_a_step_is_cancelled_between_layers_and_leaves_the_sequence_as_it_was(tmp_path: Path, folder: Path) -> None:
    spec = tiny_spec(n_layers=60, hidden_size=256, ffn_size=512)
    path = write_folder(tmp_path / "deep", spec, weights=random_weights(spec))
    options = SessionOptions(max_seq_len=512, n_slots=1, buckets=(1, 32, 256), n_threads=2)
    session = open_native(path, folder, options, precision="int8")
    session.cancel()  # nothing is in progress
    prefill(session, random_ids(20), 32, 0)
    expected = session.step(random_ids(256, 1), 256, slot=0).copy()
    kept = session.kv.rows(0, 20).copy()

    was_cancelled = False
    for _ in range(200):
        canceller = threading.Timer(0.002, session.cancel)
        canceller.start()
        try:
            session.step(random_ids(256, 1), 256, slot=0)
        except StepCancelled:
            was_cancelled = True
        canceller.join()
        if was_cancelled:
            break

    assert was_cancelled
    assert session.kv.length(0) == 20
    np.testing.assert_array_equal(session.kv.rows(0, 20), kept)
    np.testing.assert_array_equal(session.step(random_ids(256, 1), 256, slot=0), expected)


def test_cancelling_a_closed_session_does_nothing(folder: Path) -> None:
    session = open_native(checkpoint(folder, "f32"), folder)
    session.close()
    session.cancel()


# ---- the mask ----


@pytest.mark.parametrize("precision", ["f32", "int4"])
@pytest.mark.parametrize("allowed", [[5], [0, 319], list(range(3, 300)), [16, 17, 31, 32, 200], []], ids=len)
def test_forbidden_logits_are_minus_infinity_and_the_others_as_ever(
    folder: Path, precision: str, allowed: list[int], instruction_set: str
) -> None:
    session = open_native(checkpoint(folder, precision), folder, FOUR, instruction_set=instruction_set)
    expected = session.step(random_ids(4), 4, slot=0).copy()

    logits = session.step(random_ids(4), 4, slot=0, allowed=mask_of(allowed))

    forbidden = np.setdiff1d(np.arange(TINY.vocab_size), allowed)
    np.testing.assert_array_equal(logits[allowed], expected[allowed])
    assert np.isneginf(logits[forbidden]).all()


def test_steps_of_a_pass_keep_their_masks_apart(folder: Path) -> None:
    session = open_native(checkpoint(folder, "int4"), folder, FOUR)
    expected = {slot: session.step(random_ids(1, slot), 1, slot=slot).copy() for slot in range(3)}
    masks = {0: mask_of([7]), 1: None, 2: mask_of([7, 300])}

    fences = [session.submit(random_ids(1, slot), 1, slot=slot, allowed=masks[slot]) for slot in range(3)]
    first, second, third = (session.wait(fence).copy() for fence in fences)

    assert np.flatnonzero(np.isfinite(first)).tolist() == [7]
    assert first[7] == expected[0][7]
    np.testing.assert_array_equal(second, expected[1])
    assert np.flatnonzero(np.isfinite(third)).tolist() == [7, 300]


def test_a_mask_of_another_length_is_refused(folder: Path) -> None:
    session = open_native(checkpoint(folder, "f32"), folder)
    with pytest.raises(StepFailed, match="a mask of 3 x int32, wanted a bit per id"):
        session.step(random_ids(1), 1, slot=0, allowed=np.zeros(3, np.int32))


# ---- threads on named cores ----


def test_named_cores_give_the_same_answer_and_the_caller_keeps_its_own(folder: Path) -> None:
    import os

    usable = os.sched_getaffinity(0)
    path = checkpoint(folder, "int4")
    expected = open_native(path, folder).step(random_ids(1), 1, slot=0).copy()
    cores = tuple(sorted(usable))[:2]

    session = open_native(path, folder, replace(OPTIONS, n_threads=0, cores=cores))

    assert session.placement.cores == cores
    np.testing.assert_array_equal(session.step(random_ids(1), 1, slot=0), expected)
    assert os.sched_getaffinity(0) == usable


def test_an_idle_session_takes_no_time(folder: Path) -> None:
    session = open_native(checkpoint(folder, "int4"), folder, replace(OPTIONS, n_threads=4))
    session.step(random_ids(1), 1, slot=0)
    time.sleep(0.2)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.005
