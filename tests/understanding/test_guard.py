from __future__ import annotations

import pytest

from agentkit.understanding.guard import guard
from agentkit.understanding.words import Words


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("turn it on at 7", "time"),
        ("turn it on tomorrow", "time"),
        ("every evening close the blinds", "time"),
        ("off in ten minutes", "duration"),
        ("heat for half an hour", "duration"),
        ("close it when it rains", "condition"),
        ("do not open it", "negation"),
        ("everything but the lamp", "exception"),
        ("I opened the window", "report"),
    ],
)
def test_english_words_that_forbid_acting_at_once(text: str, kind: str, words: dict[str, Words]) -> None:
    # some sentences hold several; the first kind of the table is told
    hit = guard(text, words["en"])
    assert hit is not None
    assert hit.kind == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("七点开灯", "time"),
        ("明天关空调", "time"),
        ("半小时后关空调", "duration"),
        ("下雨的话关窗", "condition"),
        ("不要开灯", "negation"),
        ("除了台灯都关", "exception"),
    ],
)
def test_chinese_words_that_forbid_acting_at_once(text: str, kind: str, words: dict[str, Words]) -> None:
    hit = guard(text, words["zh"])
    assert hit is not None
    assert hit.kind == kind


@pytest.mark.parametrize("text", ["turn on the lamp", "set it to nine degrees", "make it a bit brighter"])
def test_plain_english_commands_pass(text: str, words: dict[str, Words]) -> None:
    assert guard(text, words["en"]) is None


@pytest.mark.parametrize("text", ["打开别墅的灯", "调亮一点", "点亮台灯", "把空调调到26度"])
def test_plain_chinese_commands_pass(text: str, words: dict[str, Words]) -> None:
    assert guard(text, words["zh"]) is None
