"""The trained weights on sentences of our own that the generator cannot say."""

from __future__ import annotations

import pytest

from agentkit.errors import DecoderError
from agentkit.types import Kind, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import normalise
from agentkit.understanding.pointer.tier import PointerTier
from agentkit.understanding.selecting import select
from tests.understanding.pointer.conftest import Ask

COMMANDS = [
    ("my brother left so please get the hallway light off again", "turn_off", {"light.hallway"}),
    ("would you be a star and switch the kitchen light on", "turn_on", {"light.kitchen"}),
    ("granny wants the floor lamp on", "turn_on", {"light.floor_lamp"}),
    ("ok now the bedside lamp needs to go out", "turn_off", {"light.bedside"}),
    ("grandpa is parking, garage light on please", "turn_on", {"light.garage"}),
    ("get us the chandelier going, we are about to eat", "turn_on", {"light.dining_room"}),
    ("老伴啊麻烦你把走廊灯给灭了吧", "turn_off", {"light.hallway"}),
    ("厨房灯帮我给开开行吗", "turn_on", {"light.kitchen"}),
    ("那个床头灯啊,给它关了算了", "turn_off", {"light.bedside"}),
    ("爷爷要停车,把车库灯开开", "turn_on", {"light.garage"}),
    ("落地灯可以熄了", "turn_off", {"light.floor_lamp"}),
    ("餐厅灯给整开", "turn_on", {"light.dining_room"}),
]


def test_most_commands_in_other_words_are_understood_and_none_is_misread(ask_model: Ask, home: HomeView) -> None:
    n_right = 0
    for text, tool, device_ids in COMMANDS:
        found = ask_model(text)
        if found.kind is Kind.REFUSE:
            continue
        assert [i.tool for i in found.intents] == [tool], (text, found.why)
        assert {d.id for i in found.intents for d in select(i.selector, home)} == device_ids, (text, found.why)
        n_right += 1
    assert n_right >= 9


@pytest.mark.parametrize(
    "text",
    [
        "what is the tallest mountain in peru",
        "my credit card was stolen last night",
        "can you order two pizzas",
        "the lamp shop in town was closed",
        "he is such a fan of that band",
        "明天的机票多少钱",
        "我的手机屏幕碎了",
        "附近有没有好吃的面馆",
        "他是那个歌手的粉丝",
        "purple monkey dishwasher seven",
    ],
)
def test_what_is_not_about_the_home_is_refused(text: str, ask_model: Ask) -> None:
    found = ask_model(text)
    assert found.kind is Kind.REFUSE, found.why


@pytest.mark.parametrize(
    "text",
    ["do not turn on the kitchen light", "turn on the kitchen light when it rains", "别开厨房灯", "下雨的话打开厨房灯"],
)
def test_what_must_not_run_now_is_no_sure_call_even_without_the_guards(text: str, ask_model: Ask) -> None:
    found = ask_model(text)
    assert found.kind is Kind.REFUSE or found.needs_confirmation, found.why


def test_hint_is_asked_about(ask_model: Ask) -> None:
    found = ask_model("it's so dark in here")
    assert found.kind is Kind.REFUSE or found.needs_confirmation


def test_answer_tells_how_sure_it_is(ask_model: Ask) -> None:
    found = ask_model("granny wants the floor lamp on")
    assert found.path == "model"
    assert "home model: [turn_on]" in found.why
    assert ", p " in found.why
    assert "evidence" in found.why


@pytest.mark.parametrize("text", ["we should have the desk lamp on", "落地灯可以熄了"])
def test_call_that_is_sure_and_said_in_full_runs_at_once(text: str, ask_model: Ask) -> None:
    found = ask_model(text)
    assert found.kind is Kind.CALLS
    assert not found.needs_confirmation, found.why


@pytest.mark.parametrize("text", ["we should have the zeppelin lamp on", "are we having the desk lamp on"])
def test_call_with_a_doubt_never_runs_at_once(text: str, ask_model: Ask) -> None:
    found = ask_model(text)
    assert found.kind is Kind.REFUSE or found.needs_confirmation, found.why


def test_long_text_is_not_read(ask_model: Ask) -> None:
    assert ask_model("turn on the light " * 30).reply_key == "too_long"


def test_model_that_fails_is_a_refusal(tier: PointerTier, home: HomeView, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise DecoderError("no target is left")

    monkeypatch.setattr(tier._decoder, "generate", fail)
    words = tier._words["en"]
    assert tier.understand(normalise("turn on the lamp", "en", words), home).reply_key == "model_failed"


def test_call_that_fits_another_device_as_well_is_asked_about(ask_model: Ask, home: HomeView) -> None:
    """Every call of the model that runs at once must be the only one that the sentence can mean."""
    for text in ("ok then start the living room light", "给客厅灯弄亮"):
        found = ask_model(text)
        if found.kind is Kind.CALLS and not found.needs_confirmation:
            called = {d.id for i in found.intents for d in select(i.selector, home)}
            kind = Selector(areas=("living_room",), types=("light",))
            assert called == {d.id for d in select(kind, home)} or len(called) == 1
