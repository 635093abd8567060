"""Spans as Chrome trace JSON, for chrome://tracing and Perfetto."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentkit.decoder.trace import StageTrace


@dataclass(frozen=True)
class Bar:
    """One thing that one resource does for a while."""

    row: str
    """Stage or resource."""
    label: str
    group: int
    """Whose it is; one colour each."""
    start_ms: float
    end_ms: float


def stage_bars(trace: StageTrace) -> list[Bar]:
    """Turn a trace of the stages into bars that begin at 0."""
    spans = sorted(trace.spans(), key=lambda span: span.start_s)
    zero_s = spans[0].start_s if spans else 0.0
    return [
        Bar(
            f"{span.stage.name.lower()}-step", f"request {span.sequence}, row {span.row}, {span.n_valid} tokens",
            span.sequence, (span.start_s - zero_s) * 1e3, (span.end_s - zero_s) * 1e3,
        )
        for span in spans
    ]  # fmt: skip


def event_bars(events: Iterable[Any]) -> list[Bar]:
    """Turn what a simulated target did into bars."""
    return [Bar(event.resource, event.label, 0, event.start_us / 1e3, event.end_us / 1e3) for event in events]


def write_chrome_trace(path: Path, bars: Sequence[Bar], *, title: str) -> None:
    """Write the bars, one thread per row."""
    rows = list(dict.fromkeys(bar.row for bar in bars))
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": title}},
        *({"ph": "M", "name": "thread_name", "pid": 1, "tid": i, "args": {"name": row}} for i, row in enumerate(rows)),
    ]
    events += [
        {
            "ph": "X", "name": bar.label, "cat": bar.row, "pid": 1, "tid": rows.index(bar.row),
            "ts": round(bar.start_ms * 1e3, 3), "dur": round((bar.end_ms - bar.start_ms) * 1e3, 3),
            "args": {"group": bar.group},
        }
        for bar in bars
    ]  # fmt: skip
    path.write_text(json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, indent=0) + "\n", "utf-8")
