from __future__ import annotations

import pytest

from agentkit.understanding.small_words import small_words
from agentkit.understanding.talk import Talk
from agentkit.understanding.words import Words

EN = Words(
    "en",
    yes=("yes",),
    no=("no",),
    cancel=("cancel that",),
    verbs={"unlock": ("unlock", "let … in"), "lock": ("lock", "bolt")},
    kinds={"lock": ("lock",)},
    talk=Talk(again=("once more",)),
    fillers=("the", "of"),
    it=("it", "that one"),
    everything=("all",),
    also=("and",),
    prepositions=("on",),
)
ZH = Words("zh", yes=("是",), no=("不",), fillers=("的",), everything=("全部",), it=("它",))


@pytest.mark.parametrize("name", ["the", "The", "THE!", "  all ", "that one", "on", "它", "全部", "的"])
def test_a_name_that_is_only_a_small_word_of_any_language_is_one(name: str) -> None:
    assert small_words([EN, ZH])(name)


@pytest.mark.parametrize(
    "name",
    ["yes", "No!", "YES the", "the yes", "Cancel that", "unlock", "bolt", "once more", "是", "不", "是的", "yes no"],
)
def test_a_name_that_would_be_an_answer_or_a_verb_is_one(name: str) -> None:
    assert small_words([EN, ZH])(name)


@pytest.mark.parametrize("name", ["Lock", "Unlocker", "Nolan", "Yes lamp", "不锈钢灯", "No Frost Fridge"])
def test_a_name_that_only_begins_like_an_answer_or_is_a_kind_is_none(name: str) -> None:
    assert not small_words([EN, ZH])(name)


@pytest.mark.parametrize("name", ["the lamp", "Lamp", "theatre", "全部灯", "灯", "All-day light", "!"])
def test_a_name_that_holds_more_is_none(name: str) -> None:
    assert not small_words([EN, ZH])(name)
