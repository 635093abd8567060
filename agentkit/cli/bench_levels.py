"""`agentkit bench layer | step | system | overlap | soak | reuse | pareto`: levels of validation (A12, A16)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from agentkit.cli.bench import (
    AppOption,
    ModelOption,
    OutOption,
    RealtimeOption,
    Result,
    TargetOption,
    ThreadsOption,
    _cache_dir,
    _finish,
    _progress,
    _subject,
)
from agentkit.cli.bench import bench_app as bench_app
from agentkit.cli.bench_show import alone
from agentkit.cli.common import DebugOption, JsonOption

SHOWN_MS = 60.0
"""What a picture of a timeline shows; the Chrome trace holds everything."""
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit code 1 if a threshold is missed.")]
TraceOption = Annotated[
    bool, typer.Option("--trace", help="Also write every stage of every token: Chrome trace JSON and a PNG timeline.")
]


@bench_app.command("layer", epilog="Example: agentkit bench layer --out bench-out")
def layer_command(
    target: TargetOption = None,
    model: ModelOption = None,
    threads: ThreadsOption = 0,
    realtime: RealtimeOption = False,
    strict: StrictOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Bandwidth use and cache misses of a step; one attention in every form against the rows in the cache."""
    from agentkit.bench.attention import LENGTHS
    from agentkit.bench.layer import layer_bench
    from agentkit.decoder.backend import SessionOptions

    checkpoint, target = _subject(model, target)
    options = SessionOptions(n_slots=1, buckets=(1, 16), n_threads=threads)
    with _progress("lengths", len(LENGTHS)) as on_length, alone(realtime, threads):
        result = layer_bench(checkpoint, cache_dir=_cache_dir(), target=target, options=options, on_length=on_length)
    _finish_level("layer", result, out=out, is_json=json, is_strict=strict)


@bench_app.command("step", epilog="Example: agentkit bench step --trace --out bench-out")
def step_command(
    steps: Annotated[int | None, typer.Option("--steps", min=2, help="Steps; default: up to a full cache.")] = None,
    target: TargetOption = None,
    model: ModelOption = None,
    threads: ThreadsOption = 0,
    realtime: RealtimeOption = False,
    trace: TraceOption = False,
    strict: StrictOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Time every decode step from an empty cache to a full one, and what the host adds to it."""
    from agentkit.bench.step import step_bench
    from agentkit.decoder.backend import SessionOptions
    from agentkit.decoder.trace import StageTrace

    spans = StageTrace() if trace else None
    checkpoint, target = _subject(model, target)
    options = SessionOptions(n_slots=2, n_threads=threads)
    with _progress("steps", steps or options.max_seq_len) as on_step, alone(realtime, threads):
        result = step_bench(
            checkpoint, cache_dir=_cache_dir(), target=target, options=options, n_steps=steps, trace=spans,
            on_step=on_step,
        )  # fmt: skip
    _finish_level("step", result, out=out, is_json=json, is_strict=strict)
    if spans is not None:
        _write_stages(out, "step", spans, f"{result['checkpoint']} on {target}: one request, stage by stage")


@bench_app.command("system", epilog="Example: agentkit bench system --out bench-out")
def system_command(
    steps: Annotated[int, typer.Option("--steps", min=10, help="Steps of each phase.")] = 400,
    stress: Annotated[
        str | None, typer.Option("--stress", metavar="NAME", help="stress-ng or builtin; default: what there is.")
    ] = None,
    target: TargetOption = None,
    model: ModelOption = None,
    threads: ThreadsOption = 0,
    shared: Annotated[
        bool, typer.Option("--shared", help="The machine is never idle: take priority in the idle phase as well.")
    ] = False,
    strict: StrictOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Time decode steps idle, beside a stressed machine, and the same with raised priority."""
    from agentkit.bench.system import system_bench
    from agentkit.decoder.backend import SessionOptions

    checkpoint, target = _subject(model, target)
    options = SessionOptions(max_seq_len=512, n_slots=1, buckets=(1,), n_threads=threads)
    with _progress("phases", 3) as on_phase:
        result = system_bench(
            checkpoint, cache_dir=_cache_dir(), target=target, options=options, n_steps=steps, stress=stress,
            is_shared=shared, on_phase=on_phase,
        )  # fmt: skip
    _finish_level("system", result, out=out, is_json=json, is_strict=strict)


@bench_app.command("overlap", epilog="Example: agentkit bench overlap --target npu_sim --trace --out bench-out")
def overlap_command(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Measurements of each way, by turns.")] = 3,
    target: TargetOption = None,
    model: ModelOption = None,
    threads: ThreadsOption = 0,
    realtime: RealtimeOption = False,
    trace: TraceOption = False,
    strict: StrictOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Answer several requests at once: in line, interleaved, with a thread per stage; on npu_sim up its ladder."""
    from agentkit.bench.throughput import ladder_bench, throughput_bench
    from agentkit.decoder.trace import StageTrace

    checkpoint, target = _subject(model, target)
    if target == "npu_sim":
        with _progress("ways", 6) as on_rung, alone(realtime, threads):
            result = ladder_bench(checkpoint, cache_dir=_cache_dir(), target=target, n_threads=threads, on_rung=on_rung)
        events = [rung.pop("events") for rung in result["rungs"]]
        _finish_level("overlap", result, out=out, is_json=json, is_strict=strict)
        if trace:
            _write_events(out, events[0], events[-1])
        return
    spans = StageTrace() if trace else None
    with _progress("rounds", rounds) as on_round, alone(realtime, threads):
        result = throughput_bench(
            checkpoint, cache_dir=_cache_dir(), target=target, n_threads=threads, rounds=rounds, trace=spans,
            on_round=on_round,
        )  # fmt: skip
    _finish_level("overlap", result, out=out, is_json=json, is_strict=strict)
    if spans is not None:
        _write_stages(out, "overlap", spans, f"{result['checkpoint']} on {target}: four requests interleaved")


@bench_app.command("soak", epilog="Example: agentkit bench soak --target af_native --minutes 60 --out bench-out")
def soak_command(
    minutes: Annotated[float, typer.Option("--minutes", min=0.01, help="How long to ask.")] = 60,
    target: TargetOption = "af_native",
    model: ModelOption = None,
    threads: ThreadsOption = 0,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Ask the same for hours, one by one and four at once; exit code 1 if an answer changes or memory grows."""
    from agentkit.bench.soak import Window, soak_bench

    def on_window(window: Window) -> None:
        figures = ", ".join(f"{name} {window[name]:.2f}" for name in ("p50", "p99", "max"))
        equal = "equal" if window["are_answers_equal"] else "DIFFERENT"
        print(f"{window['minute']:7.1f} min  step ms {figures}  {window['rss_mb']:.1f} MB  answers {equal}", flush=True)

    checkpoint, target = _subject(model, target)
    result = soak_bench(
        checkpoint, cache_dir=_cache_dir(), target=target, minutes=minutes, n_threads=threads,
        on_window=None if json else on_window,
    )  # fmt: skip
    _finish("soak", result, out=out, is_json=json, show=_show_soak, is_met=result["is_sound"])


@bench_app.command("reuse", epilog="Example: agentkit bench reuse --out bench-out")
def reuse_command(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Measurements of each, by turns.")] = 5,
    target: TargetOption = None,
    model: ModelOption = None,
    threads: ThreadsOption = 0,
    realtime: RealtimeOption = False,
    strict: StrictOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Time a tool call with and without forced runs, and a first command with and without a saved static prompt."""
    from agentkit.bench.reuse import reuse_bench

    checkpoint, target = _subject(model, target)
    with _progress("rounds", rounds) as on_round, alone(realtime, threads):
        result = reuse_bench(
            checkpoint, cache_dir=_cache_dir(), target=target, n_threads=threads, rounds=rounds, on_round=on_round
        )
    _finish_level("reuse", result, out=out, is_json=json, is_strict=strict)


@bench_app.command("pareto", epilog="Example: agentkit bench pareto --out bench-out")
def pareto_command(
    target: TargetOption = None,
    model: ModelOption = None,
    text: Annotated[
        Path | None,
        typer.Option("--text", metavar="FILE", help="Text that the perplexity is of; default: Python's own reference."),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Run forms that round weights by what the app's prompts need, too.")
    ] = False,
    app: AppOption = Path("apps/smart_home"),
    threads: ThreadsOption = 0,
    realtime: RealtimeOption = False,
    strict: StrictOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Set latency, energy, memory and accuracy of f32, int8 and int4 side by side."""
    from agentkit.bench.pareto import FORMS, pareto_bench
    from agentkit.bench.prose import prose
    from agentkit.decoder.tokenizer import load_tokenizer

    checkpoint, target = _subject(model, target)
    text_ids = load_tokenizer(checkpoint).encode(prose(text))
    importance = _calibration(app, checkpoint) if calibrate else ""
    with _progress("forms", 2 * len(FORMS) if importance else len(FORMS)) as on_form, alone(realtime, threads):
        result = pareto_bench(
            checkpoint, cache_dir=_cache_dir(), target=target, n_threads=threads, text_ids=text_ids,
            importance=importance, on_form=on_form,
        )  # fmt: skip
    _finish_level("pareto", result, out=out, is_json=json, is_strict=strict)


def _calibration(app: Path, checkpoint: Path) -> str:
    """Path of what the app's prompts need of any form that is rounded."""
    from agentkit.calibrate import ensure_calibrated
    from agentkit.cli.ask import note
    from agentkit.config import load_app

    loaded, cache_dir = load_app(app), _cache_dir()
    ways = (ensure_calibrated(loaded, checkpoint, form, cache_dir=cache_dir, say=note) for form in ("int8", "int4"))
    return next(filter(None, ways), "")


def _show_soak(result: Result) -> None:
    print(f"memory grew by {result['growth_mb']:.1f} MB after the first of {len(result['windows'])} windows")


def _finish_level(name: str, result: Result, *, out: Path | None, is_json: bool, is_strict: bool) -> None:
    from agentkit.cli.bench_show import show

    is_missed = any(check["is_met"] is False for check in result.get("checks", ()))
    _finish(name, result, out=out, is_json=is_json, show=show, is_met=not (is_strict and is_missed))


def _write_stages(out: Path | None, name: str, spans: Any, title: str) -> None:
    from agentkit.bench.trace_file import stage_bars

    bars = stage_bars(spans)
    _write_timeline(out, f"{name}_trace", bars, title, start_ms=bars[-1].end_ms * 0.6 if bars else 0.0)


def _write_events(out: Path | None, slow: list[Any], quick: list[Any]) -> None:
    from agentkit.bench.trace_file import event_bars

    for name, title, events in (("synchronous", "synchronous", slow), ("overlapped", "double-buffered", quick)):
        _write_timeline(out, f"npu_{name}", event_bars(events), f"npu_sim, {title}, virtual time", start_ms=200.0)


def _write_timeline(out: Path | None, name: str, bars: list[Any], title: str, *, start_ms: float) -> None:
    """Write all bars as a Chrome trace, and SHOWN_MS from start_ms on as a picture."""
    from agentkit.bench.plots import plot_timeline
    from agentkit.bench.trace_file import write_chrome_trace
    from agentkit.cli.ask import note
    from agentkit.errors import BackendUnavailable

    folder = out or Path("bench-out")
    folder.mkdir(parents=True, exist_ok=True)
    write_chrome_trace(folder / f"{name}.json", bars, title=title)
    shown = [bar for bar in bars if start_ms <= bar.start_ms <= start_ms + SHOWN_MS]
    try:
        plot_timeline(folder / f"{name}.png", shown, title=title)
    except BackendUnavailable as err:
        note(f"no pictures: {err}")
    note(f"written to {folder / name}.json and .png")
