"""Whatever is appended, cut, copied, forgotten or given up in whichever slot: what a slot knows is its own tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.lane import Lane
from agentkit.decoder.memory_pool import Pools
from agentkit.plugins import find_backend
from tests.support.sessions import open_reference
from tests.support.tiny import write_gguf

CAPACITY, N_SLOTS = 64, 3
OPTIONS = SessionOptions(max_seq_len=CAPACITY, n_slots=N_SLOTS, buckets=(1, 4, 16), n_threads=1)
TARGETS = ("reference", "cpu_onnx", "af_native", "npu_sim", "cpu_af")
TOLERANCE = {"reference": 1e-4, "cpu_onnx": 1e-3, "npu_sim": 1e-3, "cpu_af": 1e-3, "af_native": 5e-3}
"""Of a logit whose standard deviation is 1; af_native keeps its cache in f16."""
PROBE = 7

SLOT = st.integers(0, N_SLOTS - 1)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), SLOT, st.integers(1, 20)),
        st.tuples(st.just("truncate"), SLOT, st.integers(0, CAPACITY)),
        st.tuples(st.just("copy"), SLOT, SLOT),
        st.tuples(st.just("reset"), SLOT, st.just(0)),
        st.tuples(st.just("give_up"), SLOT, st.integers(1, 16)),
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="module")
def reference(checkpoint: Path) -> Lane:
    return Lane("reference", open_reference(checkpoint, replace(OPTIONS, n_slots=1)))


@pytest.fixture(scope="module", params=TARGETS)
def lane(request: pytest.FixtureRequest, checkpoint: Path, native_library: Path) -> Iterator[Lane]:
    backend = find_backend(request.param)
    probe = backend.probe()
    if not probe.is_available:
        pytest.skip(probe.detail)
    pools = Pools.from_sizes(backend.plan(checkpoint, OPTIONS))
    session = backend.open(checkpoint, OPTIONS, pools=pools, cache_dir=native_library.parent)
    lane = Lane(request.param, session, pools)
    lane.warm_up()
    yield lane
    session.close()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS)
def test_after_any_sequence_each_slot_answers_like_its_tokens_alone(
    lane: Lane, reference: Lane, operations: list[tuple[str, int, int]]
) -> None:
    known: list[list[int]] = [[] for _ in range(N_SLOTS)]
    for slot in range(N_SLOTS):
        lane.kv.reset(slot)
    for number, (operation, slot, n) in enumerate(operations):
        apply(lane, known, operation, slot, n, first_id=11 * number + 1)
    assert [lane.kv.length(slot) for slot in range(N_SLOTS)] == [len(ids) for ids in known]

    for slot, ids in enumerate(known):
        if len(ids) < CAPACITY:
            reference.kv.reset(0)
            expected = run(reference, 0, [*ids, PROBE])
            np.testing.assert_allclose(run(lane, slot, [PROBE]), expected, atol=TOLERANCE[lane.name])
    assert [lane.kv.length(slot) for slot in range(N_SLOTS)] == [min(len(ids) + 1, CAPACITY) for ids in known]


def run(lane: Lane, slot: int, ids: list[int]) -> NDArray[np.float32]:
    logits = lane.run(slot, ids, is_stopped=lambda: False)
    assert logits is not None
    return logits.copy()


def apply(lane: Lane, known: list[list[int]], operation: str, slot: int, n: int, *, first_id: int) -> None:
    ids, kv = known[slot], lane.kv
    new = [(first_id + i) % lane.session.spec.vocab_size for i in range(n)]
    if operation == "append" and len(ids) + n <= CAPACITY:
        run(lane, slot, new)
        ids += new
    elif operation == "truncate" and n <= len(ids):
        kv.truncate(slot, n)
        del ids[n:]
    elif operation == "copy":
        kv.copy(slot, n)
        known[n] = list(ids)
    elif operation == "reset":
        kv.reset(slot)
        ids.clear()
    elif operation == "give_up" and len(ids) + 16 <= CAPACITY:  # a step whose rows nobody commits
        lane.session.step(np.asarray(new + [0] * (16 - n), np.int64), n, slot=slot)
