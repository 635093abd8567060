"""The command line: `agentkit COMMAND`. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer
from typer.main import get_command

from agentkit import __version__
from agentkit.cli.ask import ask_command
from agentkit.cli.bench_all import bench_app
from agentkit.cli.chat import chat_command
from agentkit.cli.common import State, run_guarded
from agentkit.cli.doctor import doctor_command
from agentkit.cli.eval import eval_command
from agentkit.cli.models import models_app
from agentkit.cli.new import new_command
from agentkit.cli.plan import plan_command
from agentkit.cli.rehearse import rehearse_command
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


COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("run", run_command, "agentkit run apps/smart_home --port 8765"),
    ("ask", ask_command, 'agentkit ask apps/smart_home "turn on the light" --area kitchen'),
    ("chat", chat_command, "agentkit chat apps/smart_home"),
    ("new", new_command, "agentkit new my_home"),
    ("test", rehearse_command, "agentkit test apps/smart_home --mutate"),
    ("eval", eval_command, "agentkit eval --data ../shared/data --suite en_core --out pred.jsonl"),
    ("doctor", doctor_command, 'agentkit doctor "image decode failed"'),
    ("plan", plan_command, "agentkit plan --device rk3588"),
)
for _name, _command, _example in COMMANDS:
    app.command(_name, epilog=f"Example: {_example}")(_command)
app.add_typer(models_app)
app.add_typer(bench_app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 done, 1 failed, 2 wrong use."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]

    def run(state: State) -> int:
        code = get_command(app).main(given, prog_name="agentkit", obj=state, standalone_mode=False)
        return code if isinstance(code, int) else 0

    return run_guarded(run)


if __name__ == "__main__":
    raise SystemExit(main())
