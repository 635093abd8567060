"""What somebody does, did or says of his home is no command, and one that is answered with a no is none either."""

from __future__ import annotations

import pytest

from agentkit.types import Kind

from .conftest import Ask


@pytest.mark.parametrize(
    "text",
    [
        "I close the curtain every evening at eight",
        "my wife switches off the floor lamp at ten",
        "the kids switch on the floor lamp at eight",
        "we are closing the curtain",
        "dad switched on the floor lamp",
        "the floor lamp goes off at ten",
        "the floor lamp comes on at six every morning",
        "switch on the floor lamp or else",
        "close the curtain or I will",
        "我每天八点拉上窗帘",
        "妈妈晚上十点关落地灯",
        "孩子们每天早上七点打开落地灯",
    ],
)
def test_what_is_told_is_left_as_it_is(text: str, ask: Ask) -> None:
    found = ask(text)
    assert found.kind is Kind.REFUSE
    assert found.reply_values["kind"] == "report"


@pytest.mark.parametrize(
    "text",
    [
        "every evening at eight close the curtain",
        "switch off the kids room light at ten",
        "have the floor lamp go off at ten",
        "let the floor lamp come on at six",
        "每天八点拉上窗帘",
        "我想每天八点拉上窗帘",
    ],
)
def test_a_command_with_a_time_is_still_one(text: str, ask: Ask) -> None:
    found = ask(text)
    assert found.kind is Kind.CALLS
    assert found.when is not None


@pytest.mark.parametrize(
    "text",
    [
        "switch on the floor lamp? no",
        "switch on the floor lamp? nope",
        "close the curtain? no thank you",
        "关落地灯？不用",
    ],
)
def test_a_question_that_is_answered_with_a_no_is_called_off(text: str, ask: Ask) -> None:
    assert ask(text).reply_key == "nevermind"


def test_a_timer_before_a_command_is_no_delay_of_it(ask: Ask) -> None:
    found = ask("定个十分钟的计时器,再打开落地灯")
    assert found.kind is Kind.REFUSE
    assert found.reply_values["kind"] == "apart"
