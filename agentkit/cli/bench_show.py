"""Tables and pictures of bench results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Result = dict[str, Any]


@contextmanager
def alone(is_wanted: bool, n_threads: int) -> Iterator[None]:
    """Measure with real-time priority if that is wanted, and say so if it is refused."""
    from agentkit.bench.priority import realtime
    from agentkit.cli.ask import note

    if not is_wanted:
        yield
        return
    with realtime(n_threads) as refused:
        if refused:
            note(refused)
        yield


def show(result: Result) -> None:
    """Print percentiles and thresholds of one level."""
    from rich.console import Console
    from rich.table import Table

    machine, console = result["machine"], Console()
    title = f"{result['checkpoint']} on {result['target']}; {machine['cpu']}, {machine['n_cores']} cores"
    console.print(f"{title}, load {machine['load_1min']}, {machine['date']}")
    if "step_ms" in result and isinstance(result["step_ms"], Mapping):
        console.print(_percentiles(result["step_ms"]))
    for name, table in _others(result):
        console.print(name, table)
    checks = Table("figure", "measured", "wanted", "", "note")
    for check in result.get("checks", ()):
        value = "not measured" if check["value"] is None else f"{check['value']:.3g}"
        mark = {True: "met", False: "missed", None: "-"}[check["is_met"]]
        checks.add_row(check["name"], value, check["wanted"], mark, check["note"])
    if checks.row_count:
        console.print(checks)


def _percentiles(found: Mapping[str, Any]) -> Any:
    from rich.table import Table

    rows = found if isinstance(next(iter(found.values())), Mapping) else {"step": found}
    names = ("mean", "std", "p50", "p90", "p95", "p99", "max")
    table = Table("ms", *names)
    for name, figures in rows.items():
        table.add_row(name, *(f"{figures[key]:.2f}" for key in names))
    return table


def _others(result: Result) -> list[tuple[str, Any]]:
    from rich.table import Table

    tables: list[tuple[str, Any]] = []
    if "attention" in result:
        attention = result["attention"]
        table = Table("µs by rows in the cache", *map(str, attention["lengths"]))
        for name, us in attention["us"].items():
            table.add_row(name, *(f"{value:.0f}" for value in us))
        tables.append((f"attention of one layer, one step; the quickest is {result['winner']}", table))
        growth = Table("rows in the cache", *map(str, result["growth"]["lengths"]))
        growth.add_row("µs", *(f"{value:.0f}" for value in result["growth"]["us"]))
        tables.append(("how much longer a layer of a step takes than with the fewest", growth))
    if "forms" in result:
        tables.append((f"forms over {result['n_tokens']} tokens; energy: {result['energy_from']}", _forms(result)))
    if "qps" in result:
        table = Table("way", "requests/s")
        for name, qps in result["qps"].items():
            table.add_row(name, f"{qps:.2f}")
        tables.append((f"the fastest way here: {result['fastest']}", table))
    if "rungs" in result:
        table = Table("way", "requests/s", "×", "ms per step", "what it adds")
        for rung in result["rungs"]:
            gain = rung["qps"] / result["rungs"][0]["qps"]
            table.add_row(rung["name"], f"{rung['qps']:.2f}", f"{gain:.2f}", f"{rung['ms_per_step']:.2f}", rung["why"])
        tables.append(("virtual time, four requests at once", table))
    return tables


def _forms(result: Result) -> Any:
    from rich.table import Table

    rows = result["forms"]
    has_meter = any(row.get("joules_per_token") is not None for row in rows)
    energy = "mJ per token" if has_meter else "CPU ms per token (proxy)"
    table = Table(
        "weights", "p50 ms", "p99 ms", energy, "MB", "cache, bytes", "perplexity", "top token equal", "KL, nats",
        "optimal",
    )  # fmt: skip
    for row in rows:
        table.add_row(*_form(row))
    return table


def _form(form: Mapping[str, Any]) -> list[str]:
    from agentkit.bench.pareto import energy_of

    name = form["precision"] + (" calibrated" if form["is_calibrated"] else "")
    if "why_not" in form:
        return [name, form["why_not"]]
    step, name = form["step_ms"], name + (" (stored)" if form["is_stored"] else "")
    perplexity, rise = form["perplexity"], form["perplexity_rise"]
    return [
        name,
        f"{step['p50']:.2f}",
        f"{step['p99']:.2f}",
        f"{energy_of(form) * 1e3:.2f}",
        f"{form['weight_mb']:.1f}",
        str(form["cache_bytes_per_value"]),
        "-" if perplexity is None else f"{perplexity:.2f} ({rise:+.2%} ± {form['perplexity_rise_error']:.2%})",
        f"{form['agreement']:.1%}",
        f"{form['kl']:.4f}",
        "chosen" if form["is_chosen"] else "yes" if form["is_optimal"] else "no",
    ]


def draw(folder: Path | None, name: str, result: Result) -> None:
    """Write the pictures that belong to a result beside its JSON; without matplotlib say so and go on."""
    from agentkit.cli.ask import note
    from agentkit.errors import BackendUnavailable

    if folder is None:
        return
    try:
        if name in _DRAWINGS:
            _DRAWINGS[name](folder, result)
    except BackendUnavailable as err:
        note(f"no pictures: {err}")


def _draw_steps(folder: Path, result: Result) -> None:
    from agentkit.bench import plots

    title = f"{result['checkpoint']} on {result['target']}: each decode step"
    plots.plot_steps(folder / "step.png", result["steps_ms"], spike_ms=result["spike_ms"], title=title)


def _draw_session(folder: Path, result: Result) -> None:
    from agentkit.bench import plots

    steps, rss_mb = zip(*result["rss_mb"], strict=True)
    title = f"{result['checkpoint']} on {result['target']}: resident set, {result['growth_mb']:.1f} MB of growth"
    plots.plot_curves(
        folder / "session_rss.png", steps, {"RSS": rss_mb}, title=title, labels=("step", "MB")
    )  # fmt: skip
    title = f"{result['checkpoint']} on {result['target']}: each decode step"
    plots.plot_steps(folder / "session_steps.png", result["steps_ms"], spike_ms=15.0, title=title)


def _draw_layer(folder: Path, result: Result) -> None:
    from agentkit.bench import plots

    attention = result["attention"]
    plots.plot_curves(
        folder / "attention.png", attention["lengths"], attention["us"], log="xy",
        title=f"{result['checkpoint']}: one attention of one decode step, one thread",
        labels=("rows in the cache", "µs"),
    )  # fmt: skip


def _draw_system(folder: Path, result: Result) -> None:
    from agentkit.bench import plots

    curves = {name: sorted(ms) for name, ms in result["steps_ms"].items()}
    n_steps = len(next(iter(curves.values())))
    shares = [100 * (i + 0.5) / n_steps for i in range(n_steps)]
    title = f"{result['checkpoint']} on {result['target']}: decode steps beside {result['stress']}"
    plots.plot_curves(folder / "system.png", shares, curves, title=title, labels=("percentile", "ms"), log="y")


def _draw_overlap(folder: Path, result: Result) -> None:
    from agentkit.bench import plots

    if "rungs" in result:
        title = f"{result['target']}, virtual time: four requests at once, one thing more at a time"
        plots.plot_ladder(folder / "ladder.png", result["rungs"], title=title)


def _draw_roofline(folder: Path, result: Result) -> None:
    from agentkit.bench.roofline import plot

    plot(result, folder / "roofline.png")


_DRAWINGS: Mapping[str, Callable[[Path, Result], None]] = {
    "step": _draw_steps,
    "session": _draw_session,
    "layer": _draw_layer,
    "roofline": _draw_roofline,
    "system": _draw_system,
    "overlap": _draw_overlap,
}
