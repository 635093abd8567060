"""What the app asks about home sentences that no tier understood, and questions that sound like commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.assemble import Assembly
from agentkit.config import load_app
from agentkit.devices.adapter import Device
from agentkit.types import Kind, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import detect_language, normalise
from agentkit.understanding.selecting import select

APP = load_app(Path(__file__).parents[2] / "apps" / "smart_home")


@pytest.fixture(scope="module")
def assembly() -> Assembly:
    return Assembly(APP)


def understand(assembly: Assembly, text: str) -> Understanding:
    language = detect_language(text)
    view = HomeView.of(APP.home, speaker_area="kitchen")
    return assembly._understander.understand(normalise(text, language, assembly._words[language]), view)


def reached(found: Understanding) -> tuple[Device, ...]:
    return select(found.intents[0].selector, HomeView.of(APP.home))


@pytest.mark.parametrize(
    "text",
    [
        "unlock the back door for the gardener",
        "please let my uncle in",
        "close the main water valve because the cellar is wet and i panic",
        "把后门打开锁，外卖小哥来了",
        "给邻居开一下门",
    ],
)
def test_what_is_half_understood_is_asked_and_never_run(assembly: Assembly, text: str) -> None:
    found = understand(assembly, text)
    assert found.kind is Kind.ASK or found.needs_confirmation or found.kind is Kind.REFUSE, found
    assert not (found.kind is Kind.CALLS and not found.needs_confirmation)


@pytest.mark.parametrize(
    "text", ["make the living room nice", "sort out the kitchen", "prepare the house", "把客厅布置一下", "弄舒服一点"]
)
def test_a_vague_wish_is_asked_back(assembly: Assembly, text: str) -> None:
    found = understand(assembly, text)
    assert (found.kind, found.reply_key) == (Kind.ASK, "what")


@pytest.mark.parametrize(
    "text",
    [
        "make me a sandwich",
        "let it snow",
        "i ran the kitchen marathon",
        "open the pod bay doors of my spaceship in the novel i am writing about mars",
        "what does the fox say",
        "讲个笑话",
        "今天天气真好",
    ],
)
def test_another_subject_is_not_asked_about(assembly: Assembly, text: str) -> None:
    found = understand(assembly, text)
    assert found.kind in (Kind.REFUSE, Kind.SAY), found


@pytest.mark.parametrize("text", ["厨房的灯关了吗", "前门锁了吗", "书桌灯开了没", "卧室窗帘关了没有"])
def test_a_question_in_the_words_of_a_command_moves_nothing(assembly: Assembly, text: str) -> None:
    found = understand(assembly, text)
    assert found.kind is not Kind.CALLS or [i.tool for i in found.intents] == ["get_state"], found


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("set the bedroom ac", "set_temperature"),
        ("change the volume of the tv", "set_volume"),
        ("把床头灯调一下", "set_brightness"),
    ],
)
def test_a_command_without_its_value_is_a_call_that_lacks_it(assembly: Assembly, text: str, tool: str) -> None:
    found = understand(assembly, text)
    assert [(i.tool, dict(i.args)) for i in found.intents] == [(tool, {})]


def test_here_keeps_a_question_in_the_speakers_room(assembly: Assembly) -> None:
    here, everywhere = understand(assembly, "which lights are on in here"), understand(assembly, "which lights are on")
    assert {d.area for d in reached(here)} == {"kitchen"}
    assert len({d.area for d in reached(everywhere)}) > 1


def test_scripts_may_be_mixed(assembly: Assembly) -> None:
    found = understand(assembly, "turn on 床头灯")
    assert [i.tool for i in found.intents] == ["turn_on"]
    assert not found.needs_confirmation


@pytest.mark.parametrize(
    ("text", "device"),
    [("close and lock the front door", "lock.front_door"), ("关上并锁好前门", "lock.front_door")],
)
def test_of_two_verbs_the_one_that_can_be_done_is_proposed(assembly: Assembly, text: str, device: str) -> None:
    found = understand(assembly, text)
    assert [d.id for d in reached(found)] == [device]
    assert [i.tool for i in found.intents] == ["lock"]
    assert found.needs_confirmation
