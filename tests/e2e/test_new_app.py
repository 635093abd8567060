"""The app that `agentkit new` writes, served by the real process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentkit.cli.new import write_app
from tests.e2e.process import Server


def test_new_app_is_served_and_does_nothing_that_was_not_asked_for(
    servers: Callable[..., Server], tmp_path: Path
) -> None:
    write_app(tmp_path / "greenhouse")
    server = servers(tmp_path / "state", app=str(tmp_path / "greenhouse"))
    server.wait_ready()

    assert server.say("never turn on the north fan")["outcome"] == "refused"
    assert server.say("如果太热就打开北风扇")["outcome"] == "refused"
    assert server.device("fan.north")["state"] == "off"
    assert server.say("打开北风扇")["say"] == "已打开北风扇。"
    assert server.device("fan.north")["state"] == "on"
