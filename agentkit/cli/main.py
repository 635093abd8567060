"""The command line: `agentkit COMMAND`. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from agentkit import __version__
from agentkit.cli.ask import ask_command
from agentkit.cli.chat import chat_command
from agentkit.cli.common import State, run_guarded
from agentkit.cli.run import run_command

app = typer.Typer(
    name="agentkit",
    help="Turn what people say into verified device actions, on this machine.",
    epilog="Example: agentkit run apps/smart_home",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"agentkit {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


app.command("run", epilog="Example: agentkit run apps/smart_home --port 8765")(run_command)
app.command("ask", epilog='Example: agentkit ask apps/smart_home "turn on the kitchen light" --area kitchen')(
    ask_command
)
app.command("chat", epilog="Example: agentkit chat apps/smart_home")(chat_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 done, 1 failed, 2 wrong use."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]

    def run(state: State) -> int:
        code = get_command(app).main(given, prog_name="agentkit", obj=state, standalone_mode=False)
        return code if isinstance(code, int) else 0

    return run_guarded(run)


if __name__ == "__main__":
    raise SystemExit(main())
