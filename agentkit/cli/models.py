"""`agentkit models`: list, pull and verify the files of the manifest."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentkit.cli.common import DebugOption, JsonOption, ManifestOption, printable, tell

if TYPE_CHECKING:
    from agentkit.artifact import Artifact, ModelSpec

models_app = typer.Typer(
    name="models", help="List, pull and verify the models of the manifest.", no_args_is_help=True, rich_markup_mode=None
)

NameArgument = Annotated[str | None, typer.Argument(help="Model name as `agentkit models list` prints it.")]


@models_app.command("list", epilog="Example: agentkit models list --json")
def list_models(manifest: ManifestOption = None, is_json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the models with size, licence and whether they are here."""
    rows = [_row(model, artifact) for model, artifact in _select(manifest, None, is_all=True)]
    if is_json:
        tell(*json.dumps({"models": rows}, ensure_ascii=False, indent=2).split("\n"))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("model", "parameters", "precision", "languages", "licence", "size", "here"):
        table.add_column(heading, no_wrap=True)
    for row in rows:
        here = "yes" if row["is_pulled"] else "no"
        size = f"{row['size'] / 1e6:.1f} MB"
        count = f"{row['parameters'] / 1e6:.1f} M"
        cells = (row["model"], count, row["precision"], " ".join(row["languages"]), row["license"], size, here)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # a pipe has no edge to fit into
    console.print(table)


@models_app.command("pull", epilog="Example: agentkit models pull SmolLM2-135M-Instruct")
def pull_models(
    name: NameArgument = None,
    is_all: Annotated[bool, typer.Option("--all", help="Pull every model of the manifest.")] = False,
    manifest: ManifestOption = None,
    debug: DebugOption = False,
) -> None:
    """Download a model's files, check them and put them in place; without a name, the default agent model.

    An interrupted pull leaves nothing half done; where the source can, the next pull continues it. What is already
    here is not fetched again.
    """
    from agentkit.fetch import FetchOptions, agentkit_home, pull

    home = agentkit_home()
    options = FetchOptions(on_wait=lambda: tell("another pull of this file is running; waiting for it", to=sys.stderr))
    for model, artifact in _select(manifest, name, is_all=is_all):
        with _progress(artifact.file, artifact.size) as on_progress:
            path = pull(artifact, home=home, on_progress=on_progress, options=options)
        tell(f"{model.name}: {path} ({artifact.size / 1e6:.1f} MB, sha256 verified)")


@models_app.command("verify", epilog="Example: agentkit models verify --json")
def verify_models(
    name: NameArgument = None,
    manifest: ManifestOption = None,
    is_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Hash the files that are here and compare them with the manifest; exit code 1 if one is missing or wrong.

    Without a name every pulled model is checked; models that were never pulled are then left out.
    """
    from agentkit.errors import ArtifactError
    from agentkit.fetch import agentkit_home, artifact_path, verify

    home = agentkit_home()
    results: list[dict[str, Any]] = []
    for model, artifact in _select(manifest, name, is_all=True):
        path = artifact_path(artifact, home)
        if name is None and not path.exists():
            continue
        result = {"model": model.name, "artifact": artifact.name, "path": str(path), "is_ok": True, "detail": "ok"}
        try:
            with _progress(artifact.file, artifact.size) as on_progress:
                verify(artifact, path, on_progress=on_progress)
        except ArtifactError as err:
            result |= {"is_ok": False, "detail": str(err)}
        results.append(result)
    if is_json:
        tell(*json.dumps({"artifacts": results}, ensure_ascii=False, indent=2).split("\n"))
    else:
        for result in results:
            tell(f"{result['model']}: ok ({result['path']})" if result["is_ok"] else str(result["detail"]))
        if not results:
            tell("nothing is pulled yet; run: agentkit models pull")
    if not all(result["is_ok"] for result in results):
        raise typer.Exit(1)


def _select(manifest: Path | None, name: str | None, *, is_all: bool) -> Iterator[tuple[ModelSpec, Artifact]]:
    """Yield the files of the named model; without a name of all models, or of the default one."""
    from agentkit.manifest import find_manifest, find_model, load_manifest

    loaded = load_manifest(find_manifest(manifest))
    models = list(loaded.models.values()) if is_all and name is None else [find_model(loaded, name)]
    for model in models:
        for artifact in model.artifacts:
            yield model, artifact


def _row(model: ModelSpec, artifact: Artifact) -> dict[str, Any]:
    from agentkit.fetch import agentkit_home, artifact_path, is_pulled

    home = agentkit_home()
    return {
        "model": model.name,
        "architecture": model.architecture,
        "parameters": model.parameters,
        "precision": artifact.precision,
        "languages": list(model.languages),
        "license": model.license.spdx,
        "roles": list(model.roles),
        "artifact": artifact.name,
        "targets": list(artifact.targets),
        "size": artifact.size,
        "path": str(artifact_path(artifact, home)),
        "is_pulled": is_pulled(artifact, home),
    }


@contextmanager
def _progress(label: str, n_bytes: int) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar on a terminal; give None where nobody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TransferSpeedColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(label, total=n_bytes)
        yield lambda n_done, n_all: bar.update(task, completed=n_done, total=n_all)
