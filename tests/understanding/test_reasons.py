from __future__ import annotations

import pytest

from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select
from tests.understanding.conftest import Ask


@pytest.mark.parametrize(
    ("said", "tool", "device"),
    [
        ("it is pitch dark in the kitchen turn on the light", "turn_on", "light.kitchen"),
        ("i have a headache please turn off the kitchen light", "turn_off", "light.kitchen"),
        ("turn off the kitchen light because i want to sleep", "turn_off", "light.kitchen"),
        ("turn on the desk lamp i can't see anything", "turn_on", "light.desk"),
        ("our guests are arriving start the robot vacuum", "vacuum_start", "vacuum.robot"),
        ("厨房没人了，把厨房灯关了", "turn_off", "light.kitchen"),
        ("台灯太刺眼了把台灯关掉", "turn_off", "light.desk"),
        ("天黑了，把卧室窗帘拉上", "close_cover", "cover.bedroom_curtain"),
    ],
)
def test_a_clause_that_only_tells_why_is_passed_over(
    said: str, tool: str, device: str, ask: Ask, home: HomeView
) -> None:
    found = ask(said)

    reached = [(i.tool, d.id) for i in found.intents for d in select(i.selector, home)]
    assert (tool, device) in reached
    assert {t for t, _ in reached} == {tool}


@pytest.mark.parametrize(
    "said",
    [
        "the sign says turn off the kitchen light",
        "my wife is telling me turn off the kitchen light",
        "the song is called turn off the kitchen light",
        "i am about to turn off the kitchen light",
        "turn off the kitchen light when i am asleep",
        "turn off the kitchen light in the song is dark",
        "what is dark turn on the kitchen light",
        "天黑了就把厨房灯打开",
        "他说厨房太暗了开灯",
        "如果太暗了打开厨房灯",
        "昨天太热了打开厨房灯",
    ],
)
def test_a_report_a_condition_and_a_question_are_no_reason(said: str, ask: Ask) -> None:
    found = ask(said)

    assert found.kind is not Kind.CALLS or found.needs_confirmation
