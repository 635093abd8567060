"""The simulated NPU: real numbers, and a virtual clock that shows what overlaps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from agentkit.bench.overlap import Load, Served, serve
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.chat import Message
from agentkit.decoder.decoder import Decoder
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.lane import Lane
from agentkit.decoder.memory_pool import Pools
from agentkit.decoder.tokenizer import load_tokenizer
from agentkit.errors import StepFailed
from agentkit.manifest import find_manifest, find_model, load_manifest
from agentkit.planner import choose, probe_host
from agentkit.planner.plan import Reason
from runtimes import reference
from runtimes.npu_chip import Chip, Timeline
from runtimes.npu_sim import SYNCHRONOUS, NpuSim, NpuSimSession, Way
from tests.support.sessions import OPTIONS, open_reference
from tests.support.tiny import tiny_spec, write_gguf

FOUR = SessionOptions(max_seq_len=128, n_slots=4, buckets=(1, 4, 16))
LOAD = Load(n_requests=8, n_clients=4, n_prompt=12, n_tokens=8)
SMOLLM = tiny_spec(
    n_layers=30, hidden_size=576, n_heads=9, n_kv_heads=3, head_dim=64, ffn_size=1536, vocab_size=49152,
    max_seq_len=2048,
)  # fmt: skip
"""The shape of SmolLM2-135M: the clock needs no weights."""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


def open_sim(checkpoint: Path, way: Way | None = None, options: SessionOptions = FOUR) -> NpuSimSession:
    backend = NpuSim(reference.BACKEND, way=way)
    pools = Pools.from_sizes(backend.plan(checkpoint, options))
    session = backend.open(checkpoint, options, pools=pools, cache_dir=checkpoint.parent)
    assert all(pool["used_bytes"] == pool["n_bytes"] for pool in pools.describe().values())
    return session


def served(checkpoint: Path, way: Way, n_in_flight: int) -> tuple[Served, float]:
    session = open_sim(checkpoint, way)
    found = serve(Lane("npu_sim", session), load_tokenizer(checkpoint), LOAD, n_in_flight=n_in_flight)
    return found, session.timeline.host_us


def steady_us(way: Way, n_in_flight: int, *, n_steps: int = 40) -> float:
    """Virtual time per decode step of four sequences of SmolLM2's shape with 200 rows each in the cache."""
    timeline, in_flight, n_done = Timeline(Chip.load(), SMOLLM, way), [], 0
    for number in range(n_steps + n_in_flight - 1):
        in_flight.append(timeline.submit(number, 1, 200))
        if len(in_flight) == n_in_flight:
            timeline.wait(in_flight.pop(0))
            n_done += 1
    return timeline.host_us / n_done


def test_grammar_sampler_and_answers_are_those_of_the_reference(checkpoint: Path) -> None:
    tokenizer = load_tokenizer(checkpoint)
    grammar = Grammar.compile('start: ("turn_on" | "turn_off") "(" /[a-z]{4,12}/ ")"', tokenizer)
    answers = []
    for session in (open_reference(checkpoint, OPTIONS), open_sim(checkpoint, options=OPTIONS)):
        decoder = Decoder([("any", session)], tokenizer)
        prompt = decoder.chat_prompt([Message("system", "You control a home."), Message("user", "go")])
        found = [decoder.generate(prompt, grammar=g, max_tokens=30) for g in (grammar, None)]
        answers.append([(g.token_ids, g.logprob, g.n_forced, g.n_sampled) for g in found])
    assert answers[0] == answers[1]


def test_double_buffering_changes_the_time_and_no_answer(checkpoint: Path) -> None:
    (slow, slow_us), (quick, quick_us) = served(checkpoint, SYNCHRONOUS, 1), served(checkpoint, Way(), 4)
    assert slow == quick
    assert quick_us < slow_us
    assert served(checkpoint, Way(), 4)[1] == quick_us  # the clock is virtual: the same every time


def test_four_requests_at_once_get_three_times_the_throughput() -> None:
    assert steady_us(SYNCHRONOUS, 1) / steady_us(Way(), 4) >= 3


def test_every_step_of_the_ladder_gains_and_overlap_alone_is_told_apart() -> None:
    overlap = replace(Way(), is_pass_shared=False)
    ladder = [
        steady_us(SYNCHRONOUS, 1),
        steady_us(replace(SYNCHRONOUS, has_bound_cache=True), 1),
        steady_us(replace(SYNCHRONOUS, has_bound_cache=True, is_back_to_back=True), 1),
        steady_us(overlap, 1),
        steady_us(overlap, 4),
        steady_us(Way(), 4),
    ]
    assert ladder == sorted(ladder, reverse=True)
    assert 2 < ladder[0] / ladder[4] < 3  # without passes shared by several steps three times is not reached
    weights_us = Timeline(Chip.load(), SMOLLM, overlap).chip.bytes_per_weight * 134.5e6 / 15e3
    assert weights_us < ladder[4] < 1.05 * weights_us  # then the weights' way through the memory is all that counts


def test_fused_kernels_cost_fewer_fences() -> None:
    plain = replace(SYNCHRONOUS, is_fused=False)
    assert steady_us(plain, 1) > 1.5 * steady_us(SYNCHRONOUS, 1)


def test_a_bigger_sram_needs_fewer_transfers() -> None:
    chip = Chip.load()
    small, large = (Timeline(replace(chip, sram_kb=kb), SMOLLM, Way(), events=[]) for kb in (64, 4096))
    for timeline in (small, large):
        timeline.wait(timeline.submit(0, 1, 0))
    n_transfers = [sum(event.resource == "dma" for event in timeline.events or []) for timeline in (small, large)]
    assert n_transfers[0] > 10 * n_transfers[1]
    assert large.host_us < small.host_us


def test_no_resource_does_two_things_at_once() -> None:
    timeline = Timeline(Chip.load(), SMOLLM, Way(), events=[])
    steps = [timeline.submit(number, 1, 50) for number in range(4)]
    for step in steps:
        timeline.wait(step)
    for resource in ("host", "dma", "io", "npu"):
        spans = sorted((e.start_us, e.end_us) for e in timeline.events or [] if e.resource == resource)
        assert spans
        assert all(a[1] <= b[0] + 1e-6 for a, b in pairwise(spans)), resource


def test_steps_past_the_four_buffers_or_out_of_order_are_refused(checkpoint: Path) -> None:
    session, token_ids = open_sim(checkpoint), np.array([5])
    first = session.submit(token_ids, 1, slot=0)
    with pytest.raises(StepFailed, match="slot 0 has a step in flight"):
        session.submit(token_ids, 1, slot=0)
    second = session.submit(token_ids, 1, slot=1)
    with pytest.raises(StepFailed, match="not the oldest"):
        session.wait(second)
    assert session.wait(first).argmax() == session.wait(second).argmax()


def test_it_is_never_chosen_unless_it_is_named(checkpoint: Path) -> None:
    probes = {"npu_sim": NpuSim(reference.BACKEND).probe(), "cpu_onnx": reference.BACKEND.probe()}
    model = find_model(load_manifest(find_manifest()), None)
    plan = choose(model, probes, device=probe_host(checkpoint.parent))
    assert [choice.target for choice in plan.choices] == ["cpu_onnx"]
    assert ("npu_sim", Reason.NOT_NAMED) in [(r.target, r.reason) for r in plan.rejections]
    named = choose(model, probes, device=probe_host(checkpoint.parent), named="npu_sim")
    assert named.choices[0].target == "npu_sim"
