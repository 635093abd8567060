from __future__ import annotations

import pytest

from agentkit.types import Args, Intent, Selector
from agentkit.understanding.evidence import Level, read_sentence, weigh
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.words import Words


def judge(text: str, calls: list[tuple[str, Args, str]], home: HomeView, words: Words, templates: TemplateMap) -> Level:
    lexicon = Lexicon(home, words)
    sentence = read_sentence(text, lexicon, words)
    intents = [Intent(tool, args, Selector(device_ids=(device,))) for tool, args, device in calls]
    return weigh(intents, sentence, home, words, templates.phrases).level


@pytest.mark.parametrize(
    ("text", "calls", "level"),
    [
        ("brighten my desk lamp would you mate", [("adjust_brightness", {"step": 20}, "light.desk")], Level.FULL),
        ("reading is no fun at the desk lamp", [("turn_on", {}, "light.desk")], Level.WEAK),
        ("turn off the desk lamp mate", [("turn_on", {}, "light.desk")], Level.NONE),
        ("it is dark in here", [("turn_on", {}, "light.desk")], Level.NONE),
        ("desk lamp to 40 mate", [("set_brightness", {"brightness": 40}, "light.desk")], Level.WEAK),
        ("desk lamp to 40 mate", [("set_brightness", {"brightness": 60}, "light.desk")], Level.NONE),
        ("desk lamp to 40 mate", [("turn_on", {}, "light.desk")], Level.NONE),
        ("desk lamp and kitchen radio on mate", [("turn_on", {}, "light.desk")], Level.NONE),
        ("the lamp in the kitchen mate", [("turn_on", {}, "light.desk")], Level.NONE),
        ("paint the desk lamp red", [("turn_on", {}, "light.desk")], Level.NONE),
        ("unlock the front door mate", [("lock", {}, "lock.front_door")], Level.NONE),
        ("lock the back door and unlock the front door mate", [("unlock", {}, "lock.front_door")], Level.NONE),
        (
            "dim the desk lamp and open the curtain mate",
            [("adjust_brightness", {"step": -20}, "light.desk")],
            Level.NONE,
        ),
        ("sure open the garage door", [("open_cover", {}, "cover.living_room_curtain")], Level.NONE),
        ("sure open the garage door", [("open_cover", {}, "cover.garage_door")], Level.FULL),
        ("mate open the blind", [("open_cover", {}, "cover.living_room_curtain")], Level.NONE),
        ("brighten the desc lamp mate", [("adjust_brightness", {"step": 20}, "light.desk")], Level.FULL),
    ],
)
def test_a_call_needs_its_device_its_verb_and_its_numbers(
    text: str,
    calls: list[tuple[str, Args, str]],
    level: Level,
    home: HomeView,
    words: dict[str, Words],
    templates: TemplateMap,
) -> None:
    assert judge(text, calls, home, words["en"], templates) is level
