"""The suite of all benches on stand-ins of results, and one real bench in its own process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentkit.bench.figures import Check
from agentkit.bench.suite import SUITE, SUMMARY, Bench, Outcome, _ends, checks_of, run_suite, summary
from agentkit.cli.main import main

COMPARE = {
    "target": "a", "peer": "b", "n_prompt": 128, "n_decode": 64, "n_equal_tokens": 64,
    "ratio": {"decode": 1.5, "prefill": 0.9}, "decode_tok_s": {"target": 90.0, "peer": 60.0},
    "prefill_ms": {"target": 100.0, "peer": 90.0},
}  # fmt: skip


def test_the_table_names_every_figure_and_whether_it_is_met() -> None:
    level = {
        "target": "a",
        "checks": [Check("x | y", 3, 5).as_dict(), Check("z", None, 5, note="no counter").as_dict()],
    }
    text = summary([
        Outcome(Bench("compare_b", ("compare", "--peer", "b")), 3, COMPARE),
        Outcome(Bench("layer", ("layer",)), 2, level),
        Outcome(Bench("step", ("step",)), 1, None, "Busy: try again"),
    ])  # fmt: skip
    assert "| compare_b | decode, a / b | 1.5 | at least 1 | met | 90.0 and 60.0 tokens/s |" in text
    assert "| compare_b | prefill, a / b | 0.9 | at least 1 | missed |" in text
    assert "| layer | x \\| y | 3 | at most 5 | met |" in text
    assert "| layer | z |  | at most 5 | not measured | no counter |" in text
    assert "| step | no result | | | | Busy: try again |" in text
    assert "3 met, 1 missed, 1 not measured; 1 benches without a result." in text


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("commands", {"growth_mb": 1.0, "n_commands": 20, "ms": {"model": {"p50": 1.0, "p99": 2.0}}}),
        ("start", {"starts": [{"answered_s": 9.0}, {"answered_s": 2.0}]}),
        ("homes", {"ratio": 1.1}),
        ("roofline", {"bandwidth_share": 0.9}),
    ],
)
def test_results_without_thresholds_of_their_own_get_those_of_their_kind(name: str, result: dict[str, object]) -> None:
    (check,) = checks_of(Outcome(Bench(name, (name,)), 1, result))
    assert check["is_met"] is True


def test_every_bench_has_a_folder_of_its_own_and_is_a_command() -> None:
    names = [bench.name for bench in SUITE]
    assert len(set(names)) == len(names)
    assert {bench.args[0] for bench in SUITE} == {
        "compare", "layer", "step", "session", "system", "overlap", "reuse", "pareto", "roofline", "start", "homes",
        "commands",
    }  # fmt: skip


def test_a_bench_runs_in_a_process_and_a_failing_one_does_not_stop_the_rest(tmp_path: Path) -> None:
    app = str(Path(__file__).parents[2] / "apps" / "smart_home")
    benches = [
        Bench("broken", ("session", "--model", "no-such-model"), is_of_target=False),
        Bench("few", ("commands", "--app", app, "--count", "3", "--no-model"), is_of_target=False),
    ]
    broken, few = run_suite(tmp_path, benches=benches)
    assert broken.result is None
    assert "no-such-model" in broken.note
    assert few.result is not None
    assert json.loads((tmp_path / "few" / "commands.json").read_text("utf-8")) == few.result
    assert "| few | growth over 3 commands |" in (tmp_path / SUMMARY).read_text("utf-8")


def test_a_bench_that_takes_too_long_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {started}; wait"
    with (tmp_path / "log").open("w") as log:
        assert not _ends(["sh", "-c", script], log, 0.5)
        assert _ends(["sh", "-c", "true"], log, 30)
    state = Path(f"/proc/{started.read_text().strip()}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_what_has_no_time_left_is_not_run_and_says_so(tmp_path: Path) -> None:
    (outcome,) = run_suite(tmp_path, benches=SUITE[:1], limit_s=0)
    assert (outcome.result, outcome.took_s) == (None, 0)
    assert "not run" in (tmp_path / SUMMARY).read_text("utf-8")


def test_an_unknown_bench_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "all", "--only", "nonsense", "--out", str(tmp_path)]) == 1
    assert "no bench is called 'nonsense'" in capsys.readouterr().err
