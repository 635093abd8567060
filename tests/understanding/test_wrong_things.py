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
    (intent,) = ask("turn off the lamp", view).intents
    assert intent.selector.is_one
    assert set(intent.selector.device_ids) == {"light.floor_lamp", "light.reading"}


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


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("turn on the coffee machine light", "coffee machine light"),
        ("turn on the water heater light", "water heater light"),
        ("turn on the tv fan", "tv fan"),
        ("turn on the vacuum light", "vacuum light"),
        ("open the garage door light", "garage door light"),
        ("turn on the oven light at nine in the evening", "oven light"),
        ("打开咖啡机灯", "咖啡机灯"),
        ("打开热水器的风扇", "热水器的风扇"),
        ("关掉报警器的灯", "报警器的灯"),
        ("打开车库门锁", "车库门锁"),
    ],
)
def test_a_kind_behind_the_name_of_something_else_makes_another_thing(text: str, name: str, ask: Ask) -> None:
    found = ask(text)
    assert (found.kind, found.reply_key) == (Kind.REFUSE, "unknown_device")
    assert found.reply_values["name"] == name


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("turn on the floor lamp light", "light.floor_lamp"),
        ("turn on the kitchen light switch", "light.kitchen"),
        ("turn off the tv set", "media_player.living_room_tv"),
        ("turn on the coffee machine switch", "switch.coffee_machine"),
        ("lock the front door lock", "lock.front_door"),
        ("打开卧室风扇电扇", "fan.bedroom"),
        ("把大门锁", "lock.front_door"),
    ],
)
def test_a_kind_that_fits_may_stand_behind_a_name(text: str, device: str, ask: Ask, home: HomeView) -> None:
    assert reached(text, ask, home) == [device]


@pytest.mark.parametrize("text", ["打开电暖器", "打开取暖器", "turn on the electric heater"])
def test_an_electric_heater_is_no_floor_heating_unless_called_so(text: str, ask: Ask, home: HomeView) -> None:
    assert reached(text, ask, home) == []
    called = tuple(replace(d, aliases=(*d.aliases, "电暖器")) for d in home.devices if d.id == "climate.heating")
    kept = tuple(d for d in home.devices if d.id != "climate.heating")
    assert reached("打开电暖器", ask, replace(home, devices=(*kept, *called))) == ["climate.heating"]


@pytest.mark.parametrize("text", ["窗帘，拉上客厅窗帘", "the curtain, close the living room curtain"])
def test_a_kind_may_lead_up_to_the_device(text: str, ask: Ask, home: HomeView) -> None:
    assert reached(text, ask, home) == ["cover.living_room_curtain"]


@pytest.mark.parametrize("text", ["fan, close the living room curtain", "灯，拉上客厅窗帘"])
def test_another_kind_does_not_lead_up_to_it(text: str, ask: Ask) -> None:
    found = ask(text)
    assert found.needs_confirmation or not found.intents


@pytest.mark.parametrize(
    "text", ["turn up the radio in the bedroom", "卧室收音机大声点", "turn off the stereo in the bedroom"]
)
def test_a_thing_with_a_name_of_its_own_is_not_another_of_its_class_elsewhere(text: str, ask: Ask) -> None:
    assert not ask(text).intents


def test_a_word_for_the_class_is_still_enough(ask: Ask, home: HomeView) -> None:
    assert reached("turn down the speakers upstairs", ask, home) == ["media_player.bedroom_speaker"]
    assert reached("turn up the radio in the kitchen", ask, home) == ["media_player.kitchen_radio"]


def test_what_stands_next_to_a_device_skips_nothing_on_it(ask: Ask) -> None:
    assert not ask("turn on the lamp next to the tv").intents


def test_a_light_fan_is_no_gentle_fan(ask: Ask) -> None:
    assert not ask("turn on the ceiling light fan").intents


def test_a_reason_behind_a_command_is_no_second_command(ask: Ask, home: HomeView) -> None:
    assert reached("put the heating up a bit it's freezing in here", ask, home) == ["climate.heating"]
    assert not ask("turn on the fan when it's hot").intents


@pytest.mark.parametrize(
    "text", ["打开卧室台灯", "把卧室台灯打开", "关掉客厅床头灯", "turn on the kitchen bedside lamp"]
)
def test_a_lamp_of_another_room_is_not_every_light_here(text: str, ask: Ask) -> None:
    assert not ask(text).intents


def test_a_name_in_free_text_is_passed_over(ask: Ask) -> None:
    assert ask("add desk lamp to the shopping list").intents[0].args["item"] == "desk lamp"


@pytest.mark.parametrize("text", ["vacuum the kitchen and the hallway", "打扫厨房和客厅"])
def test_of_two_rooms_to_clean_none_is_passed_over(text: str, ask: Ask, home: HomeView) -> None:
    assert reached(text, ask, home) == []


@pytest.mark.parametrize("text", ["关掉电视、音箱", "turn off the tv, the speaker", "turn off the tv, fan"])
def test_a_comma_parts_a_name_from_a_kind(text: str, ask: Ask, home: HomeView) -> None:
    assert len(reached(text, ask, home)) == 2


@pytest.mark.parametrize(
    ("text", "tool", "value"),
    [
        ("make the bedroom a touch cooler, 22 degrees", "set_temperature", 22),
        ("make the bedroom warmer, 24 degrees", "set_temperature", 24),
        ("turn the bedroom temperature down a little to 19 degrees", "set_temperature", 19),
        ("dim the kitchen light a bit to 30 percent", "set_brightness", 30),
        ("make the kitchen light a little brighter, 70 percent", "set_brightness", 70),
        ("make the bedroom 2 degrees cooler", "adjust_temperature", -2),
        ("make the bedroom warmer by 3 degrees", "adjust_temperature", 3),
    ],
)
def test_a_number_too_large_for_a_difference_is_what_is_to_be_reached(
    text: str, tool: str, value: int, ask: Ask
) -> None:
    (intent,) = ask(text).intents
    assert (intent.tool, list(intent.args.values())) == (tool, [value])


@pytest.mark.parametrize(
    ("text", "tool", "device"),
    [
        ("let some sunlight into the bedroom", "open_cover", "cover.bedroom_curtain"),
        ("let in the sunshine", "open_cover", "cover.living_room_curtain"),
        ("keep the sun out of the bedroom", "close_cover", "cover.bedroom_curtain"),
    ],
)
def test_daylight_comes_through_what_covers_the_window(
    text: str, tool: str, device: str, ask: Ask, home: HomeView
) -> None:
    (intent,) = ask(text).intents
    assert intent.tool == tool
    assert device in [d.id for d in select(intent.selector, home)]


@pytest.mark.parametrize(
    "text",
    ["close the garage door while i am upstairs", "turn off the kitchen radio while we're on the phone"],
)
def test_what_holds_meanwhile_is_asked_about(text: str, ask: Ask) -> None:
    found = ask(text)
    assert len(found.intents) == 1
    assert found.needs_confirmation


@pytest.mark.parametrize(
    "text", ["turn off the fan while the oven is on", "is the oven on while i am out", "mute it while i open the gate"]
)
def test_a_meanwhile_that_may_be_a_condition_moves_nothing(text: str, ask: Ask) -> None:
    assert ask(text).kind is not Kind.CALLS
