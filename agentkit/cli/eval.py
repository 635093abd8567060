"""`agentkit eval`: run evaluation records through the path of `ask` and write a prediction for each."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agentkit.cli.common import ConfigOption, DebugOption, NoModelOption

if TYPE_CHECKING:
    from agentkit.assemble import Live
    from agentkit.config import App
    from agentkit.devices.adapter import Home
    from agentkit.evaluate import Now, Prediction
    from agentkit.records import Record

AppOption = Annotated[Path, typer.Option("--app", metavar="APP", help="Folder of the app.")]
DataOption = Annotated[
    Path, typer.Option("--data", metavar="DIR", help="Folder of records and homes; not part of the source.")
]
OutOption = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the predictions go, one JSON a line.")]
SuiteOption = Annotated[
    str | None, typer.Option("--suite", metavar="NAME", help="A suite, several with commas, or all.")
]
SourceOption = Annotated[str | None, typer.Option("--source", metavar="NAME", help="A source instead of a suite.")]
SplitOption = Annotated[str, typer.Option("--split", metavar="NAME", help="Half of the data.")]
GenericOption = Annotated[
    Path | None,
    typer.Option(
        "--generic-home", metavar="FILE", help="Home of records without one; else DIR/../eval/homes/generic.yaml."
    ),
]
PolicyOption = Annotated[
    Literal["none", "app"], typer.Option("--policy", help="none: nothing is asked back; app: the app's own rules.")
]
ModelAloneOption = Annotated[
    bool, typer.Option("--model-alone", help="No templates: guards, then the model, for its own figures.")
]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N records.")]


def eval_command(
    data: DataOption,
    out: OutOption,
    app: AppOption = Path("apps/smart_home"),
    suite: SuiteOption = None,
    source: SourceOption = None,
    split: SplitOption = "dev",
    generic_home: GenericOption = None,
    policy: PolicyOption = "none",
    limit: LimitOption = None,
    no_model: NoModelOption = False,
    model_alone: ModelAloneOption = False,
    config: ConfigOption = [],  # noqa: B006 - typer reads the default and never changes it
    debug: DebugOption = False,
) -> None:
    """Run evaluation records, each with its own home and states, and write what came of them.

    Nothing that is expected of a record is read. The data (records, homes, and score.py, which judges the file) is not
    part of the source; --data names the folder you have it in.
    """
    from agentkit.config import load_app
    from agentkit.evaluate import Evaluation, write_predictions
    from agentkit.records import kind_words, read_homes, read_records

    if (suite is None) == (source is None):
        raise typer.BadParameter("give one of --suite NAME and --source NAME")
    if no_model and model_alone:
        raise typer.BadParameter("give one of --no-model and --model-alone, not both")
    loaded = load_app(app, config)
    records = read_records(data, suite=suite, source=source, split=split)[:limit]
    homes = read_homes(data, generic_home or data.resolve().parent / "eval" / "homes" / "generic.yaml")
    predictions: list[Prediction] = []
    with opener(loaded, policy, has_model=not no_model, is_model_alone=model_alone) as open_home:
        run = Evaluation(homes, open_home, kinds=kind_words(loaded.words.values())).run(records)
        try:
            predictions.extend(shown(run, records))
        finally:
            write_predictions(out, predictions, records)
    print(summary(predictions, out))
    if any("error" in p for p in predictions):
        raise typer.Exit(1)


@contextmanager
def opener(
    app: App, policy: str, *, has_model: bool, is_model_alone: bool = False
) -> Iterator[Callable[[Home, Now], Live]]:
    """Give the function that opens the agent of a home; all homes share one model, opened when first needed."""
    from agentkit.assemble import Assembly
    from agentkit.startup import LazyModel, settle_memory

    lazy = LazyModel(app, lambda line: print(line, file=sys.stderr, flush=True))
    opens = has_model and app.model is not None
    decoder, larger = (lazy.decoder, lazy.larger_decoder) if opens else (None, None)
    assembly = Assembly(app, decoder=decoder, larger=larger, is_model_alone=is_model_alone)
    rules = app.policy if policy == "app" else ()
    assembly.open(app.home, policy=()).prepare()
    settle_memory()  # as a server does, so that the times are those of a server
    try:
        yield lambda home, now: assembly.open(home, policy=rules, now=now, clock=lambda: 0.0)
    finally:
        lazy.close()


def shown(run: Iterator[Prediction], records: Sequence[Record]) -> Iterator[Prediction]:
    """Pass predictions on under a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(run, total=len(records), description="records")


def summary(predictions: Sequence[Prediction], out: Path) -> str:
    """One line per thing worth knowing before the judge runs."""
    outcomes = Counter(p["outcome"] for p in predictions)
    paths = Counter(p.get("path", "none") for p in predictions)
    lines = [
        f"{len(predictions)} predictions in {out}",
        "outcomes  " + ", ".join(f"{name} {n}" for name, n in outcomes.most_common()),
        "paths     " + ", ".join(f"{name} {n} ({n / len(predictions):.1%})" for name, n in paths.most_common()),
        *(f"latency   {line}" for line in latencies(predictions)),
    ]
    if broken := [p for p in predictions if "error" in p]:
        lines.append(f"errors    {len(broken)}, the first in {broken[0]['id']}: {broken[0]['error']}")
    return "\n".join(lines)


def latencies(predictions: Sequence[Prediction]) -> Iterator[str]:
    """Percentiles of a turn's time, over all records and by the tier that answered."""
    from agentkit.bench.figures import spread

    by_path: dict[str, list[float]] = {"all": [p["ms"] for p in predictions if "ms" in p]}
    for found in predictions:
        if "ms" in found:
            by_path.setdefault(found.get("path", "none"), []).append(found["ms"])
    for path, times in by_path.items():
        if times:
            found = spread(times)
            yield f"{path} p50 {found['p50']:.1f} ms, p99 {found['p99']:.1f} ms, max {found['max']:.1f} ms"
