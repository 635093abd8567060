"""`agentkit chat`: a conversation in the terminal."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from agentkit.cli.ask import AreaOption, note
from agentkit.cli.common import AppArgument, ConfigOption, DebugOption, NoModelOption, StateOption, tell
from agentkit.errors import AgentKitError

if TYPE_CHECKING:
    from agentkit.cli.talk import AnyTalk
    from agentkit.types import Reply

HELP = "/why explains the last turn · /area ID moves you to a room · /devices lists devices · /quit ends"


def chat_command(
    app: AppArgument,
    area: AreaOption = None,
    config: ConfigOption = [],  # noqa: B006 - typer reads the default and never changes it
    no_model: NoModelOption = False,
    state: StateOption = None,
    debug: DebugOption = False,
) -> None:
    """Talk to the app in the terminal. /why explains the last turn, /quit ends.

    While `agentkit run` serves the app, that server answers.
    """
    from agentkit.cli.talk import open_talk
    from agentkit.startup import Options

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - gives input() a history

    with open_talk(Options(app, tuple(config), has_model=not no_model, state=state), note) as talk:
        tell(f"{talk.name}: {len(talk.devices())} devices. {HELP}")
        Chat(talk, area).run(input)


class Chat:
    """Owns the room of the speaker and the last reply."""

    def __init__(self, talk: AnyTalk, area: str | None):
        self._talk, self._area = talk, area
        self._session = f"chat-{secrets.token_hex(4)}"
        self._last: Reply | None = None

    def run(self, read: Callable[[str], str]) -> None:
        """Read lines until /quit or the end of input."""
        while True:
            try:
                line = read("> ").strip()
            except EOFError:
                return
            if line in ("/quit", "/exit"):
                return
            tell(*self.answer(line))

    def answer(self, line: str) -> Iterator[str]:
        """Answer one line; an error is one line too, and the conversation goes on."""
        try:
            yield from self._command(line) if line.startswith("/") else self._say(line)
        except AgentKitError as err:
            yield f"error: {err}"

    def _say(self, text: str) -> Iterator[str]:
        from agentkit.cli import show
        from agentkit.types import Utterance

        if not text:
            return
        self._last = self._talk.handle(Utterance(text, area=self._area, session=self._session, source="cli"))
        yield from show.lines(self._last)

    def _command(self, line: str) -> Iterator[str]:
        from agentkit.cli import show

        name, _, argument = line.partition(" ")
        if name == "/why":
            yield from show.why(self._last) if self._last else ["  nothing has been said yet"]
        elif name == "/area":
            self._talk.check_area(argument.strip() or None)
            self._area = argument.strip() or None
            yield f"  you are in {self._area or 'no room'}"
        elif name == "/devices":
            for device in self._talk.devices():
                yield f"  {device.id:<32} {device.state if device.is_available else 'offline'}"
        else:
            yield f"  {HELP}"
