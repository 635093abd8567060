"""What is said of all devices of a kind without a word that asks is wished, and confirmed; with one it is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.assemble import Assembly
from agentkit.config import load_app
from agentkit.types import Outcome, Utterance

APP = Path(__file__).parents[2] / "apps" / "smart_home"


@pytest.fixture(scope="module")
def assembly() -> Assembly:
    return Assembly(load_app(APP))


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("all lights off downstairs", "turn_off"),
        ("all blinds closed", "close_cover"),
        ("楼下的灯都关了", "turn_off"),
        ("除了台灯其他灯都关了", "turn_off"),
    ],
)
def test_a_state_of_all_that_nobody_asks_about_is_a_wish_to_be_confirmed(
    text: str, tool: str, assembly: Assembly
) -> None:
    live = assembly.open(load_app(APP).home, pin="1234")
    before = live.registry.devices()
    reply = live.agent.handle(Utterance(text))
    assert (reply.outcome, [c.tool for c in reply.calls]) == (Outcome.ASK, [tool])
    assert live.registry.devices() == before


@pytest.mark.parametrize(
    "text",
    [
        "are all lights off downstairs",
        "all lights off downstairs?",
        "all the lights are off downstairs",
        "all doors locked",
        "楼下的灯都关了吗",
        "楼下的灯是不是都关了",
        "门都锁了",
    ],
)
def test_a_question_about_all_stays_a_question(text: str, assembly: Assembly) -> None:
    live = assembly.open(load_app(APP).home, pin="1234")
    reply = live.agent.handle(Utterance(text))
    assert (reply.outcome, [c.tool for c in reply.calls]) == (Outcome.ANSWER, ["get_state"])
