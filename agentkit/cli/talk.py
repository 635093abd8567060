"""Who answers `ask` and `chat`: the server that owns the app's state if one runs, else an agent opened for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

from agentkit.devices.adapter import Device
from agentkit.errors import StateInUse
from agentkit.startup import Loaded, Options, load, opened_loaded
from agentkit.state import find_server
from agentkit.types import Reply, Utterance

if TYPE_CHECKING:
    from agentkit.open_model import Say

PATIENCE_S = 5.0
"""How long to wait for another `ask` to be done with the state folder."""


class AnyTalk(Protocol):
    """What a conversation needs, wherever the agent runs."""

    @property
    def name(self) -> str:
        """Name of the app."""
        ...

    def handle(self, utterance: Utterance) -> Reply:
        """Run one turn. Raises AgentKitError."""
        ...

    def devices(self) -> tuple[Device, ...]:
        """Every device as last read."""
        ...

    def check_area(self, area: str | None) -> None:
        """Raise UtteranceError if there is no such room."""
        ...


@contextmanager
def open_talk(options: Options, say: Say) -> Iterator[AnyTalk]:
    """Open a conversation with the one home there is. Raises StateInUse if it can be reached in neither way."""
    loaded = load(options)
    with ExitStack() as stack:
        yield _enter(stack, loaded, options, say)


def _enter(stack: ExitStack, loaded: Loaded, options: Options, say: Say) -> AnyTalk:
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return stack.enter_context(opened_loaded(loaded, say))
        except StateInUse:
            server = find_server(loaded.state_dir)
            if server is None and time.monotonic() >= end:
                raise
        if server is not None:
            break
        time.sleep(0.05)
    if server.app != loaded.app.path:
        raise StateInUse(
            f"{loaded.state_dir}: the server at {server.url} keeps the state of {server.app} there; "
            f"keep that of {loaded.app.path} elsewhere with --state DIR"
        )
    if options.overrides or not options.has_model:
        say(f"note: the server at {server.url} answers; --config and --no-model count where it is started")
    from agentkit.cli.remote import RemoteTalk  # httpx is loaded only where a server is asked

    return stack.enter_context(RemoteTalk(server, loaded.app.name))
