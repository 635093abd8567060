"""The pictures of the bench; matplotlib is part of the extra [bench] only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agentkit.bench.trace_file import Bar
from agentkit.errors import BackendUnavailable

_SIZE, _DPI = (9.0, 4.5), 110
_INK, _ACCENT, _WARN = "#37474f", "#1565c0", "#c62828"
_COLOURS: Final = ("#1565c0", "#ef6c00", "#2e7d32", "#6a1b9a", "#00838f", "#ad1457", "#9e9d24", "#4e342e")
_ROWS: Final = ("pre-step", "core-step", "post-step", "host", "dma", "io", "npu")
"""From the top of a timeline to its bottom."""


def plot_steps(path: Path, step_ms: Sequence[float], *, spike_ms: float, title: str) -> None:
    """Draw latency against step, with a running median and every spike marked."""
    import numpy as np

    figure, axes = _axes(title, "step (rows in the cache)", "ms")
    steps = np.arange(1, len(step_ms) + 1)
    values = np.asarray(step_ms)
    width = max(1, len(values) // 60)
    medians = [float(np.median(values[max(0, i - width) : i + width + 1])) for i in range(len(values))]
    axes.plot(steps, values, ".", markersize=2, color=_COLOURS[4], alpha=0.5, label="each step")
    axes.plot(steps, medians, color=_ACCENT, label="running median")
    is_spike = values > spike_ms
    if is_spike.any():
        axes.plot(steps[is_spike], values[is_spike], "v", color=_WARN, label=f"{is_spike.sum()} above {spike_ms:g} ms")
    axes.axhline(spike_ms, color=_WARN, linewidth=0.8, linestyle=":")
    axes.set_ylim(0, max(spike_ms * 1.1, float(np.percentile(values, 99.5)) * 1.2))
    _finish(figure, axes, path)


def plot_curves(
    path: Path, x: Sequence[float], curves: Mapping[str, Sequence[float]], *, title: str, labels: tuple[str, str],
    log: str = "",
) -> None:  # fmt: skip
    """Draw several curves over one axis; `log` names the axes that are logarithmic: x, y or xy."""
    figure, axes = _axes(title, *labels)
    for colour, (name, values) in zip(_COLOURS, curves.items(), strict=False):
        axes.plot(x, values, "o-" if len(x) < 50 else "-", markersize=4, color=colour, label=name)
    if "x" in log:
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(x), [f"{value:g}" for value in x])
    if "y" in log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.15 * max(max(values) for values in curves.values()))
    _finish(figure, axes, path)


def plot_timeline(path: Path, bars: Sequence[Bar], *, title: str, unit: str = "ms") -> None:
    """Draw which stage or resource works when; one colour per request."""
    rows = sorted({bar.row for bar in bars}, key=lambda row: _ROWS.index(row) if row in _ROWS else len(_ROWS))
    figure, axes = _axes(title, unit, "", height=1.2 + 0.55 * len(rows))
    least_ms = (max((bar.end_ms for bar in bars), default=1.0) - min((b.start_ms for b in bars), default=0.0)) / 800
    for row, name in enumerate(rows):
        own = [bar for bar in bars if bar.row == name]
        axes.broken_barh(
            [(bar.start_ms, max(bar.end_ms - bar.start_ms, least_ms)) for bar in own],
            (row - 0.38, 0.76),
            facecolors=[_COLOURS[bar.group % len(_COLOURS)] for bar in own],
            linewidth=0,
        )
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    groups = sorted({bar.group for bar in bars})
    if len(groups) > 1:
        from matplotlib.patches import Patch

        handles = [Patch(color=_COLOURS[group % len(_COLOURS)], label=f"request {group}") for group in groups]
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=8, frameon=False)
    _save(figure, path)


def plot_ladder(path: Path, rungs: Sequence[Mapping[str, Any]], *, title: str) -> None:
    """Draw throughput rung by rung."""
    figure, axes = _axes(title, "", "requests per second")
    names = [str(rung["name"]).replace(" ", "\n", 1) for rung in rungs]
    values = [float(rung["qps"]) for rung in rungs]
    drawn = axes.bar(names, values, color=_ACCENT)
    axes.bar_label(drawn, [f"{value:.1f}\n{value / values[0]:.1f} ×" for value in values], padding=2)
    axes.set_ylim(0, max(values) * 1.25)
    _save(figure, path)


def _axes(title: str, x: str, y: str, *, height: float = _SIZE[1]) -> tuple[Any, Any]:
    try:
        import matplotlib
    except ImportError as err:
        raise BackendUnavailable(f"matplotlib cannot be imported ({err}); run: pip install matplotlib") from err
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(_SIZE[0], height), dpi=_DPI)
    axes.set_title(title, fontsize=11, color=_INK, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.3)
    axes.set_axisbelow(True)
    return figure, axes


def _finish(figure: Any, axes: Any, path: Path) -> None:
    axes.legend(frameon=False)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    figure.savefig(path, bbox_inches="tight")
    pyplot.close(figure)
