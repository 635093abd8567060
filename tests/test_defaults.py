"""The framework's own words and sentences lie under every app's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentkit.agent.reply import Replies
from agentkit.defaults import lay, replies_over_defaults, words_over_defaults
from agentkit.errors import ConfigError
from agentkit.understanding.guard import guard
from agentkit.understanding.tools import read_tool, tool
from agentkit.understanding.words import read_words
from agentkit.yaml_lines import load_mapping


@pytest.mark.parametrize(
    ("own", "base", "laid"),
    [
        ({"a": {"x": 1}}, {"a": {"x": 0, "y": 2}, "b": 3}, {"a": {"x": 1, "y": 2}, "b": 3}),
        ({"a": ["new"]}, {"a": ["old"]}, {"a": ["new"]}),
        ({"a": ["first", "default", "last"]}, {"a": ["old", "older"]}, {"a": ["first", "old", "older", "last"]}),
        ({"a": None}, {"a": ["old"]}, {"a": ["old"]}),
        ({"a": "text"}, {"a": {"default": "x"}}, {"a": "text"}),
    ],
)
def test_own_data_lie_over_the_defaults(own: Any, base: Any, laid: Any) -> None:
    assert lay(own, base) == laid


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        ("en", "turn on the fan at 7", "time"),
        ("en", "turn on the fan for ten minutes", "duration"),
        ("en", "turn on the north fan if it is hot", "condition"),
        ("en", "never turn on the south fan", "negation"),
        ("en", "turn on everything except the south fan", "exception"),
        ("en", "she turned on the south fan", "report"),
        ("en", "how do i turn on the south fan", "how"),
        ("zh", "晚上八点打开风扇", "time"),
        ("zh", "打开风扇十分钟", "duration"),
        ("zh", "如果太热就打开风扇", "condition"),
        ("zh", "千万不要打开风扇", "negation"),
        ("zh", "除了北边的都打开", "exception"),
        ("zh", "妈妈把风扇打开了", "report"),
        ("zh", "怎么打开风扇", "how"),
    ],
)
def test_an_app_without_guards_is_guarded(language: str, text: str, kind: str) -> None:
    words = read_words(words_over_defaults({"kinds": {"fan": ["fan"]}}, language), language=language)

    hit = guard(text, words)
    assert hit is not None
    assert hit.kind == kind


@pytest.mark.parametrize(("language", "text"), [("en", "turn on the south fan"), ("zh", "打开南边的风扇")])
def test_a_plain_command_is_not_guarded(language: str, text: str) -> None:
    assert guard(text, read_words(words_over_defaults({}, language), language=language)) is None


def test_guards_of_an_app_replace_a_kind_or_add_to_it() -> None:
    own = {"guards": {"time": [r"\bteatime\b", "default"], "negation": [r"\bnay\b"]}}
    words = read_words(words_over_defaults(own, "en"), language="en")

    assert guard("fan on at teatime", words) is not None
    assert guard("fan on at noon", words) is not None
    assert guard("nay fan on", words) is not None
    assert guard("never fan on", words) is None


def test_complaint_about_own_words_names_their_line(tmp_path: Path) -> None:
    file = tmp_path / "en.yaml"
    file.write_text("yes: [aye]\n\nguard: {}\n", "utf-8")

    with pytest.raises(ConfigError, match=r"en\.yaml:3: unknown key 'guard'"):
        read_words(words_over_defaults(load_mapping(file), "en"), language="en", path=file)


def test_a_language_without_defaults_has_only_what_the_app_says() -> None:
    assert words_over_defaults({"yes": ["ja"]}, "de") == {"yes": ["ja"]}


@tool(types=("lamp",))
def glow(device: Any) -> Any:
    """Let a lamp glow."""


GLOW = {"glow": read_tool(glow)}
OWN = {"en": {"done": {"glow": "{devices} {is} glowing."}}, "zh": {"done": {"glow": "{devices}亮了。"}}}


def test_an_app_needs_only_the_sentences_of_its_own_tools() -> None:
    replies = Replies({lang: replies_over_defaults(data, lang) for lang, data in OWN.items()}, tools=GLOW)

    assert replies.render("en", "failed.timeout")
    assert replies.render("zh", "refused.not_yet", {"kind": "how"})


def test_the_sentence_of_an_own_tool_must_be_there() -> None:
    with pytest.raises(ConfigError, match=r"replies/zh\.yaml: no sentence for done\.glow"):
        Replies({lang: replies_over_defaults(OWN[lang] if lang == "en" else {}, lang) for lang in OWN}, tools=GLOW)


@pytest.mark.parametrize(
    ("table", "value", "words"),
    [
        ("grammar", {"between": 3}, "grammar.between is 3, wanted a text"),
        ("grammar", {"counted": "{n} {kinds}"}, "grammar.counted: no placeholder {kinds} exists; known are kind, n"),
        ("grammar", {"at_most_named": 0}, "grammar.at_most_named is 0"),
        ("kinds", {"lamp": "lamp"}, "kinds.lamp is 'lamp', wanted the word for one and"),
        ("words", {"duration": {"day": []}}, "words.duration.day is []"),
        ("states", ["on"], "states is ['on'], wanted a mapping"),
    ],
)
def test_a_broken_word_table_is_found_at_start(table: str, value: Any, words: str) -> None:
    own = {**OWN["en"], table: value}
    with pytest.raises(ConfigError) as caught:
        Replies({"en": replies_over_defaults(own, "en")}, tools=GLOW)

    assert words in str(caught.value)
    assert str(caught.value).startswith("replies/en.yaml: ")


@pytest.mark.parametrize("key", ["between", "counted", "and"])
def test_a_grammar_that_lacks_a_key_is_found_at_start(key: str) -> None:
    data = dict(replies_over_defaults(OWN["en"], "en"))
    data["grammar"] = {k: v for k, v in data["grammar"].items() if k != key}

    with pytest.raises(ConfigError, match=rf"replies/en\.yaml: grammar\.{key} is missing"):
        Replies({"en": data}, tools=GLOW)


def test_a_language_without_the_word_for_a_device_is_found_at_start() -> None:
    data = {**replies_over_defaults(OWN["en"], "en"), "kinds": {}}

    with pytest.raises(ConfigError, match=r"kinds\.device is missing"):
        Replies({"en": data}, tools=GLOW)
