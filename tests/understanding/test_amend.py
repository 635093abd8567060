from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.config import App
from agentkit.devices.adapter import Area, Device
from agentkit.types import Kind, Understanding
from agentkit.understanding.amend import amend
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import detect_language, normalise
from agentkit.understanding.selecting import select
from agentkit.understanding.talk import read_talk
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words
from tests.understanding.conftest import Ask


@pytest.mark.parametrize(
    ("before", "after", "meant"),
    [
        ("打开卧室的灯", "书房", "打开书房的灯"),
        ("把空调调到二十二度", "二十四度", "把空调调到二十四度"),
        ("把台灯打开", "关掉", "把台灯关掉"),
        ("把灯调成红色", "蓝色", "把灯调成蓝色"),
    ],
)
def test_a_correction_takes_the_place_of_its_like(
    before: str, after: str, meant: str, home: HomeView, words: dict[str, Words]
) -> None:
    assert meant in amend(before, after, Lexicon(home, words["zh"]))


def test_a_correction_that_has_no_like_changes_nothing(home: HomeView, words: dict[str, Words]) -> None:
    assert amend("打开台灯", "二十四度", Lexicon(home, words["zh"])) == []


def test_a_command_that_is_called_off_at_its_end_does_nothing(ask: Ask) -> None:
    assert ask("打开台灯，算了").kind is Kind.SAY


def test_a_correction_that_fits_nowhere_runs_nothing(ask: Ask) -> None:
    assert ask("打开台灯，不对，二十四度").kind is not Kind.CALLS


@pytest.fixture(scope="module")
def ask(app: App, words: dict[str, Words], templates: TemplateMap, home: HomeView) -> Ask:
    """Understand a sentence with the words about the conversation, which tell where a command begins."""
    talking = {k: replace(w, talk=read_talk(app.dialogue[k])) for k, w in words.items()}
    understander = Understander(words=talking, templates=templates, tools=app.tools)

    def understand(text: str, view: HomeView = home) -> Understanding:
        return understander.understand(normalise(text, None, talking[detect_language(text)]), view)

    return understand


def reached(found: Understanding, home: HomeView) -> list[tuple[str, str]]:
    return [(i.tool, d.id) for i in found.intents for d in select(i.selector, home)]


@pytest.mark.parametrize(
    ("said", "tool", "device"),
    [
        ("turn on the kitchen light, no, the hallway light", "turn_on", "light.hallway"),
        ("turn on the kitchen light no wait the hallway light", "turn_on", "light.hallway"),
        ("switch on the bedroom fan, sorry, switch it off", "turn_off", "fan.bedroom"),
        ("turn the desk lamp off... no, on", "turn_on", "light.desk"),
        ("turn on the fan in the bathroom, or rather in the bedroom", "turn_on", "fan.bedroom"),
        ("unlock the back door, no, lock it", "lock", "lock.back_door"),
        ("open, no, close the bedroom curtain", "close_cover", "cover.bedroom_curtain"),
        ("set the desk lamp to 3000 kelvin, wait, 50 percent", "set_brightness", "light.desk"),
        ("打开走廊灯哦不对是厨房灯", "turn_on", "light.kitchen"),
        ("把台灯关掉……哦不，打开", "turn_on", "light.desk"),
        ("打开台灯，等等，是关掉", "turn_off", "light.desk"),
        ("台灯设成红色，等等，改成蓝色", "set_color", "light.desk"),
    ],
)
def test_only_what_the_speaker_corrected_to_is_done(
    said: str, tool: str, device: str, ask: Ask, home: HomeView
) -> None:
    assert reached(ask(said), home) == [(tool, device)]


def test_a_corrected_kind_stays_in_the_room_that_was_named(ask: Ask, home: HomeView) -> None:
    found = reached(ask("turn on the bedroom fan, no, the light"), home)

    assert found
    assert {device for _, device in found} <= {"light.bedroom", "light.bedside"}


def test_numbers_on_both_sides_of_a_correction_are_never_joined(ask: Ask) -> None:
    found = ask("客厅空调调到二十，不对不对，二十六度")

    assert [i.args for i in found.intents if i.args] == [{"temperature": 26}]


@pytest.mark.parametrize(
    "said",
    [
        "turn on the kitchen light, no wait, don't",
        "turn on the kitchen light, no, forget it",
        "if it rains close the study blind, no, the bedroom curtain",
        "i said turn on the desk lamp, no, the floor lamp",
        "turn on the desk lamp, wait five minutes",
        "他说打开台灯，不对，是落地灯",
        "不要打开台灯，不对，是落地灯",
        "打开台灯，算了，明天再说",
    ],
)
def test_a_correction_lifts_no_ban_condition_report_or_time(said: str, ask: Ask) -> None:
    assert ask(said).kind is not Kind.CALLS


@pytest.mark.parametrize(
    ("said", "tool", "device"),
    [
        ("别开台灯，把它关掉", "turn_off", "light.desk"),
        ("台灯不要开着了，关掉", "turn_off", "light.desk"),
        ("别关卧室窗帘，打开它", "open_cover", "cover.bedroom_curtain"),
        ("don't dim the desk lamp, turn it off", "turn_off", "light.desk"),
        ("not the kitchen light, turn off the hallway light", "turn_off", "light.hallway"),
        ("关上卧室窗帘，关上关上", "close_cover", "cover.bedroom_curtain"),
        ("客厅空调调到二十六度，别太冷", "set_temperature", "climate.living_room"),
    ],
)
def test_a_command_beside_what_it_forbids_or_repeats_is_done(
    said: str, tool: str, device: str, ask: Ask, home: HomeView
) -> None:
    assert reached(ask(said), home) == [(tool, device)]


@pytest.mark.parametrize("said", ["don't turn off the desk lamp, it's dark", "别开台灯，我在睡觉", "别关灯，灯要开着"])
def test_a_reason_behind_a_ban_is_no_command(said: str, ask: Ask) -> None:
    assert ask(said).kind is not Kind.CALLS


@pytest.mark.parametrize(
    ("said", "ids"),
    [
        ("打开书房的壁灯，不对，射灯", ["light.a"]),
        ("把书房的壁灯……不是壁灯，是射灯，打开", ["light.a"]),
        ("打开书房的壁灯，不对，阁楼的射灯", ["light.b"]),
        ("turn on the wall lamp in the library, no, the spotlight", ["light.a"]),
        ("turn on the wall lamp in the library, no, the loft spotlight", ["light.b"]),
        ("turn on the wall lamp in the library, no, the globe", ["light.g"]),
    ],
)
def test_a_corrected_name_is_looked_for_in_the_room_that_was_named(said: str, ids: list[str], ask: Ask) -> None:
    home = HomeView(
        devices=(
            Device("light.w", "Wall Lamp", "light", "library", aliases=("壁灯",)),
            Device("light.a", "Spotlight", "light", "library", aliases=("射灯",)),
            Device("light.b", "Spotlight", "light", "loft", aliases=("射灯",)),
            Device("light.g", "Globe", "light", "loft"),
        ),
        areas=(Area("library", "Library", aliases=("书房",)), Area("loft", "Loft", aliases=("阁楼",))),
    )
    found = ask(said, home)
    assert [d.id for i in found.intents for d in select(i.selector, home)] == ids
