from __future__ import annotations

import threading

import pytest

from agentkit.devices.adapter import Home
from agentkit.devices.registry import Registry
from agentkit.errors import ArtifactError, NotReady
from agentkit.host import Host, Opened, Phase
from tests.server.conftest import ScriptedAgent


def test_agent_is_there_only_after_start_up() -> None:
    agent = ScriptedAgent()
    host = Host("home", Registry(Home("h")), lambda report: Opened(agent))

    with pytest.raises(NotReady, match="home is starting"):
        host.agent()
    host.start()

    assert host.phase is Phase.READY
    assert host.agent() is agent


def test_step_of_start_up_is_told_while_it_runs() -> None:
    seen: list[str] = []

    def open_agent(report: object) -> Opened:
        assert callable(report)
        report("pulling 3 of 98 MB")
        seen.append(host.detail)
        return Opened(ScriptedAgent())

    host = Host("home", Registry(Home("h")), open_agent)
    host.start()

    assert seen == ["pulling 3 of 98 MB"]


def test_failed_start_up_is_raised_and_remembered() -> None:
    def open_agent(_report: object) -> Opened:
        raise ArtifactError("model.gguf: not there; run: agentkit models pull")

    host = Host("home", Registry(Home("h")), open_agent)
    with pytest.raises(ArtifactError):
        host.start()

    assert host.phase is Phase.FAILED
    with pytest.raises(NotReady, match="agentkit models pull"):
        host.agent()


def test_closing_during_start_up_closes_what_comes_out_of_it() -> None:
    opening, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def open_agent(_report: object) -> Opened:
        opening.set()
        assert go_on.wait(5)
        return Opened(ScriptedAgent(), close=closed.set)

    host = Host("home", Registry(Home("h")), open_agent)
    thread = threading.Thread(target=host.start)
    thread.start()
    assert opening.wait(5)
    host.close()
    go_on.set()
    thread.join(5)

    assert closed.is_set()
    assert host.phase is Phase.STOPPED
    with pytest.raises(NotReady):
        host.agent()
