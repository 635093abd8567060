"""`agentkit bench`: the figures that the README names, each measured by one command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentkit.cli.common import ConfigOption, DebugOption, JsonOption, NoModelOption

if TYPE_CHECKING:
    from agentkit.artifact import ModelSpec

Result = dict[str, Any]
bench_app = typer.Typer(name="bench", help="Measure speed and memory on this machine.", no_args_is_help=True)

AppOption = Annotated[Path, typer.Option("--app", metavar="APP", help="Folder of the app.")]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Model of the manifest; default: the first agent model.")
]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="NAME", help="Target to measure; default: the first planned one.")
]
ThreadsOption = Annotated[int, typer.Option("--threads", min=0, help="Threads of the target; 0 = all cores.")]
RealtimeOption = Annotated[
    bool, typer.Option("--realtime", help="Take the cores of those threads for ourselves, so that no neighbour counts.")
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder that the result is also written to, as JSON.")
]


@bench_app.command(
    "compare", epilog="Example: agentkit bench compare --peer llama_cpp (make bench builds llama.cpp first)"
)
def compare_command(
    peer: Annotated[
        str, typer.Option("--peer", metavar="NAME", help="llama_cpp, onnxruntime_genai or a target.")
    ] = "llama_cpp",
    target: TargetOption = None,
    model: ModelOption = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Measurements of each, by turns.")] = 7,
    threads: Annotated[int, typer.Option("--threads", min=0, help="Threads of both; 0 = all cores.")] = 0,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Race a target against a peer on the same weights and prompt, measured by turns in one run."""
    from rich.console import Console

    from agentkit.bench.compare import compare, compare_table

    checkpoint, target = _subject(model, target)
    with _progress("rounds", rounds) as on_round:
        result = compare(
            checkpoint,
            cache_dir=_cache_dir(),
            peer=peer,
            target=target,
            n_threads=threads,
            rounds=rounds,
            on_round=on_round,
        )
    _finish("compare", result, out=out, is_json=json, show=lambda found: Console().print(compare_table(found)))


@bench_app.command("session", epilog="Example: agentkit bench session --steps 2000")
def session_command(
    steps: Annotated[int, typer.Option("--steps", min=1, help="Decode steps.")] = 2000,
    target: TargetOption = None,
    model: ModelOption = None,
    threads: ThreadsOption = 0,
    realtime: RealtimeOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Run one long session and watch memory and the time of each step; exit code 1 if memory grows."""
    from agentkit.bench.session import MAX_GROWTH_MB, session_bench
    from agentkit.cli.bench_show import alone
    from agentkit.decoder.backend import SessionOptions

    checkpoint, target = _subject(model, target)
    options = SessionOptions(n_threads=threads)
    with _progress("steps", steps) as on_step, alone(realtime, threads):
        result = session_bench(
            checkpoint, cache_dir=_cache_dir(), target=target, options=options, n_steps=steps, on_step=on_step
        )

    def show(result: Result) -> None:
        step = result["step_ms"]
        print(f"{result['checkpoint']} on {target}: opened in {result['open_s']:.1f} s")
        print(
            f"step     mean {step['mean']:.2f} ms, p50 {step['p50']:.2f}, p99 {step['p99']:.2f}, max {step['max']:.2f}"
        )
        print(f"memory   grew by {result['growth_mb']:.1f} MB in {steps} steps (at most {MAX_GROWTH_MB:.0f} MB)")

    _finish("session", result, out=out, is_json=json, show=show, is_met=result["is_flat"])


@bench_app.command("roofline", epilog="Example: agentkit bench roofline --out bench-out")
def roofline_command(
    target: TargetOption = None,
    model: ModelOption = None,
    threads: Annotated[int, typer.Option("--threads", min=0, help="0 = all cores.")] = 0,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Set steps of 1 to 256 tokens against what memory gives, and decode steps against the cache's length."""
    from agentkit.bench.roofline import LENGTHS, STARTS, roofline_bench

    checkpoint, target = _subject(model, target)
    with _progress("points", len(LENGTHS) + len(STARTS)) as on_point:
        result = roofline_bench(checkpoint, cache_dir=_cache_dir(), target=target, n_threads=threads, on_point=on_point)

    def show(result: Result) -> None:
        print(f"{result['checkpoint']} on {target}, {result['n_threads']} threads")
        print(f"memory reads {result['read_gb_s']:.1f} GB/s, a decode step {result['bandwidth_share']:.0%} of that")
        for point in (*result["steps"], *result["decode"][1:]):
            at = f"{point['n_tokens']:>4} tokens behind {point['start']:>4}"
            print(f"{at}  {point['ms']:8.2f} ms  {point['g_products_s']:7.1f} G products/s  {point['gb_s']:6.1f} GB/s")

    _finish("roofline", result, out=out, is_json=json, show=show)


@bench_app.command("commands", epilog="Example: agentkit bench commands --app apps/smart_home --count 2000")
def commands_command(
    app: AppOption = Path("apps/smart_home"),
    count: Annotated[int, typer.Option("--count", min=1, help="Commands, one after the other.")] = 2000,
    config: ConfigOption = [],  # noqa: B006 - typer reads the default and never changes it
    no_model: NoModelOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Say many commands to an app and watch memory and the time of each turn; exit code 1 if memory grows.

    Every device is commanded by its name; with a model, every tenth sentence is one for it.
    """
    from agentkit.bench.commands import MAX_GROWTH_MB, commands_bench
    from agentkit.cli.ask import note
    from agentkit.startup import Options

    options = Options(app, tuple(config), has_model=not no_model)
    with _progress("commands", count) as on_command:
        result = commands_bench(options, note, n_commands=count, on_command=on_command)

    def show(result: Result) -> None:
        for path, ms in result["ms"].items():
            print(f"{path:<9}{ms['n']} turns, p50 {ms['p50']:.1f} ms, p99 {ms['p99']:.1f} ms")
        print(f"memory   grew by {result['growth_mb']:.1f} MB in {count} commands (at most {MAX_GROWTH_MB:.0f} MB)")

    _finish("commands", result, out=out, is_json=json, show=show, is_met=result["is_flat"])


@bench_app.command("start", epilog="Example: agentkit bench start --app apps/smart_home")
def start_command(
    app: AppOption = Path("apps/smart_home"),
    starts: Annotated[int, typer.Option("--starts", min=1, help="Starts, one after the other.")] = 2,
    config: ConfigOption = [],  # noqa: B006 - typer reads the default and never changes it
    no_model: NoModelOption = False,
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Time a server from its command line to its first answered command; exit code 1 if the last start is slow."""
    from agentkit.bench.start import MAX_START_S, start_bench

    with _progress("starts", starts) as on_start:
        result = start_bench(app, overrides=tuple(config), has_model=not no_model, n_starts=starts, on_start=on_start)

    def show(result: Result) -> None:
        for number, start in enumerate(result["starts"], 1):
            times = f"answered after {start['answered_s']:.1f} s, ended within {start['ended_s']:.1f} s of SIGTERM"
            print(f"start {number}  {result['said']!r} {times}")
        print(f"the last start may take {MAX_START_S:g} s")

    _finish("start", result, out=out, is_json=json, show=show, is_met=result["is_quick"])


@bench_app.command("homes", epilog="Example: agentkit bench homes --app apps/smart_home")
def homes_command(
    app: AppOption = Path("apps/smart_home"),
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Times that every sentence is said.")] = 5,
    config: ConfigOption = [],  # noqa: B006 - typer reads the default and never changes it
    json: JsonOption = False,
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Say the same commands in homes of 10, 100 and 1,000 devices, templates only; exit code 1 if size slows them."""
    from agentkit.bench.homes import MAX_RATIO, homes_bench
    from agentkit.config import load_app

    with _progress("rounds", rounds) as on_round:
        result = homes_bench(load_app(app, config), rounds=rounds, on_round=on_round)

    def show(result: Result) -> None:
        for size, ms in result["ms"].items():
            print(f"{size:<9}devices: {ms['n']} turns, p50 {ms['p50']:.1f} ms, p99 {ms['p99']:.1f} ms")
        print(f"ratio    {result['ratio']:.2f} of the smallest home (at most {MAX_RATIO})")

    _finish("homes", result, out=out, is_json=json, show=show, is_met=result["is_level"])


def _model(name: str | None) -> ModelSpec:
    from agentkit.manifest import find_manifest, find_model, load_manifest

    return find_model(load_manifest(find_manifest()), name)


def _subject(model: str | None, target: str | None) -> tuple[Path, str]:
    """The model's file, pulled if need be, and the target to measure: as named, else as planned. Raises NoTarget."""
    spec = _model(model)
    return _checkpoint(spec), target or _planned(spec)


def _planned(model: ModelSpec) -> str:
    """The target that the agent would use. Raises NoTarget."""
    from agentkit.fetch import agentkit_home
    from agentkit.planner import choose, probe_host, probe_targets

    pulled = [artifact.name for artifact in model.artifacts]
    return choose(model, probe_targets(), device=probe_host(agentkit_home()), pulled=pulled).require()[0].target


def _checkpoint(model: ModelSpec) -> Path:
    """The model's portable file, pulled if need be."""
    from agentkit.fetch import agentkit_home, pull

    artifact = next((a for a in model.artifacts if a.fits("any")), model.artifacts[0])
    return pull(artifact, home=agentkit_home())


def _cache_dir() -> Path:
    from agentkit.open_model import compiled_dir

    return compiled_dir()


@contextmanager
def _progress(label: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Show a bar on a terminal; give None where nobody looks."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda n_done: bar.update(task, completed=n_done)


def _finish(
    name: str, result: Result, *, out: Path | None, is_json: bool, show: Callable[[Result], None], is_met: bool = True
) -> None:
    """Write the result and its pictures, print it, and end with exit code 1 if it is not as wanted."""
    from agentkit.cli.bench_show import draw

    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{name}.json").write_text(_as_json(result) + "\n", "utf-8")
    draw(out, name, result)
    if is_json:
        print(_as_json(result))
    else:
        show(result)
    if not is_met:
        raise typer.Exit(1)


def _as_json(result: Result) -> str:
    return json.dumps(result, ensure_ascii=False, indent=2)
