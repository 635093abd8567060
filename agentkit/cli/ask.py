"""`agentkit ask`: one utterance through the same path as the server, and through the server if one runs."""

from __future__ import annotations

import secrets
import sys
from typing import Annotated

import typer

from agentkit.cli.common import AppArgument, ConfigOption, DebugOption, JsonOption, NoModelOption, StateOption, tell

AreaOption = Annotated[
    str | None, typer.Option("--area", metavar="ID", help="Room of the speaker, for example kitchen.")
]


def ask_command(
    app: AppArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is said, in English or Chinese.")],
    area: AreaOption = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Name of the conversation.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Understand, but execute nothing.")] = False,
    json: JsonOption = False,
    config: ConfigOption = [],  # noqa: B006 - typer reads the default and never changes it
    no_model: NoModelOption = False,
    state: StateOption = None,
    debug: DebugOption = False,
) -> None:
    """Answer one utterance and end: exit code 0 if it was done, answered or asked back, else 1.

    While `agentkit run` serves the app, that server answers. Else the model is opened only if the templates do not
    know the sentence.
    """
    from agentkit.cli import show
    from agentkit.cli.talk import open_talk
    from agentkit.startup import Options
    from agentkit.types import Utterance

    options = Options(app, tuple(config), has_model=not no_model, state=state)
    utterance = Utterance(
        text, area=area, session=session or f"ask-{secrets.token_hex(4)}", source="cli", is_dry_run=dry_run
    )
    with open_talk(options, note) as talk:
        reply = talk.handle(utterance)
    tell(*(show.as_json(reply).split("\n") if json else show.lines(reply)))
    if not (reply.ok or reply.expects_reply):
        raise typer.Exit(1)


def note(line: str) -> None:
    """Tell people what goes on, without mixing it into the answer."""
    tell(line, to=sys.stderr)
