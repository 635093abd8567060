"""`ask` and `chat` through a server that owns the home."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentkit.cli.remote import RemoteTalk
from agentkit.errors import ServerError, UtteranceError
from agentkit.state import Announced
from agentkit.types import Outcome, Utterance
from tests.server.conftest import Live


def remote(url: str, timeout_s: float = 10) -> RemoteTalk:
    return RemoteTalk(Announced(url, 4711, Path("/apps/test")), "test", timeout_s=timeout_s)


def test_reply_of_a_server_is_the_reply_of_its_agent(live: Live) -> None:
    with remote(live.url) as talk:
        reply = talk.handle(Utterance("turn on", area="kitchen", session="s1", is_dry_run=True))

    assert (reply.outcome, reply.say, reply.session, reply.path, reply.why) == (
        Outcome.DONE,
        "Done. 好的。",
        "s1",
        "template",
        "scripted",
    )
    assert reply.calls[0].targets == ("light.sink",)
    assert reply.actions[0].state == "on"
    heard = live.agent.heard[0]
    assert (heard.text, heard.area, heard.source, heard.is_dry_run) == ("turn on", "kitchen", "http", True)


def test_devices_and_rooms_are_those_of_the_server(live: Live) -> None:
    with remote(live.url) as talk:
        assert [device.id for device in talk.devices()] == ["light.sink"]
        talk.check_area("kitchen")
        with pytest.raises(UtteranceError, match="areas are kitchen, hall"):
            talk.check_area("attic")


def test_what_the_server_does_not_take_is_said_as_it_says_it(live: Live) -> None:
    with remote(live.url) as talk, pytest.raises(UtteranceError, match="attic"):
        talk.handle(Utterance("hello", area="attic"))


def test_bug_of_the_server_is_no_success(live: Live) -> None:
    with remote(live.url) as talk, pytest.raises(ServerError, match="internal error"):
        talk.handle(Utterance("break"))


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_silent_server_is_one_clear_error_in_a_few_seconds(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentkit.cli.remote.PROBE_S", 0.1)
    with remote(silent, 60) as talk, pytest.raises(ServerError, match=r"process 4711.*within 0\.1 s") as caught:
        talk.handle(Utterance("hello"))

    assert "\n" not in str(caught.value)
    assert "carried out" not in str(caught.value)  # the command was not sent yet


def test_turn_that_takes_too_long_may_have_been_carried_out(live: Live) -> None:
    with remote(live.url, 0.3) as talk, pytest.raises(ServerError, match="whether it was carried out is unknown"):
        talk.handle(Utterance("wait"))


def test_server_that_is_gone_is_one_clear_error() -> None:
    with remote("http://127.0.0.1:1") as talk, pytest.raises(ServerError, match="does not answer"):
        talk.handle(Utterance("hello"))
