"""Kinds of spoken Chinese that must be understood, and kinds that must do nothing."""

from __future__ import annotations

import pytest

from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select
from tests.understanding.conftest import Ask


def reached(ask: Ask, home: HomeView, said: str) -> dict[str, set[str]]:
    found = ask(said)
    assert found.kind is Kind.CALLS, found.why
    calls: dict[str, set[str]] = {}
    for intent in found.intents:
        calls.setdefault(intent.tool, set()).update(d.id for d in select(intent.selector, home))
    return calls


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("把台灯给我开开", "turn_on"),
        ("台灯，台灯关一下", "turn_off"),
        ("那个，麻烦把书房的台灯关一关吧", "turn_off"),
        ("書房的檯燈熄咗佢唔該", "turn_off"),
        ("把 desk lamp 打开", "turn_on"),
        ("不要开卧室灯，开台灯", "turn_on"),
        ("台灯怎么还亮着，关掉", "turn_off"),
    ],
)
def test_the_desk_lamp_is_meant_in_many_ways_of_speaking(ask: Ask, home: HomeView, said: str, tool: str) -> None:
    assert reached(ask, home, said) == {tool: {"light.desk"}}


def test_several_commands_need_no_conjunction(ask: Ask, home: HomeView) -> None:
    assert set(reached(ask, home, "关灯开空调拉上窗帘")) == {"turn_off", "turn_on", "close_cover"}


def test_a_second_clause_stays_in_the_room_of_the_first(ask: Ask, home: HomeView) -> None:
    covers = reached(ask, home, "打开卧室的灯，把窗帘拉上")["close_cover"]
    assert {d.area for d in home.devices if d.id in covers} == {"bedroom"}


def test_what_is_excluded_is_left_out(ask: Ask, home: HomeView) -> None:
    lights = reached(ask, home, "除了卧室的灯，其他灯都关掉")["turn_off"]
    bedroom = {d.id for d in home.devices if d.type == "light" and d.area == "bedroom"}
    assert lights == {d.id for d in home.devices if d.type == "light"} - bedroom


@pytest.mark.parametrize(
    "said",
    [
        "别关灯",
        "灯先别关",
        "一进门就开灯",
        "要是冷了就开空调",
        "把那个灯关一下",
        "客厅卧室厨房",
        "别关台灯",
    ],
)
def test_what_is_forbidden_conditional_or_only_pointed_at_does_nothing(ask: Ask, said: str) -> None:
    assert ask(said).kind is not Kind.CALLS


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("哪些灯还开着", "which"),
        ("有几盏灯亮着", "how_many"),
        ("台灯是不是关着", "yes_no"),
        ("台灯关了没有", "yes_no"),
        ("卧室窗帘开没开", "yes_no"),
        ("家里的灯都关了吗", "all"),
    ],
)
def test_questions_about_states_ask_and_move_nothing(ask: Ask, said: str, question: str) -> None:
    found = ask(said)
    assert [i.tool for i in found.intents] == ["get_state"]
    assert found.intents[0].args["question"] == question


def test_a_statement_about_a_state_moves_nothing(ask: Ask) -> None:
    assert all(i.tool == "get_state" for i in ask("台灯是开着的").intents)


def test_a_value_is_asked_of_the_devices_that_have_it(ask: Ask, home: HomeView) -> None:
    found = ask("台灯的亮度是多少")
    assert found.intents[0].args["attribute"] == "brightness"
    assert {d.id for d in select(found.intents[0].selector, home)} == {"light.desk"}


def test_a_misheard_name_of_the_same_sound_is_meant(ask: Ask, home: HomeView) -> None:
    assert reached(ask, home, "打开客厅等") == reached(ask, home, "打开客厅灯")


def test_a_kind_that_its_room_lacks_is_called_on_nothing(ask: Ask, home: HomeView) -> None:
    assert reached(ask, home, "把厨房的窗帘拉上") == {"close_cover": set()}
