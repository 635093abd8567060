"""Sentences about timers, alarms and plans become one call, or are left to the other tiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentkit.devices.adapter import Area, Device
from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import detect_language, normalise
from agentkit.understanding.timer_tier import read_timer
from agentkit.understanding.words import Words

HOME = HomeView(
    (
        Device("switch.alarm", "Alarm", "switch", "hall"),
        Device("binary_sensor.smoke", "Smoke alarm", "binary_sensor", "hall"),
        Device("timer.nap", "Baby nap", "timer", "hall"),
    ),
    (Area("kitchen", "Kitchen", ("厨房",)), Area("hall", "Hall")),
)


@pytest.mark.parametrize(
    ("text", "tool", "args"),
    [
        ("set a ten minute pasta timer", "set_timer", {"name": "pasta", "seconds": 600}),
        ("set a timer", "set_timer", {}),
        ("could you start a timer for an hour and a half please", "set_timer", {"seconds": 5400}),
        ("start a 1 hour timer called Bread", "set_timer", {"name": "Bread", "seconds": 3600}),
        ("set the baby nap for 20 minutes", "set_timer", {"name": "baby nap", "seconds": 1200}),
        ("add two minutes to the pasta timer", "adjust_timer", {"name": "pasta", "seconds": 120}),
        ("take 5 minutes off the one hour timer", "adjust_timer", {"seconds": -300, "start_seconds": 3600}),
        ("remove 30 seconds from the timer in the kitchen", "adjust_timer", {"area": "Kitchen", "seconds": -30}),
        ("cancel the pasta timer", "cancel_timer", {"name": "pasta"}),
        ("stop the 5 minute timer", "cancel_timer", {"start_seconds": 300}),
        ("cancel all kitchen timers", "cancel_all_timers", {"area": "Kitchen"}),
        ("pause the timer", "pause_timer", {}),
        ("resume the 10 minute timer", "resume_timer", {"start_seconds": 600}),
        ("how much time is left on the pasta timer?", "timer_status", {"name": "pasta"}),
        ("wake me up at 7 tomorrow", "set_alarm", {"time": "7:00 +1"}),
        ("set an alarm for 6:30 am every weekday", "set_alarm", {"time": "06:30 every 1,2,3,4,5"}),
        ("set an alarm for 20 minutes", "set_timer", {"seconds": 1200}),
        ("cancel my 7 am alarm", "cancel_alarm", {"time": "07:00", "kind": "alarm"}),
        ("is my work alarm set", "alarm_status", {"name": "work"}),
        ("what is scheduled", "list_schedules", {}),
        ("cancel all schedules", "cancel_schedule", {"scope": "all"}),
        ("设置十分钟的煮蛋计时器", "set_timer", {"name": "煮蛋", "seconds": 600}),
        ("计时半小时", "set_timer", {"seconds": 1800}),
        ("把煮蛋计时器增加5分钟", "adjust_timer", {"name": "煮蛋", "seconds": 300}),
        ("1小时的计时器减少10分钟", "adjust_timer", {"seconds": -600, "start_seconds": 3600}),
        ("取消厨房计时器", "cancel_timer", {"area": "Kitchen"}),
        ("取消所有计时器", "cancel_all_timers", {}),
        ("煮蛋计时器还剩多久", "timer_status", {"name": "煮蛋"}),
        ("明天早上七点叫我起床", "set_alarm", {"time": "07:00 +1"}),
        ("我有哪些闹钟", "alarm_status", {}),
        ("有哪些定时任务", "list_schedules", {}),
    ],
)
def test_a_sentence_is_one_call(text: str, tool: str, args: Mapping[str, Any], words: dict[str, Words]) -> None:
    language = detect_language(text)
    found = read_timer(normalise(text, language, words[language]), words[language], HOME)
    assert [(i.tool, dict(i.args)) for i in found.intents] == [(tool, args)]


@pytest.mark.parametrize(
    "text",
    [
        "turn on the kitchen light",
        "turn on the alarm",
        "is the smoke alarm on",
        "set a timer for 5 minutes to open the blinds",
        "turn on the lights when the timer ends",
        "tell me a story about a timer",
        "when the temperature changes alert me",
        "计时器的历史是什么",
    ],
)
def test_anything_else_is_left_to_the_other_tiers(text: str, words: dict[str, Words]) -> None:
    language = detect_language(text)
    assert read_timer(normalise(text, language, words[language]), words[language], HOME).kind is Kind.NONE


def test_an_alarm_on_a_day_without_a_time_is_not_set(words: dict[str, Words]) -> None:
    found = read_timer(normalise("set an alarm for tomorrow", "en", words["en"]), words["en"], HOME)
    assert (found.kind, found.reply_values["kind"]) == (Kind.REFUSE, "vague")


@pytest.mark.parametrize("text", ["arm the alarm for an hour", "disarm the alarm at seven", "设一个三五分钟的计时器"])
def test_what_is_done_to_an_alarm_and_an_estimate_are_no_names(text: str, words: dict[str, Words]) -> None:
    language = detect_language(text)
    assert read_timer(normalise(text, language, words[language]), words[language], HOME).kind is not Kind.CALLS
