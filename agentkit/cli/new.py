"""`agentkit new`: a small app that runs at once, as a start for one's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from agentkit.cli.common import DebugOption
from agentkit.errors import AppError

STARTER = Path(__file__).parent / "starter"
PLACEHOLDER = "NAME"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def new_command(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="Folder to make; its last part names the app.")],
    debug: DebugOption = False,
) -> None:
    """Write a small app with two tools and three devices, in English and Chinese, that runs at once."""
    files = write_app(folder)
    print(f"made {folder} with {len(files)} files; app.yaml is where to begin reading")
    print(f'try  agentkit ask {folder} "turn on the north fan"')
    print(f"     agentkit run {folder}")


def write_app(folder: Path) -> list[Path]:
    """Copy the starter into a new folder and return the files made. Raises AppError; nothing is ever overwritten."""
    name = folder.name
    if not _NAME.fullmatch(name):
        raise AppError(f"{folder}: {name!r} is no name for an app; use letters, digits and _ . -, for example my_home")
    try:
        folder.mkdir(parents=True)
    except FileExistsError as err:
        raise AppError(f"{folder}: exists already and is not overwritten; choose another name") from err
    except OSError as err:
        raise AppError(f"{folder}: cannot be made ({err.strerror}); choose another place") from err
    made = []
    for source in sorted(STARTER.rglob("*")):
        if not source.is_file() or "__pycache__" in source.parts:
            continue
        target = folder / source.relative_to(STARTER)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_named(source.read_text("utf-8"), name), "utf-8")
        made.append(target)
    return made


def _named(text: str, name: str) -> str:
    """Put the name where the starter leaves it open; quoted, because a name may look like a number."""
    return re.sub(rf"^(name|id): {PLACEHOLDER}$", lambda found: f"{found[1]}: '{name}'", text, flags=re.M)
