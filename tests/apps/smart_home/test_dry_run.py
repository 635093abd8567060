"""A dry run tells of everything that a sentence would do, whatever its parts are."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.assemble import Assembly
from agentkit.config import load_app
from agentkit.types import Outcome, Utterance

APP = Path(__file__).parents[3] / "apps" / "smart_home"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("add milk to the shopping list and turn off the kitchen light", ("milk", "kitchen light")),
        ("把牛奶加到购物清单,然后关掉厨房灯", ("牛奶", "厨房灯")),
    ],
)
def test_an_item_and_a_device_are_told_together(text: str, said: tuple[str, ...]) -> None:
    app = load_app(APP)
    reply = Assembly(app).open(app.home).agent.handle(Utterance(text, session="s", is_dry_run=True))
    assert reply.outcome is Outcome.ANSWER
    assert all(word in reply.say for word in said), reply.say
