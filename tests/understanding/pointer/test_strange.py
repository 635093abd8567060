from __future__ import annotations

import pytest

from agentkit.understanding.evidence import read_sentence
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import detect_language
from agentkit.understanding.pointer.strange import strange_word
from agentkit.understanding.words import Words


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("switch the zeppelin light on", "zeppelin"),
        ("dim the wobbly lamp", "wobbly"),
        ("close the blinds in zeppelin", "zeppelin"),
        ("zeppelin room light on", "zeppelin"),
        ("turn the kitchen light on", ""),
        ("zeppelin, turn on the kitchen light", ""),
        ("打开厨房灯", ""),
        ("老伴啊你把厨房灯熄了", ""),
        ("打开鹦灯", "鹦"),
    ],
)
def test_unknown_word_beside_a_device_is_found(text: str, word: str, words: dict[str, Words], home: HomeView) -> None:
    language = detect_language(text)
    sentence = read_sentence(text, Lexicon(home, words[language]), words[language])
    assert strange_word(sentence) == word
