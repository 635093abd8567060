from __future__ import annotations

import pytest

from agentkit.types import Kind
from agentkit.understanding.guard import guard
from agentkit.understanding.words import Words

from .conftest import Ask


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("turn it on at 7", "time"),
        ("turn it on tomorrow", "time"),
        ("every evening close the blinds", "time"),
        ("off in ten minutes", "time"),
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


FORBIDDEN = (
    "don’t turn on the light",
    "don´t turn on the light",
    "donʼt turn on the light",
    "do n't turn on the light",
    "dnt turn on the light",
    "d\u043e n\u043et turn on the light",
    "n\u200bever turn on the light",
    "you mustn't turn on the light",
    "no need to turn on the light",
    "refrain from turning on the light",
    "stop turning on the light",
    "莫打开客厅灯",
    "休要打开客厅灯",
    "切勿打开客厅灯",
    "不可以打开客厅灯",
    "don't打开客厅灯",
    "never 打开客厅灯",
    "请别turn on the light",
    "turn on the light 不要",
)


@pytest.mark.parametrize("text", FORBIDDEN)
def test_a_negation_forbids_in_any_spelling_and_language(text: str, ask: Ask) -> None:
    found = ask(text)
    assert (found.kind, found.reply_key, found.reply_values["kind"]) == (Kind.REFUSE, "not_yet", "negation"), found


@pytest.mark.parametrize(
    "text",
    [
        "do not, I mean, turn on the light",
        "never, scratch that, turn on the light",
        "if it rains, no wait, turn on the light",
        "turn on the light at seven, no wait, turn on the fan",
        "千万别，我是说，打开客厅灯",
        "don't, I mean, 打开客厅灯",
    ],
)
def test_what_stood_before_a_correction_still_forbids(text: str, ask: Ask) -> None:
    found = ask(text)
    assert (found.kind, found.reply_key) == (Kind.REFUSE, "not_yet"), found


@pytest.mark.parametrize("text", ["孩子睡着以后，关客厅灯", "客人走的时候，打开客厅灯"])
def test_a_frame_is_not_cut_off_with_the_condition_in_it(text: str, ask: Ask) -> None:
    assert ask(text).kind is Kind.REFUSE


@pytest.mark.parametrize(
    "text",
    [
        'he said "turn on the light"',
        "'turn on the light' means what",
        'please write "turn on the light"',
        "他说“打开客厅灯”",
        "书上写着「打开客厅灯」",
        "妈妈说打开客厅灯",
        "她喊：“打开客厅灯”",
    ],
)
def test_words_of_somebody_else_do_not_act(text: str, ask: Ask) -> None:
    assert ask(text).kind is Kind.REFUSE


def test_quotes_around_a_name_or_the_whole_command_mean_nothing(ask: Ask) -> None:
    for text in ('turn on the "kitchen light"', '"turn on the kitchen light"', "“打开厨房灯”"):
        assert [i.tool for i in ask(text).intents] == ["turn_on"], text


def test_quoted_words_may_be_what_is_put_on_a_list(ask: Ask) -> None:
    assert [i.tool for i in ask('add "close the account" to my shopping list').intents] == ["add_to_list"]


@pytest.mark.parametrize(
    "text",
    [
        "before i leave lock the front door",
        "after dinner turn off the lights",
        "lock the front door beforehand",
        "lock the front door after",
        "以前锁上前门",
        "解锁前门以前",
        "锁上前门之前",
        "出门前锁上前门",
        "饭后关灯",
    ],
)
def test_before_and_after_what_is_no_time_are_never_now(text: str, ask: Ask) -> None:
    found = ask(text)
    assert (found.kind, found.reply_key) == (Kind.REFUSE, "not_yet")
