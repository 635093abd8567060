"""What people ask for by a word that also stands in the names of other things, and what they get."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select

from .conftest import Ask


def reached(text: str, ask: Ask, view: HomeView) -> list[str]:
    return [d.id for i in ask(text, view).intents for d in select(i.selector, view)]


@pytest.mark.parametrize("text", ["turn on the heater", "switch the heating off", "打开暖气"])
def test_a_heater_is_no_air_conditioner(text: str, ask: Ask, home: HomeView) -> None:
    cool = replace(home, devices=tuple(d for d in home.devices if d.id != "climate.heating"))
    assert reached(text, ask, home) == ["climate.heating"]
    assert reached(text, ask, cool) == []


@pytest.mark.parametrize("text", ["把窗户打开", "关窗", "打开卧室窗户", "open the window"])
def test_a_window_is_no_curtain(text: str, ask: Ask, home: HomeView) -> None:
    assert reached(text, ask, home) == []


def test_the_lamp_is_what_is_called_a_lamp(ask: Ask, home: HomeView) -> None:
    assert reached("turn off the lamp", ask, home) == ["light.floor_lamp"]
    assert len(reached("turn off the light", ask, home)) > 1


def test_of_several_lamps_it_is_asked_which(ask: Ask, home: HomeView) -> None:
    lamp = next(d for d in home.devices if d.id == "light.floor_lamp")
    view = replace(home, devices=(*home.devices, replace(lamp, id="light.reading", name="Reading Lamp", aliases=())))
    assert ask("turn off the lamp", view).needs_confirmation


def test_everything_is_what_can_be_switched_off_there(ask: Ask, home: HomeView) -> None:
    everywhere = reached("turn everything off", ask, home)
    assert {d.partition(".")[0] for d in everywhere} >= {"light", "switch", "fan", "climate", "media_player"}
    here = reached("turn off everything in the kitchen", ask, home)
    assert here
    assert set(here) < set(everywhere)
    assert len(reached("把所有东西都关了", ask, home)) == len(everywhere)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("would you mind closing the curtain?", "close_cover"),
        ("don't forget to lock the front door", "lock"),
        ("别忘了锁前门", "lock"),
        ("不要忘记锁前门", "lock"),
        ("记得关灯", "turn_off"),
        ("sure, close the curtain", "close_cover"),
        ("没问题，关上窗帘", "close_cover"),
    ],
)
def test_a_frame_that_sounds_like_a_guard_still_commands(text: str, tool: str, ask: Ask) -> None:
    assert [i.tool for i in ask(text).intents] == [tool]


@pytest.mark.parametrize(
    "text", ["would you mind not closing the curtain", "don't forget not to lock the front door", "别忘了不要锁前门"]
)
def test_a_negation_inside_such_a_frame_forbids(text: str, ask: Ask) -> None:
    assert not ask(text).intents


@pytest.mark.parametrize("text", ["what can you do", "help", "你能做什么", "你会什么"])
def test_what_it_can_do_is_told_from_the_tools_and_the_home(text: str, ask: Ask, home: HomeView) -> None:
    found = ask(text)
    assert (found.kind, found.reply_key) == (Kind.SAY, "help")
    assert {"light", "lock"} <= set(found.reply_values["type"]) <= {d.type for d in home.devices}
    assert "sensor" not in found.reply_values["type"]
