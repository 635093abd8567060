"""A reading that need not use every word names the clause it has nothing for, and a span of time is no value."""

from __future__ import annotations

import pytest

from agentkit.types import Intent, Kind, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.leftover import passed_over
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import detect_language, normalise
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.words import Words

from .conftest import Ask

OFF = Intent("turn_off", {}, Selector(device_ids=("light.hallway",)))
BLUE = Intent("set_color", {"color": "blue"}, Selector(device_ids=("light.floor_lamp",)))


def left(text: str, intents: list[Intent], home: HomeView, words: dict[str, Words], templates: TemplateMap) -> str:
    own = words[detect_language(text)]
    said = normalise(text, own.language, own)
    return passed_over(said, intents, Lexicon(home, own), home, own, templates.phrases)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("switch off the hall light and walk the dog", "walk the dog"),
        ("switch off the hall light, then ring my brother", "ring my brother"),
        ("switch the hall light off and back on again", "back on again"),
        ("关走廊灯，顺便浇花", "浇花"),
        ("关走廊灯和擦桌子", "擦桌子"),
        ("关走廊灯你傻啊你", "你傻啊你"),
    ],
)
def test_a_clause_without_a_call_is_named(
    text: str, part: str, home: HomeView, words: dict[str, Words], templates: TemplateMap
) -> None:
    assert left(text, [OFF], home, words, templates) == part


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("switch off the hall light mate", [OFF]),
        ("I am off, so switch off the hall light", [OFF]),
        ("switch on the floor lamp and make it blue mate", [BLUE]),
        ("麻烦关一下走廊灯", [OFF]),
    ],
)
def test_words_around_a_command_are_no_clause(
    text: str, intents: list[Intent], home: HomeView, words: dict[str, Words], templates: TemplateMap
) -> None:
    assert left(text, intents, home, words, templates) == ""


@pytest.mark.parametrize(
    ("text", "start", "until"),
    [
        ("switch the desk lamp on from 6 to 9", "6:00", "9:00"),
        ("switch the desk lamp on from 6 pm to 9 pm", "18:00", "21:00"),
        ("switch the desk lamp on from six to nine pm", "18:00", "21:00"),
        ("open the bedroom curtain from 7 to 9", "7:00", "9:00"),
        ("start the speaker from 3 to 5", "3:00", "5:00"),
        ("turn on the bedroom fan from 3 to 5", "3:00", "5:00"),
        ("打开台灯到晚上九点", None, "21:00"),
        ("台灯开到九点", None, "9:00"),
        ("空调开到早上六点", None, "06:00"),
    ],
)
def test_a_span_of_time_is_no_value(text: str, start: str | None, until: str, ask: Ask) -> None:
    found = ask(text)
    assert [dict(i.args) for i in found.intents] == [{}]
    assert found.when is not None
    assert found.when.until is not None
    assert (found.when.start and found.when.start.spec(), found.when.until.spec()) == (start, until)


@pytest.mark.parametrize(
    "text", ["the desk lamp from 6 pm to 9 pm", "卧室空调到九点关", "switch the desk lamp on before 9 pm"]
)
def test_a_span_of_time_without_a_command_is_refused(text: str, ask: Ask) -> None:
    found = ask(text)
    assert (found.kind, found.intents, found.when) == (Kind.REFUSE, (), None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("dim the desk lamp from 20 to 10", 10),
        ("switch on the desk lamp from 10 to 20 percent", 20),
        ("turn the speaker up from 10 to 20", 20),
        ("change the bedroom ac from 24 to 21", 21),
        ("把台灯从20调到10", None),
        ("空调开到二十度", 20),
    ],
)
def test_a_value_that_is_left_for_another_is_no_span(text: str, value: int | None, ask: Ask) -> None:
    found = ask(text)
    assert value is None or any(value in i.args.values() for i in found.intents)
    assert found.reply_values.get("kind") not in ("range", "until")


@pytest.mark.parametrize(
    "text",
    [
        "I'm about to lock the back door",
        "she's going to open the curtain",
        "we'll switch off the hall light",
        "you never close the garage door",
        "I'll go and dim the desk lamp",
        "我这就去把台灯关了",
        "我来锁后门",
        "你敢开台灯试试",
        "再动台灯，再开一下试试看",
    ],
)
def test_what_somebody_is_about_to_do_himself_is_no_command(text: str, ask: Ask) -> None:
    found = ask(text)
    assert (found.kind, found.reply_values.get("kind")) == (Kind.REFUSE, "report")


@pytest.mark.parametrize("text", ["I'm going to bed, switch off the hall light", "我要睡了，关走廊灯"])
def test_what_somebody_does_beside_a_command_leaves_it_one(text: str, ask: Ask) -> None:
    assert [i.tool for i in ask(text).intents] == ["turn_off"]
