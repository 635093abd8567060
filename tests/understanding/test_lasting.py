"""How long something is to last is found and cut out; what is left is the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.understanding.holding import find_lasting, read_end
from agentkit.understanding.time_words import TimeWords, load_time_words
from agentkit.when import When, WhenKind

WORDS = Path(__file__).parents[2] / "apps" / "smart_home" / "words"


@pytest.fixture(scope="module")
def words() -> dict[str, TimeWords]:
    return {lang: load_time_words(WORDS / f"when_{lang}.yaml") for lang in ("en", "zh")}


def told(until: When) -> str:
    return until.spec() if until.hour is not None else f"{until.seconds:g} s"


@pytest.mark.parametrize(
    ("language", "text", "rest", "until"),
    [
        ("en", "switch the pump on for 90 seconds", "switch the pump on", "90 s"),
        ("en", "for two and a half hours switch the pump on", "switch the pump on", "9000 s"),
        ("en", "leave the pump on until 6", "turn the pump on", "6:00"),
        ("en", "keep the hall at 20 until six pm", "keep the hall at 20", "18:00"),
        ("en", "switch the pump on until tomorrow at 6 am", "switch the pump on", "06:00 +1"),
        ("en", "switch the pump on from 5 to 6 pm", "switch the pump on at 17:00", "18:00"),
        ("en", "switch the pump on from 11 to 2 pm", "switch the pump on at 11:00", "14:00"),
        ("en", "switch the pump on and off again in 4 minutes", "switch the pump on", "240 s"),
        ("en", "switch the pump on at 5 and off at 6", "switch the pump on at 5", "6:00"),
        ("zh", "打开水泵一刻钟", "打开水泵", "900 s"),
        ("zh", "开一刻钟水泵", "开水泵", "900 s"),
        ("zh", "水泵开着到晚上六点", "水泵开", "18:00"),
        ("zh", "下午五点到六点打开水泵", "17:00 打开水泵", "6:00"),
        ("zh", "打开水泵，四分钟后再关掉", "打开水泵", "240 s"),
    ],
)
def test_an_end_is_cut_out(language: str, text: str, rest: str, until: str, words: dict[str, TimeWords]) -> None:
    found = find_lasting(text, words[language])
    assert found is not None
    assert (found.rest, told(found.until)) == (rest, until)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "switch the pump on in 5 minutes"),
        ("en", "switch the pump on for a while"),
        ("en", "switch the pump on until I am back"),
        ("en", "switch the pump on until sunset"),
        ("en", "turn the heat up until 20 degrees"),
        ("en", "switch the pump on for 5 minutes or for 10 minutes"),
        ("en", "set a timer for 5 minutes and then switch the pump on"),
        ("en", "switch the pump on for the night"),
        ("en", "until 6"),
        ("zh", "五分钟后打开水泵"),
        ("zh", "水泵开了五分钟"),
        ("zh", "打开水泵一会儿"),
        ("zh", "打开水泵直到我回来"),
    ],
)
def test_what_tells_no_end_or_several_is_left_alone(language: str, text: str, words: dict[str, TimeWords]) -> None:
    assert find_lasting(text, words[language]) is None


def test_an_end_alone_is_read(words: dict[str, TimeWords]) -> None:
    assert read_end("until 6 pm", words["en"]) == When(WhenKind.AT, hour=18)
    assert read_end("for 5 minutes", words["en"]) == When(WhenKind.DELAY, 300.0)
    assert read_end("until 6 pm in the hall", words["en"]) is None
