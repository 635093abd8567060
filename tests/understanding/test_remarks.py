"""Remarks, complaints about what is off, and what is only offered: never done without a yes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.config import App
from agentkit.devices.adapter import Area, Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, normalise
from agentkit.understanding.remarks import asked_about, offered
from agentkit.understanding.selecting import select
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words

from .conftest import Ask

COTTAGE = HomeView(
    devices=(
        Device("light.y", "Yard Lamp", "light", "yard"),
        Device("light.n", "Nook Lamp", "light", "nook"),
        Device("scene.tea", "Tea", "scene"),
        Device("lock.b", "Barn Door", "lock", "nook", state="unlocked"),
        Device("todo.s", "Shopping List", "todo", aliases=("购物清单",), attributes={"items": ["milk"]}),
        Device(
            "climate.a", "Nook AC", "climate", "nook", state="off", attributes={"hvac_modes": ["off", "cool", "heat"]}
        ),
        Device("climate.c", "Loft Cooler", "climate", "loft", state="off", attributes={"hvac_modes": ["off", "cool"]}),
    ),
    areas=(Area("yard", "Yard", aliases=("outside", "院子")), Area("nook", "Nook"), Area("loft", "Loft")),
    speaker_area="nook",
)


@pytest.mark.parametrize(
    "text",
    [
        "it is dark outside",
        "it's so dark in the yard",
        "Wow, it is getting dark outside",
        "it's time for tea",
        "it is almost time for tea",
    ],
)
def test_a_remark_is_no_wish_but_may_be_asked_about(text: str, ask: Ask) -> None:
    found = ask(text, COTTAGE)
    assert found.kind is not Kind.CALLS or found.needs_confirmation


@pytest.mark.parametrize("text", ["turn on the yard lamp", "it is dark in the nook", "turn on the light outside"])
def test_a_command_or_complaint_about_a_room_is_no_remark(text: str, ask: Ask) -> None:
    found = ask(text, COTTAGE)
    assert found.kind is Kind.CALLS
    assert not found.needs_confirmation


@pytest.mark.parametrize(
    "text",
    [
        "it is dark outside, turn on the nook lamp",
        "turn on the nook lamp, it is dark outside",
        "it's dark outside so turn on the nook lamp",
        "it is dark outside turn on the nook lamp",
        "it's time for tea, turn on the nook lamp",
    ],
)
def test_beside_a_remark_only_the_command_is_done(text: str, ask: Ask) -> None:
    found = ask(text, COTTAGE)
    assert [d.id for i in found.intents for d in select(i.selector, COTTAGE)] == ["light.n"]
    assert not found.needs_confirmation


@pytest.mark.parametrize(
    ("text", "mode"), [("I'm freezing", "heat"), ("it is too cold in here", "heat"), ("I'm too hot", "cool")]
)
def test_what_is_off_is_offered_to_be_switched_on(text: str, mode: str, ask: Ask) -> None:
    found = ask(text, COTTAGE)
    assert [(i.tool, i.args) for i in found.intents] == [("set_hvac_mode", {"mode": mode})]
    assert found.needs_confirmation


def test_what_is_off_is_offered_beside_another_command(ask: Ask) -> None:
    found = ask("I'm freezing, turn on the nook lamp", COTTAGE)
    assert [i.tool for i in found.intents] == ["set_hvac_mode", "turn_on"]
    assert found.needs_confirmation


def test_what_runs_is_adjusted_at_once(ask: Ask) -> None:
    devices = tuple(replace(d, state="heat") if d.id == "climate.a" else d for d in COTTAGE.devices)
    found = ask("I'm freezing", replace(COTTAGE, devices=devices))
    assert [i.tool for i in found.intents] == ["adjust_temperature"]
    assert not found.needs_confirmation


def test_what_cannot_heat_is_not_offered_for_the_cold(ask: Ask) -> None:
    found = ask("I'm freezing", replace(COTTAGE, speaker_area="loft"))
    assert "set_hvac_mode" not in [i.tool for i in found.intents]


def test_a_device_that_was_named_is_set_as_was_said(ask: Ask) -> None:
    assert [i.tool for i in ask("make the nook ac warmer", COTTAGE).intents] == ["adjust_temperature"]


def test_a_lock_is_only_offered_where_a_door_was_to_be_closed(ask: Ask) -> None:
    found = ask("close the barn door", COTTAGE)
    assert [i.tool for i in found.intents] == ["lock"]
    assert (found.needs_confirmation, found.reply_key) == (True, "only_locks")
    assert not ask("lock the barn door", COTTAGE).needs_confirmation
    assert not ask("lock the barn door", COTTAGE).reply_key


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("加点鸡蛋和酱油", ["鸡蛋", "酱油"]),
        ("买点苹果", ["苹果"]),
        ("add some flour and olive oil", ["flour", "olive oil"]),
        ("buy bananas", ["bananas"]),
    ],
)
def test_goods_without_a_list_are_offered_for_the_one_for_shopping(text: str, items: list[str], ask: Ask) -> None:
    found = ask(text, COTTAGE)
    assert [i.args.get("item") for i in found.intents] == items
    assert found.needs_confirmation


@pytest.mark.parametrize(
    "text",
    ["加点油", "加点盐", "加点热水", "买点股票", "add up the bill", "add a device", "add two numbers", "buy time"],
)
def test_what_is_no_goods_is_not_offered(text: str, ask: Ask) -> None:
    assert ask(text, COTTAGE).kind is not Kind.CALLS


def test_without_a_list_nothing_is_offered(ask: Ask) -> None:
    bare = replace(COTTAGE, devices=tuple(d for d in COTTAGE.devices if d.type != "todo"))
    assert ask("buy bananas", bare).kind is not Kind.CALLS


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [("把那个灯关一下", True), ("把灯关一下", False), ("把院子那个灯关一下", False)],
)
def test_a_model_that_picks_what_a_text_only_points_at_is_asked_about(
    text: str,
    is_asked: bool,
    app: App,
    understander: Understander,
    words: dict[str, Words],
    templates: TemplateMap,
) -> None:
    guess = Intent("turn_off", {}, Selector(device_ids=("light.n",), types=("light",)))
    found = Understanding(Kind.CALLS, (guess,), path="model")
    lexicon = understander.lexicon(COTTAGE, words["zh"])
    said = normalise(text, "zh", words["zh"])
    judged = asked_about(found, said, COTTAGE, words["zh"], templates.phrases, app.tools, lexicon)
    assert judged.needs_confirmation is is_asked


PORCH = HomeView(
    devices=(
        Device("binary_sensor.p", "Porch Hatch", "binary_sensor", "porch", aliases=("门廊小门",)),
        Device("light.p", "Porch Lamp", "light", "porch"),
    ),
    areas=(Area("porch", "Porch"),),
)


@pytest.mark.parametrize("text", ["close the porch hatch", "lock the porch hatch", "关上门廊小门"])
def test_what_can_only_be_read_is_said_to_be_so(text: str, ask: Ask) -> None:
    found = ask(text, PORCH)
    assert (found.kind, found.reply_key) == (Kind.REFUSE, "only_seen")
    assert found.reply_values == {"devices": ("binary_sensor.p",)}


@pytest.mark.parametrize(
    "text", ["is the porch hatch closed", "turn on the light at the porch hatch", "do not close the porch hatch"]
)
def test_a_question_a_ban_or_another_thing_is_answered_as_such(text: str, ask: Ask) -> None:
    assert ask(text, PORCH).reply_key != "only_seen"


def test_what_was_left_out_of_an_offer_is_nothing_in_its_command(app: App) -> None:
    words = Words("en", offers={r"nap time(?P<where> in the nook)?": "turn off the lamp{where}"})
    unclear = Understanding(Kind.REFUSE, reply_key="not_understood")
    read: list[str] = []

    def understand(text: Normalised) -> Understanding:
        read.append(text.text)
        return unclear

    offered(unclear, normalise("nap time", "en", words), COTTAGE, words, app.tools, understand)

    assert read == ["turn off the lamp"]
