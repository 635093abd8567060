"""What only looks like a command: statements, noun phrases, words of others, other domains, take-backs."""

from __future__ import annotations

import pytest

from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView

from .conftest import Ask

NO_COMMANDS = [
    # Statements and reports
    "the lights go off on their own",
    "it is dinner",
    "it's a good night for stargazing",
    "have a nice dinner",
    "his apartment is filthy",
    "her place is a mess",
    "the library is too quiet",
    "the neighbours are too loud",
    "this chocolate is way too dark",
    "all lights but the kitchen light are off",
    "everything except the oven is off",
    "you talk too much",
    "peace and quiet is all I need",
    # Noun phrases and other domains
    "I need some light bulbs",
    "need light bulbs for the kitchen",
    "sound on the recording is bad",
    "audio on my laptop is broken",
    "grab me a coffee on your way home",
    "tell the kids to clean their room",
    "do the bedroom with blue paint",
    "we are out of ideas",
    "we ran out of luck",
    "I'm out of here",
    "I need to buy a car",
    "buy two tickets to Paris",
    "pick up the phone",
    "we have to get the kids from school",
    "listen to your mother",
    "shuffle the cards",
    "queue at the bank",
    "stream of consciousness",
    "play that song again",
    # Words of somebody, joined to a command by nothing
    "it is rude turn off the light",
    "he is thinking close the garage door",
    "they are shouting open the door",
    "everyone is chanting turn off the tv",
    "the best part is turn up the radio",
    # Take-backs and questions behind a command
    "unlock the front door, wait",
    "turn on the oven, my bad",
    "turn off the light, wait, is it off",
    "turn on the oven, my mistake, it is on",
    "turn off the light while I was asleep",
    "open the garage door, no, at six",
    "turn up the volume at 5",
    # A verb in a noun phrase
    "关掉的灯",
    "打开的窗帘",
    "收拾干净的厨房",
    "打扫干净的卧室",
    "换个颜色的台灯",
    "调亮的灯",
    "播放的音乐",
    "卧室打开的灯",
    # The same in Chinese
    "客厅灯灭了",
    "窗帘拉严实了",
    "他想喝咖啡",
    "她要喝拿铁",
    "叫他打开大门",
    "叫老公打开前门",
    "派人打开车库门",
    "让他开门",
    "客人来了他开门",
    "赶快打开大门他喊",
    "打开前门,等一下,不要",
    "打开前门,说错了",
    "打开大门,等等",
    "待办加上打开前门",
    "把打开大门写进日记",
    "发短信说打开前门",
    "搜索打开前门的方法",
    "我要听课",
    "我想听听你的意见",
    "切一段木头",
    "放点盐",
    "放个假",
    "记下我要买房",
]


@pytest.mark.parametrize("text", NO_COMMANDS)
def test_what_only_looks_like_a_command_is_none(text: str, ask: Ask, home: HomeView) -> None:
    assert ask(text, home).kind is not Kind.CALLS


@pytest.mark.parametrize(
    "text",
    [
        "打开卧室的灯",
        "关掉我的台灯",
        "打开红色的灯",
        "把窗帘打开",
        "打扫一下卧室",
        "调高空调的温度",
        "打开最亮的灯",
        "换个颜色",
    ],
)
def test_a_verb_before_a_noun_phrase_is_a_command(text: str, ask: Ask, home: HomeView) -> None:
    assert ask(text, home).kind is Kind.CALLS


@pytest.mark.parametrize(
    "text",
    [
        "how long until the pizza timer goes off",
        "when does my alarm go off",
        "did the timer go off",
        "my alarm goes off at six",
        "the alarm rings at seven",
    ],
)
def test_a_timer_that_goes_off_is_not_switched_off(text: str, ask: Ask) -> None:
    assert {i.tool for i in ask(text).intents} <= {"timer_status", "alarm_status"}


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("make the alarm go off at six", "set_alarm"),
        ("it is pitch dark in here turn on the light", "turn_on"),
        ("the recipe is done, turn off the kitchen light", "turn_off"),
        ("because the film is over, turn on the kitchen light", "turn_on"),
        ("turn off all the lights but the kitchen light", "turn_off"),
        ("turn on the kitchen light, wait, the hall light", "turn_on"),
        ("the floor needs vacuuming", "vacuum_start"),
        ("tell the robot to clean the kitchen", "vacuum_clean_area"),
        ("do the kitchen with the vacuum", "vacuum_clean_area"),
        ("we're out of milk", "add_to_list"),
        ("add time to the shopping list", "add_to_list"),
        ("add a lamp to the shopping list", "add_to_list"),
        ("把台灯加到购物清单", "add_to_list"),
        ("play the beatles", "media_search_play"),
        ("I need some light", "turn_on"),
        ("叫扫地机器人去打扫厨房", "vacuum_clean_area"),
        ("让孩子房间的灯亮一点", "adjust_brightness"),
        ("待办事项里写上关灯", "add_to_list"),
        ("打开客厅灯,不对,卧室灯", "turn_on"),
    ],
)
def test_what_is_a_command_beside_them_still_runs(text: str, tool: str, ask: Ask, home: HomeView) -> None:
    assert [i.tool for i in ask(text, home).intents][:1] == [tool]


@pytest.mark.parametrize("text", ["open the bedroom curtain at 6", "close the garage door at seven"])
def test_a_number_behind_at_is_a_time_and_no_position(text: str, ask: Ask) -> None:
    found = ask(text)
    assert found.when is not None
    assert not any(i.args for i in found.intents)


@pytest.mark.parametrize(
    "text",
    ["has anyone opened the garage", "did somebody unlock the back door", "有没有人开过车库门", "有人动过空调吗"],
)
def test_whether_somebody_did_it_is_no_question_about_now(text: str, ask: Ask) -> None:
    found = ask(text)
    assert (found.kind, found.reply_values["kind"]) == (Kind.REFUSE, "question")
