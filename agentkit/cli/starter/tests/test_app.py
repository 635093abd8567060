"""What is said to the app, and what becomes of the devices. Run with: python -m pytest"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.assemble import Live, build_agent
from agentkit.config import load_app
from agentkit.types import Outcome, Utterance


@pytest.fixture
def app() -> Live:
    loaded = load_app(Path(__file__).parents[1])
    return build_agent(loaded, loaded.home)


def say(app: Live, text: str) -> Outcome:
    return app.agent.handle(Utterance(text)).outcome


@pytest.mark.parametrize("text", ["turn on the north fan", "打开北风扇"])
def test_command_moves_the_device(app: Live, text: str) -> None:
    assert say(app, text) is Outcome.DONE
    assert app.registry.get("fan.north").state == "on"


@pytest.mark.parametrize(
    "text", ["never turn on the north fan", "turn on the north fan if it is hot", "不要打开北风扇"]
)
def test_what_is_no_plain_command_moves_nothing(app: Live, text: str) -> None:
    assert say(app, text) is Outcome.REFUSED
    assert app.registry.get("fan.north").state == "off"


def test_water_runs_only_after_a_yes(app: Live) -> None:
    assert say(app, "start the water pump") is Outcome.ASK
    assert app.registry.get("pump.water").state == "off"
    assert say(app, "yes") is Outcome.DONE
    assert app.registry.get("pump.water").state == "on"
