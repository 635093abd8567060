"""The bench itself, on a tiny model: counts, order and shape of what it reports; no time is judged."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.bench.attention import BLOCKWISE, GQA, attention_bench
from agentkit.bench.counters import _why_not, miss_rate
from agentkit.bench.figures import Check, machine, spread
from agentkit.bench.layer import layer_bench
from agentkit.bench.overlap import Load
from agentkit.bench.priority import realtime
from agentkit.bench.reuse import reuse_bench
from agentkit.bench.step import step_bench
from agentkit.bench.system import system_bench
from agentkit.bench.throughput import MODES, ladder_bench, throughput_bench
from agentkit.bench.trace_file import Bar, event_bars, stage_bars, write_chrome_trace
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.trace import Stage, StageTrace
from agentkit.errors import BackendUnavailable
from tests.support.tiny import TINY, write_gguf

OPTIONS = SessionOptions(max_seq_len=128, n_slots=2, buckets=(1, 16), n_threads=1)
LOAD = Load(n_requests=4, n_clients=4, n_prompt=8, n_tokens=4)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf", kind="Q4_1", embed_kind="Q8_0")


def test_a_check_knows_when_it_is_met_missed_or_not_measured() -> None:
    assert [Check("x", value, 5).is_met for value in (4, 5, 6, None)] == [True, True, False, None]
    assert [Check("x", value, 5, is_upper=False).is_met for value in (4, 6)] == [False, True]
    assert Check("x", 4.0, 5, unit="ms").as_dict()["wanted"] == "at most 5 ms"


def test_spread_and_machine_are_complete() -> None:
    figures = spread([1.0] * 99 + [101.0])
    assert (figures["n"], figures["mean"], figures["p50"], figures["max"]) == (100, 2, 1, 101)
    assert figures["p50"] <= figures["p90"] <= figures["p95"] <= figures["p99"] <= figures["max"]
    assert {"date", "cpu", "n_cores", "load_1min", "versions"} <= set(machine())


def test_the_step_level_times_every_step_and_traces_every_stage(checkpoint: Path) -> None:
    trace = StageTrace()
    result = step_bench(checkpoint, cache_dir=checkpoint.parent, options=OPTIONS, trace=trace)
    assert (result["n_steps"], len(result["steps_ms"])) == (128, 128)
    assert [check["wanted"] for check in result["checks"]][:3] == ["at most 5 ms", "at most 8 ms", "at most 0"]
    n_core = sum(span.stage is Stage.CORE for span in trace.spans())
    assert n_core == result["host"]["n_steps"] > 100
    assert result["host"]["host_ms"] > 0


def test_the_step_level_says_how_even_a_plain_loop_was_beside_it(checkpoint: Path) -> None:
    result = step_bench(checkpoint, cache_dir=checkpoint.parent, options=OPTIONS)
    (jitter,) = (check for check in result["checks"] if check["name"] == "P99 / P50")
    plain = result["plain_ms"]
    assert plain["n"] == 32
    assert f"{plain['p99'] / plain['p50']:.2f} for a plain loop" in jitter["note"]


def test_the_layer_level_compares_every_form_of_attention(checkpoint: Path) -> None:
    options = replace(OPTIONS, n_slots=1)
    result = layer_bench(checkpoint, cache_dir=checkpoint.parent, options=options, lengths=(1, 64))
    assert result["winner"] in result["attention"]["us"]
    bandwidth, misses, flatness, growth = result["checks"]
    assert flatness["value"] >= 1
    assert result["growth"]["us"][0] == 0
    assert growth["value"] == result["growth"]["us"][-1]
    assert bandwidth["value"] > 0
    assert misses["value"] is not None or misses["note"]


def test_forms_of_attention_are_timed_at_the_same_lengths() -> None:
    found = attention_bench(TINY, lengths=(1, 40))
    assert {GQA, BLOCKWISE} < set(found["us"])
    assert all(len(us) == 2 for us in found["us"].values())


def test_the_system_level_has_three_phases(checkpoint: Path) -> None:
    result = system_bench(checkpoint, cache_dir=checkpoint.parent, options=OPTIONS, n_steps=20, stress="builtin")
    assert list(result["step_ms"]) == ["idle", "under stress", "under stress, realtime"]
    assert all(len(ms) == 20 for ms in result["steps_ms"].values())


def test_priority_and_cores_are_as_they_were_afterwards() -> None:
    def state() -> tuple[int, int, set[int]]:
        return os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)

    before = state()
    with realtime(1) as refused:
        assert len(os.sched_getaffinity(0)) == 1
        assert refused or state()[:2] != before[:2]
    assert state() == before


def test_every_way_of_driving_the_stages_gives_the_same_answers(checkpoint: Path) -> None:
    result = throughput_bench(checkpoint, cache_dir=checkpoint.parent, rounds=1, load=LOAD)
    assert result["are_answers_equal"]
    assert set(result["qps"]) == {mode.name for mode in MODES}


def test_the_ladder_of_the_simulated_target_goes_up(checkpoint: Path) -> None:
    result = ladder_bench(checkpoint, cache_dir=checkpoint.parent, load=LOAD)
    assert result["are_answers_equal"]
    qps = [rung["qps"] for rung in result["rungs"]]
    assert qps == sorted(qps)
    assert result["clock"] == "virtual"
    assert len(event_bars(result["rungs"][0]["events"])) > 100
    with pytest.raises(BackendUnavailable, match="no ladder"):
        ladder_bench(checkpoint, cache_dir=checkpoint.parent, target="cpu_onnx", load=LOAD)


def test_a_chrome_trace_holds_every_span_in_microseconds(tmp_path: Path) -> None:
    trace = StageTrace()
    for stage, start_s in zip(Stage, (10.0, 10.001, 10.005), strict=True):
        trace.note(stage, (3, 7, 1), start_s, start_s + 0.0005)
    write_chrome_trace(tmp_path / "trace.json", stage_bars(trace), title="a test")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    spans = [(e["cat"], round(e["ts"]), round(e["dur"]), e["args"]["group"]) for e in events if e["ph"] == "X"]
    assert spans == [("pre-step", 0, 500, 3), ("core-step", 1000, 500, 3), ("post-step", 5000, 500, 3)]
    assert {e["args"]["name"] for e in events if e["ph"] == "M"} >= {"a test", "pre-step", "core-step", "post-step"}


def test_pictures_are_drawn_where_matplotlib_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need the extra [bench]")
    from agentkit.bench import plots

    plots.plot_steps(tmp_path / "a.png", [1.0, 2.0, 30.0], spike_ms=15, title="steps")
    plots.plot_curves(tmp_path / "b.png", [1, 2], {"x": [1, 2]}, title="curves", labels=("x", "y"))
    plots.plot_timeline(tmp_path / "c.png", [Bar("pre-step", "x", 0, 0, 1), Bar("npu", "y", 1, 1, 2)], title="time")
    plots.plot_ladder(tmp_path / "d.png", [{"name": "one", "qps": 1.0}, {"name": "two", "qps": 2.0}], title="ladder")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.png", "b.png", "c.png", "d.png"]
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in tmp_path.iterdir())


def test_reuse_counts_steps_and_cached_tokens_not_only_time(checkpoint: Path) -> None:
    result = reuse_bench(checkpoint, cache_dir=checkpoint.parent, n_threads=1, rounds=1, n_prefix=150)
    forced, prefix = result["forced"], result["prefix"]
    assert forced["n_steps"]["with"] < forced["n_steps"]["without"]
    assert forced["n_forced"] > forced["n_sampled"]
    assert prefix["n_cached"]["without"] == 0
    assert prefix["n_cached"]["with"] >= 150
    assert prefix["are_answers_equal"]


def test_without_counters_the_reason_is_the_kernels_own() -> None:
    rate, why = miss_rate(lambda: sum(range(100_000)))
    assert (rate is None) == bool(why)
    assert rate is None or 0 <= rate <= 1
    assert "perf_event_paranoid" in _why_not(errno.EACCES)
    assert "No such file" in _why_not(errno.ENOENT)
