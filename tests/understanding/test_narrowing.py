from __future__ import annotations

import pytest
from hassil.intents import Intents, SlotList, TextSlotList
from hassil.numbers import get_rbnf_engine
from hassil.recognize import recognize_all

from agentkit.understanding.home_view import HomeView
from agentkit.understanding.narrowing import Pack
from agentkit.understanding.sentences import load_packs
from agentkit.understanding.slot_lists import build_lists
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.words import Words

SENTENCES = {
    "en": (
        "turn on the living room lights",
        "set the bedroom lamp to fifty percent",
        "living room brightness twenty-one",
        "kitchen light 30",
        "what is the temperature on the first floor",
        "add oat milk to my shopping list",
        "is the front door locked",
        "could the cat sing tomorrow",
    ),
    "zh": (
        "打开客厅的灯",
        "把卧室空调调到二十六度",
        "厨房灯百分之三十",
        "客厅灯两千七百开",
        "现在几点",
        "厨房 的 窗帘 关上",
        "明天会不会下雨",
    ),
}


def results(text: str, intents: Intents, lists: dict[str, SlotList], language: str) -> list[object]:
    found = recognize_all(text, intents, slot_lists=lists, intent_context={"area": "x"}, language=language)
    return [(r.intent.name, r.intent_sentence and r.intent_sentence.text, str(r.entities_list)) for r in found]


@pytest.mark.parametrize(("language", "text"), [(k, text) for k, texts in SENTENCES.items() for text in texts])
def test_a_narrowed_pack_matches_the_same_in_the_same_order(
    templates: TemplateMap, home: HomeView, words: dict[str, Words], language: str, text: str
) -> None:
    lists: dict[str, SlotList] = {**build_lists(home, words[language]).for_text(text)}
    for name, intents in load_packs(templates, language):
        narrowed = Pack(name, intents).narrowed(text, lists)
        assert results(text, narrowed, lists, language) == results(text, intents, lists, language)


def test_a_template_goes_if_its_list_is_empty_or_its_words_are_missing() -> None:
    data = {"sentences": ["switch on {name}", "switch on [the] (lamp|{area} lamp)", "<off> {name}", "stop [{area}]"]}
    raw = {"language": "en", "intents": {"One": {"data": [data]}}, "expansion_rules": {"off": "(switch|turn) off"}}
    pack = Pack("en", Intents.from_dict(raw))

    def left(text: str, **lists: list[str]) -> list[str]:
        given: dict[str, SlotList] = {k: TextSlotList.from_strings(v, name=k) for k, v in lists.items()}
        return [t for i in pack.narrowed(text, given).intents.values() for d in i.data for t in d.sentence_texts]

    assert left("switch on it", name=["it"], area=[]) == ["switch on {name}"]
    assert left("switch on the lamp", name=[], area=[]) == ["switch on [the] (lamp|{area} lamp)"]
    assert left("turn off it", name=["it"], area=[]) == ["<off> {name}"]
    assert left("stop", name=[], area=[]) == ["stop [{area}]"]


def test_a_template_goes_if_no_value_of_its_list_is_said_or_no_device_of_its_type_is_named() -> None:
    lamps = {"sentences": ["{name} {shade}"], "requires_context": {"domain": ["light"]}}
    anything = {"sentences": ["{name} {shade}", "{name} {free}"]}
    shades = {"values": [{"in": "(dark|deep) red", "out": "red"}, {"in": "[sky] blue", "out": "blue"}]}
    raw = {
        "language": "en",
        "intents": {"One": {"data": [lamps]}, "Two": {"data": [anything]}},
        "lists": {"shade": shades, "free": {"values": ["[maybe]"]}},
    }
    pack = Pack("en", Intents.from_dict(raw))

    def left(text: str, *named: tuple[str, str, dict[str, str]]) -> list[str]:
        given: dict[str, SlotList] = {"name": TextSlotList.from_tuples(named, name="name")}
        return [i.name for i in pack.narrowed(text, given).intents.values() for d in i.data]

    lamp, lock = ("it", "it", {"domain": "light"}), ("it", "it", {"domain": "lock"})
    assert left("it deep red", lamp) == left("it blue", lamp) == ["One", "Two", "Two"]
    assert left("it deep red", lock) == ["Two", "Two"]
    assert left("it green", lamp) == ["Two"]


@pytest.mark.parametrize(
    ("language", "text"), [("en", "it twenty-two"), ("en", "it 5"), ("zh", "it两百"), ("zh", "it 5")]
)
def test_a_template_of_a_number_goes_if_no_number_begins_in_the_text(language: str, text: str) -> None:
    raw = {
        "language": language,
        "intents": {"One": {"data": [{"sentences": ["{name} {level}"]}]}},
        "lists": {"level": {"range": {"from": 0, "to": 300}}},
    }
    pack = Pack(language, Intents.from_dict(raw))
    lists: dict[str, SlotList] = {"name": TextSlotList.from_strings(["it"], name="name")}
    assert pack.narrowed(text, lists).intents
    assert not pack.narrowed("it bright", lists).intents


def test_all_numbers_begin_as_a_narrowed_pack_expects() -> None:
    for language in ("en", "zh"):
        raw = {
            "language": language,
            "intents": {"One": {"data": [{"sentences": ["{level}"]}]}},
            "lists": {"level": {"range": {"from": 0, "to": 12_000}}},
        }
        pack, engine = Pack(language, Intents.from_dict(raw)), get_rbnf_engine(language)
        for number in range(0, 12_000, 7):
            for text in engine.format_number(number).text_by_ruleset.values():
                assert pack.narrowed(text, {}).intents, text
