"""Times in sentences, in both languages: what is due when, what is left to do, and what cannot be kept."""

from __future__ import annotations

from datetime import datetime

import pytest

from agentkit.understanding.durations import find_durations, read_duration
from agentkit.understanding.normalise import detect_language
from agentkit.understanding.when import Found, find_when
from agentkit.understanding.words import Words

THURSDAY_NOON = datetime(2026, 1, 15, 12, 0)


def find(text: str, words: dict[str, Words]) -> Found:
    return find_when(text, words[detect_language(text)].time)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("ten minutes", 600),
        ("an hour and a half", 5400),
        ("half an hour", 1800),
        ("two and a half hours", 9000),
        ("1 hour 30 seconds", 3630),
        ("one hour and ten minutes", 4200),
        ("a couple of hours", 7200),
        ("45 secs", 45),
        ("半小时", 1800),
        ("一个半小时", 5400),
        ("1小时30秒", 3630),
        ("两个钟", 7200),
        ("十分钟", 600),
        ("两分半", 150),
        ("一刻钟", 900),
        ("三個鐘頭", 10800),
    ],
)
def test_a_length_of_time_is_read(text: str, seconds: float, words: dict[str, Words]) -> None:
    assert read_duration(text, words[detect_language(text)].time) == seconds


@pytest.mark.parametrize("text", ["", "ten", "the second lamp", "minutes", "灯", "十"])
def test_what_is_no_length_is_none(text: str, words: dict[str, Words]) -> None:
    assert read_duration(text, words[detect_language(text)].time) is None


def test_two_lengths_in_a_row_of_the_same_unit_stay_two(words: dict[str, Words]) -> None:
    found = find_durations("add 5 minutes to the 10 minute one", words["en"].time)
    assert [d.seconds for d in found] == [300, 600]


@pytest.mark.parametrize(
    ("text", "due", "rest"),
    [
        ("turn off the lamp in ten minutes", "15 12:10", "turn off the lamp"),
        ("after 5 minutes open the blind", "15 12:05", "open the blind"),
        ("turn on the fan two hours from now", "15 14:00", "turn on the fan"),
        ("turn it on at nine", "15 21:00", "turn it on"),
        ("turn on the heater at 7:30 pm", "15 19:30", "turn on the heater"),
        ("turn on the heater at 8PM", "15 20:00", "turn on the heater"),
        ("at half past six turn on the fan", "15 18:30", "turn on the fan"),
        ("turn on the fan at quarter to eight in the evening", "15 19:45", "turn on the fan"),
        ("turn on the fan tomorrow morning at seven", "16 07:00", "turn on the fan"),
        ("lock the door on Friday at 10 pm", "16 22:00", "lock the door"),
        ("tonight at eight turn off the tv", "15 20:00", "turn off the tv"),
        ("open the blinds at noon tomorrow", "16 12:00", "open the blinds"),
        ("turn on the ac at 10 on january 20th", "20 10:00", "turn on the ac"),
        ("set a timer for 5 minutes to turn off the tv", "15 12:05", "turn off the tv"),
        ("every weekday at 7 open the blinds", "16 07:00", "open the blinds"),
        ("turn on the lamp every two hours", "15 14:00", "turn on the lamp"),
        ("十分钟后关灯", "15 12:10", "关灯"),
        ("过半小时打开空调", "15 12:30", "打开空调"),
        ("倒數5分鐘後關燈", "15 12:05", "關燈"),
        ("明天早上七点打开窗帘", "16 07:00", "打开窗帘"),
        ("今晚八点半关灯", "15 20:30", "关灯"),
        ("下午3点15分关灯", "15 15:15", "关灯"),
        ("晚上12点关灯", "16 00:00", "关灯"),
        ("凌晨1点关灯", "16 01:00", "关灯"),
        ("周五上午9点打开空调", "16 09:00", "打开空调"),
        ("下周一早上8点开灯", "19 08:00", "开灯"),
        ("每天早上七点打开窗帘", "16 07:00", "打开窗帘"),
        ("工作日七点打开灯", "16 07:00", "打开灯"),
        ("20:30关灯", "15 20:30", "关灯"),
        ("1月20日早上8点开灯", "20 08:00", "开灯"),
    ],
)
def test_a_time_is_cut_out_of_its_command(text: str, due: str, rest: str, words: dict[str, Words]) -> None:
    found = find(text, words)
    assert found.when is not None, found
    moment = found.when.due(THURSDAY_NOON)
    assert moment is not None
    assert (f"{moment:%d %H:%M}", found.rest) == (due, rest)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("turn the lamp on for ten minutes", "duration"),
        ("开灯十分钟", "duration"),
        ("open the blinds at sunset", "sun"),
        ("日落时关窗帘", "sun"),
        ("keep the lamp on until 9 pm", "until"),
        ("turn on the ac between 7 pm and 8 pm", "range"),
        ("turn off the tv tonight", "vague"),
        ("明天打开空调", "vague"),
        ("open at seven and close at nine", "several"),
        ("turn on the lamp in 900 days", "too_far"),
    ],
)
def test_what_cannot_be_kept_is_named(text: str, problem: str, words: dict[str, Words]) -> None:
    found = find(text, words)
    assert (found.when, found.problem) == (None, problem)


@pytest.mark.parametrize(
    "text",
    [
        "turn on the lamp",
        "turn on the second lamp",
        "set the lamp to 20 %",
        "turn on the ac at 20 degrees",
        "把灯调亮一点",
    ],
)
def test_a_sentence_without_a_time_is_left_alone(text: str, words: dict[str, Words]) -> None:
    assert find(text, words) == Found(rest=text)


@pytest.mark.parametrize(
    "text",
    [
        "open the bedroom curtain at half half past seven",
        "open the bedroom curtain in half half an hour",
        "早上七点半半拉开卧室窗帘",
        "半半小时后拉开卧室窗帘",
    ],
)
def test_a_half_too_many_makes_no_time(text: str, words: dict[str, Words]) -> None:
    assert find(text, words).when is None
    assert find(text, words).problem == "vague"


@pytest.mark.parametrize(
    ("text", "rest"),
    [("open the bedroom curtain half way at 9 pm", "open the bedroom curtain half way"), ("晚上九点开一半", "开一半")],
)
def test_a_half_of_its_own_stays_in_the_command(text: str, rest: str, words: dict[str, Words]) -> None:
    assert find(text, words).rest == rest


@pytest.mark.parametrize("text", ["set the hall ac to 22 and the bedroom one to 24", "the second one to nine"])
def test_one_to_is_no_minute_to_an_hour(text: str, words: dict[str, Words]) -> None:
    assert find(text, words).when is None


@pytest.mark.parametrize(("text", "minute"), [("at ten to nine pm", 50), ("at two minutes to nine pm", 58)])
def test_minutes_to_an_hour_are_kept(text: str, minute: int, words: dict[str, Words]) -> None:
    when = find(text, words).when
    assert when is not None
    assert (when.hour, when.minute) == (20, minute)


@pytest.mark.parametrize("text", ["两三分钟后关灯", "八点二三十分关灯", "一两点关灯"])
def test_an_estimate_is_no_time(text: str, words: dict[str, Words]) -> None:
    assert find(text, words).when is None


@pytest.mark.parametrize("text", ["turn it off at ten to", "turn it off at twenty past", "by quarter past turn it off"])
def test_minutes_past_no_hour_are_vague(text: str, words: dict[str, Words]) -> None:
    assert (find(text, words).when, find(text, words).problem) == (None, "vague")
