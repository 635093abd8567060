"""`agentkit test`: run the conversations of an app against its agent and say what is not as written."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentkit.cli.common import AppArgument, ConfigOption, DebugOption, NoModelOption
from agentkit.errors import ConfigError

if TYPE_CHECKING:
    from agentkit.dialogues.rehearsal import FileReport

PathsArgument = Annotated[
    list[Path] | None, typer.Argument(metavar="PATH", help="Files or folders of dialogues; else APP/tests.")
]
MutateOption = Annotated[
    bool,
    typer.Option("--mutate", help="Also say every sentence with slips, noise and manners; no other action may come."),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="Which mutations are made.")]
JsonFileOption = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write the report as JSON.")]


def rehearse_command(
    app: AppArgument,
    paths: PathsArgument = None,
    mutate: MutateOption = False,
    seed: SeedOption = 0,
    json_file: JsonFileOption = None,
    no_model: NoModelOption = False,
    config: ConfigOption = [],  # noqa: B006 - typer reads the default and never changes it
    debug: DebugOption = False,
) -> None:
    """Run the dialogues of an app, each in a home of its own under a clock of its own.

    Ends with 1 if a dialogue failed or a mutation led to another action.
    """
    from agentkit.assemble import Assembly
    from agentkit.config import load_app
    from agentkit.dialogues.rehearsal import Rehearsal
    from agentkit.dialogues.script import find_files, read_dialogues
    from agentkit.startup import LazyModel

    loaded = load_app(app, config)
    scripts = {path: read_dialogues(path, loaded) for path in find_files(loaded.path, paths or ())}
    lazy = LazyModel(loaded, lambda line: print(line, file=sys.stderr, flush=True))
    opens = loaded.model is not None and not no_model
    assembly = Assembly(loaded, decoder=lazy.decoder if opens else None, larger=lazy.larger_decoder if opens else None)
    rehearsal = Rehearsal(loaded, assembly, seed=seed if mutate else None)
    try:
        reports = [rehearsal.run(path, dialogues) for path, dialogues in scripts.items()]
    finally:
        lazy.close()
    for line in lines(reports, has_mutations=mutate):
        print(line)
    if json_file is not None:
        _write(json_file, reports, seed if mutate else None)
    if any(r.failures or r.wrong for r in reports):
        raise typer.Exit(1)


def lines(reports: Sequence[FileReport], *, has_mutations: bool) -> Iterator[str]:
    """A table of the files, one line for everything that is wrong, and a closing line."""
    width = max(len(_near(r.path)) for r in reports)
    head = f"{'file':<{width}}  passed  failed    gaps"
    yield head + ("    same    safe   wrong" if has_mutations else "")
    for r in reports:
        row = f"{_near(r.path):<{width}}  {r.n_passed:>6}  {len(r.failures):>6}  {len(r.gaps):>6}"
        yield row + ("".join(f"  {r.total(name):>6}" for name in ("same", "safe", "wrong")) if has_mutations else "")
    for failure in (f for r in reports for f in (*r.failures, *r.wrong)):
        yield str(failure).replace(str(failure.path), _near(failure.path), 1)
    yield _closing(reports, has_mutations=has_mutations)


def _closing(reports: Sequence[FileReport], *, has_mutations: bool) -> str:
    passed, failed = sum(r.n_passed for r in reports), sum(len(r.failures) for r in reports)
    gaps = sum(len(r.gaps) for r in reports)
    text = f"{passed + failed + gaps} dialogues: {passed} passed, {failed} failed"
    text += f", {gaps} known gaps" if gaps else ""
    if not has_mutations:
        return text
    counts = {name: sum(r.total(name) for r in reports) for name in ("same", "safe", "wrong")}
    return f"{text}; {sum(counts.values())} mutations: {', '.join(f'{n} {name}' for name, n in counts.items())}"


def _near(path: Path) -> str:
    """The path as seen from here, if it is below."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _write(path: Path, reports: Sequence[FileReport], seed: int | None) -> None:
    body = {"seed": seed, "files": [r.as_dict() for r in reports]}
    try:
        path.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", "utf-8")
    except OSError as err:
        raise ConfigError(f"cannot be written ({err.strerror}); choose another --json", path=path) from err
