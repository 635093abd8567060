"""All benches one after the other, each in a process of its own, and one table of what they found."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from agentkit.bench.commands import MAX_GROWTH_MB
from agentkit.bench.figures import Check, machine
from agentkit.bench.homes import MAX_RATIO
from agentkit.bench.layer import MIN_BANDWIDTH_SHARE
from agentkit.bench.start import MAX_START_S

SUMMARY: Final = "summary.md"
RUN_LIMIT_S: Final = 180.0
"""Of one bench; a hanging one must not take the time of the others."""
MIN_EQUAL: Final = 16
"""Greedy tokens from which two engines surely run the same model on the same prompt."""
Result = Mapping[str, Any]
_WORDS: Final = {True: "met", False: "missed", None: "not measured"}


@dataclass(frozen=True)
class Bench:
    """One command of the suite; its files go to a folder of that name."""

    name: str
    args: tuple[str, ...]
    """Behind `agentkit bench`."""
    is_of_target: bool = True
    """It knows --threads and --realtime."""


SUITE: Final = (
    Bench("compare_llama_cpp", ("compare", "--peer", "llama_cpp"), is_of_target=False),
    Bench("compare_genai", ("compare", "--peer", "onnxruntime_genai"), is_of_target=False),
    Bench("compare_cpu_onnx", ("compare", "--peer", "cpu_onnx"), is_of_target=False),
    Bench("layer", ("layer",)),
    Bench("step", ("step", "--trace")),
    Bench("session", ("session",)),
    Bench("system", ("system", "--steps", "200"), is_of_target=False),
    Bench("overlap", ("overlap",)),
    Bench("overlap_npu_sim", ("overlap", "--target", "npu_sim", "--trace"), is_of_target=False),
    Bench("reuse", ("reuse",)),
    Bench("pareto", ("pareto",)),
    Bench("roofline", ("roofline",), is_of_target=False),
    Bench("start", ("start",), is_of_target=False),
    Bench("homes", ("homes",), is_of_target=False),
    Bench("commands", ("commands",), is_of_target=False),
)


@dataclass(frozen=True)
class Outcome:
    """What became of one bench."""

    bench: Bench
    took_s: float
    result: Result | None
    """None = it left none; the note says why."""
    note: str = ""


def run_suite(
    folder: Path, *, benches: Sequence[Bench] = SUITE, options: Sequence[str] = (), limit_s: float = 700.0,
    on_done: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:  # fmt: skip
    """Run the benches within limit_s and write the summary after each; `options` go to those of a target."""
    deadline, outcomes = time.monotonic() + limit_s, list[Outcome]()
    folder.mkdir(parents=True, exist_ok=True)
    for bench in benches:
        left_s = deadline - time.monotonic()
        outcomes.append(_run(bench, folder / bench.name, options, min(left_s, RUN_LIMIT_S)))
        (folder / SUMMARY).write_text(summary(outcomes), "utf-8")
        if on_done:
            on_done(outcomes[-1])
    return outcomes


def _run(bench: Bench, folder: Path, options: Sequence[str], limit_s: float) -> Outcome:
    if limit_s < 1:
        return Outcome(bench, 0.0, None, "not run: the time of the suite was over")
    folder.mkdir(exist_ok=True)
    written = folder / f"{bench.args[0]}.json"
    written.unlink(missing_ok=True)
    more = options if bench.is_of_target else ()
    command = [sys.executable, "-m", "agentkit.cli.main", "bench", *bench.args, *more, "--out", str(folder)]
    started_s = time.monotonic()
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        note = "" if _ends(command, log, limit_s) else f"stopped after {limit_s:.0f} s"
    took_s = time.monotonic() - started_s
    try:
        return Outcome(bench, took_s, json.loads(written.read_text("utf-8")), note)
    except (OSError, ValueError):
        lines = (folder / "log.txt").read_text("utf-8", "replace").split("\n")
        return Outcome(bench, took_s, None, note or next((line for line in lines[::-1] if line), "it said nothing"))


def _ends(command: Sequence[str], log: IO[str], limit_s: float) -> bool:
    """Run a command; False if it had to be stopped, with all that it started: stress would go on for ever."""
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return True


def summary(outcomes: Sequence[Outcome]) -> str:
    """Lay what was measured out as Markdown: every figure with what is wanted of it."""
    here = machine()
    versions = ", ".join(f"{name} {version}" for name, version in here["versions"].items())
    lines = [
        f"# Benches of {here['date']}", "",
        f"{here['cpu']}, {here['n_cores']} cores, {here['system']}, Python {here['python']}; {versions}.", "",
        "| bench | figure | measured | wanted | | note |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for outcome in outcomes:
        lines += _rows(outcome)
    lines += ["", "| command | target | took |", "|---|---|---|"]
    for outcome in outcomes:
        target = (outcome.result or {}).get("target", "")
        lines.append(f"| `agentkit bench {' '.join(outcome.bench.args)}` | {target} | {outcome.took_s:.0f} s |")
    found = [check["is_met"] for outcome in outcomes for check in checks_of(outcome)]
    n_silent = sum(outcome.result is None for outcome in outcomes)
    counts = ", ".join(f"{found.count(is_met)} {word}" for is_met, word in _WORDS.items())
    lines += ["", f"{counts}; {n_silent} benches without a result."]
    return "\n".join(lines) + "\n"


def _rows(outcome: Outcome) -> Iterator[str]:
    name = outcome.bench.name
    if outcome.result is None:
        yield f"| {name} | no result | | | | {_cell(outcome.note)} |"
    for check in checks_of(outcome):
        value = "" if check["value"] is None else f"{check['value']:.3g}"
        mark = _WORDS[check["is_met"]]
        yield f"| {name} | {_cell(check['name'])} | {value} | {check['wanted']} | {mark} | {_cell(check['note'])} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def checks_of(outcome: Outcome) -> Sequence[Mapping[str, Any]]:
    """Return the thresholds of a result: its own, else those that belong to its kind."""
    result = outcome.result
    if result is None:
        return ()
    made = result.get("checks") or [check.as_dict() for check in _CHECKS.get(outcome.bench.args[0], _none)(result)]
    return list(made)


def _none(_: Result) -> Iterator[Check]:
    return iter(())


def _compare(result: Result) -> Iterator[Check]:
    target, peer = result["target"], result["peer"]
    decode, prefill = result["decode_tok_s"], result["prefill_ms"]
    note = f"{decode['target']:.1f} and {decode['peer']:.1f} tokens/s"
    yield Check(f"decode, {target} / {peer}", result["ratio"]["decode"], 1, is_upper=False, note=note)
    note = f"{prefill['target']:.1f} and {prefill['peer']:.1f} ms for {result['n_prompt']} tokens"
    yield Check(f"prefill, {target} / {peer}", result["ratio"]["prefill"], 1, is_upper=False, note=note)
    yield Check(f"equal greedy tokens of {result['n_decode']}", result["n_equal_tokens"], MIN_EQUAL, is_upper=False,
                note="roundings of two engines part sooner or later")  # fmt: skip


def _commands(result: Result) -> Iterator[Check]:
    times = "; ".join(f"{path} p50 {ms['p50']:.1f}, p99 {ms['p99']:.1f} ms" for path, ms in result["ms"].items())
    yield Check(f"growth over {result['n_commands']} commands", result["growth_mb"], MAX_GROWTH_MB, unit="MB",
                note=times)  # fmt: skip


def _start(result: Result) -> Iterator[Check]:
    yield Check("second start to first answer", result["starts"][-1]["answered_s"], MAX_START_S, unit="s")


def _homes(result: Result) -> Iterator[Check]:
    yield Check("1,000 devices / 10 devices", result["ratio"], MAX_RATIO)


def _roofline(result: Result) -> Iterator[Check]:
    yield Check("bandwidth use of a decode step", result["bandwidth_share"], MIN_BANDWIDTH_SHARE, is_upper=False)


_CHECKS: Final[Mapping[str, Callable[[Result], Iterator[Check]]]] = {
    "compare": _compare, "commands": _commands, "start": _start, "homes": _homes, "roofline": _roofline,
}  # fmt: skip
