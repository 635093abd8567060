"""What all commands share: options, and how an error becomes one line and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from agentkit.errors import AgentKitError

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130


@dataclass
class State:
    """Switches of one invocation that outlive the command; `main` makes it and reads it after an error."""

    is_debug: bool = False


def _note_debug(context: typer.Context, is_debug: bool) -> bool:
    if is_debug and isinstance(context.obj, State):
        context.obj.is_debug = True
    return is_debug


AppArgument = Annotated[Path, typer.Argument(metavar="APP", help="Folder of the app, for example apps/smart_home.")]
ConfigOption = Annotated[
    list[str], typer.Option("--config", metavar="KEY=VALUE", help="Override a key of app.yaml; may be repeated.")
]
DebugOption = Annotated[
    bool, typer.Option("--debug", callback=_note_debug, is_eager=True, help="Show the traceback of an error.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
ManifestOption = Annotated[
    Path | None, typer.Option("--manifest", help="Manifest file; default: models/manifest.yaml or the shipped one.")
]
NoModelOption = Annotated[bool, typer.Option("--no-model", help="Only templates; what they do not know is not done.")]
StateOption = Annotated[
    Path | None,
    typer.Option("--state", metavar="DIR", help="Folder of device states; else $AGENTKIT_STATE or ~/.local/state."),
]


JOINERS = "\u200c\u200d"
"""Invisible, but part of words and emoji."""


def tell(*lines: str, to: TextIO | None = None) -> None:
    """Print lines, at once and so that none of them can steer the terminal or pass for several."""
    for line in lines:
        print(printable(line), file=to or sys.stdout, flush=True)


def printable(text: str) -> str:
    """Spell out what a terminal obeys instead of showing it: control characters, and marks that turn text around.

    The spelling is that of JSON strings, so JSON stays what it was. Names, states and replies come from devices.
    """
    return "".join(c if c.isprintable() or c in JOINERS else _spelled(c) for c in text)


def _spelled(char: str) -> str:
    if unicodedata.category(char) == "Zs":
        return " "
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def run_guarded(command: Callable[[State], int]) -> int:
    """Run a command line and turn whatever it raises into one line on stderr and an exit code."""
    state = State()
    try:
        return command(state)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
        return FAILED
    except AgentKitError as err:
        return _fail(state, " ".join(str(err).split()))
    except Exception as err:  # noqa: BLE001 - an edge: a bug must not print a traceback at people
        if hasattr(err, "format_message"):  # typer's own complaint about the command line
            return _wrong_use(err)
        line = " ".join(f"{type(err).__name__}: {err}".split())
        return _fail(state, f"internal error, {line}; run again with --debug and report it")


def _fail(state: State, line: str) -> int:
    if state.is_debug:
        tell(*traceback.format_exc().splitlines(), to=sys.stderr)
    tell(f"error: {line}", to=sys.stderr)
    return FAILED


def _wrong_use(err: Any) -> int:
    message = str(err.format_message())
    context = getattr(err, "ctx", None)
    if type(err).__name__ == "NoArgsIsHelpError":
        print(message, file=sys.stderr)
    else:
        path = context.command_path if context is not None else "agentkit"
        tell(f"error: {' '.join(message.split()).rstrip('.')}; see: {path} --help", to=sys.stderr)
    return WRONG_USE
