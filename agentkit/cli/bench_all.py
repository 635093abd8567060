"""`agentkit bench all`: every bench in a row, and one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentkit.cli.bench import RealtimeOption, ThreadsOption
from agentkit.cli.bench_levels import bench_app as bench_app
from agentkit.cli.common import DebugOption

if TYPE_CHECKING:
    from agentkit.bench.suite import Outcome


@bench_app.command("all", epilog="Example: agentkit bench all --out bench-out")
def all_command(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the results.")] = Path("bench-out"),
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Run these alone; may be given again.")
    ] = None,
    limit: Annotated[float, typer.Option("--limit", min=1, help="Seconds for all of them.")] = 700.0,
    threads: ThreadsOption = 0,
    realtime: RealtimeOption = False,
    debug: DebugOption = False,
) -> None:
    """Run every bench in a process of its own and write DIR/summary.md; exit code 1 if one gave no result.

    Nothing else should run on the machine meanwhile. A threshold that is missed is in the table and no failure.
    """
    from agentkit.bench.suite import SUITE, SUMMARY, run_suite
    from agentkit.errors import AgentKitError

    chosen = [bench for bench in SUITE if not only or bench.name in only]
    if unknown := sorted(set(only or ()) - {bench.name for bench in SUITE}):
        raise AgentKitError(f"no bench is called {unknown[0]!r}; choose from {', '.join(b.name for b in SUITE)}")
    options = [*(["--threads", str(threads)] if threads else []), *(["--realtime"] if realtime else [])]
    outcomes = run_suite(out, benches=chosen, options=options, limit_s=limit, on_done=_tell)
    print(f"written to {out / SUMMARY}")
    if any(outcome.result is None for outcome in outcomes):
        raise typer.Exit(1)


def _tell(outcome: Outcome) -> None:
    print(f"{outcome.bench.name:<20}{outcome.took_s:5.0f} s  {outcome.note}".rstrip(), flush=True)
