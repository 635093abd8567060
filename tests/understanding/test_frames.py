"""What people put around a command: it is understood without that, and no statement becomes a command by it."""

from __future__ import annotations

import pytest

from agentkit.understanding.home_view import HomeView

from .conftest import Ask

FRAMES = [
    "you have to {c}",
    "you'd better {c}",
    "i really need you to {c}",
    "what i want is to {c}",
    "it's about time to {c}",
    "any chance you could {c}",
    "hurry up and {c}",
    "please arrange to {c}",
    "make sure you {c}",
    "why don't you {c}",
    "i'd be glad if you {c}",
    "{c} would be great",
    "{c} pretty please",
]
CHINESE = [
    "求求你{c}",
    "尽快{c}",
    "那就{c}",
    "好了{c}",
    "你应该{c}",
    "希望你能{c}",
    "小爱{c}",
    "亲爱的{c}",
    "是否可以{c}吗",
    "{c}哟",
]


@pytest.mark.parametrize("frame", FRAMES)
def test_an_english_command_in_a_frame_is_that_command(frame: str, ask: Ask, home: HomeView) -> None:
    assert ask(frame.format(c="turn on the desk lamp"), home).intents == ask("turn on the desk lamp", home).intents


@pytest.mark.parametrize("frame", CHINESE)
def test_a_chinese_command_in_a_frame_is_that_command(frame: str, ask: Ask, home: HomeView) -> None:
    found, plain = ask(frame.format(c="打开书桌灯"), home), ask("打开书桌灯", home)
    assert plain.intents
    assert (found.intents, found.needs_confirmation) == (plain.intents, False)


@pytest.mark.parametrize(
    "text",
    [
        "you must not turn on the desk lamp",
        "you have to know the desk lamp",
        "you ought to close the case",
        "i don't think you should turn on the desk lamp",
        "why don't you ever turn on the desk lamp",
        "what i want is to go home",
        "小灯打开",
        "一定要关灯的是厨房",
        "小爱打开了书桌灯",
    ],
)
def test_a_statement_that_begins_like_a_frame_commands_nothing(text: str, ask: Ask, home: HomeView) -> None:
    assert [i for i in ask(text, home).intents if i.tool != "get_state"] == []
