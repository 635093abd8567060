"""A sentence of which one clause is not understood is asked about, and the clause is told."""

from __future__ import annotations

import pytest

from agentkit.types import Kind

from .conftest import Ask


@pytest.mark.parametrize(
    ("said", "tools", "left"),
    [
        ("turn off the light, feed the cat", ["turn_off"], "feed the cat"),
        ("feed the cat, turn off the kitchen light", ["turn_off"], "feed the cat"),
        ("close the blinds, walk the dog, turn on the desk lamp", ["close_cover", "turn_on"], "walk the dog"),
        ("关灯，喂猫", ["turn_off"], "喂猫"),
        ("打开厨房灯，给妈妈打电话", ["turn_on"], "给妈妈打电话"),
    ],
)
def test_what_is_not_understood_beside_a_command_is_told(said: str, tools: list[str], left: str, ask: Ask) -> None:
    found = ask(said)

    assert [i.tool for i in found.intents] == tools
    assert (found.reply_key, found.reply_values["name"]) == ("rest", left)
    assert found.needs_confirmation


@pytest.mark.parametrize(
    "said",
    [
        "don't turn off the light, feed the cat",
        "turn off the light, if you feed the cat",
        "turn off the light, not",
        "turn off the light, the green one in the cellar",
        "关灯，别喂猫",
    ],
)
def test_what_may_change_the_command_is_not_passed_over(said: str, ask: Ask) -> None:
    assert ask(said).reply_key != "rest"


@pytest.mark.parametrize("said", ["turn off the kitchen light, the baby is sleeping", "关厨房灯，宝宝睡了"])
def test_a_reason_is_not_told(said: str, ask: Ask) -> None:
    found = ask(said)

    assert found.kind is Kind.CALLS
    assert not found.reply_key
