from __future__ import annotations

import pytest

from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.sound import Mended, mend_sound
from agentkit.understanding.words import Words


@pytest.fixture(scope="module")
def lexicon(home: HomeView, words: dict[str, Words]) -> Lexicon:
    return Lexicon(home, words["zh"])


def test_a_word_of_the_same_sound_is_mended(lexicon: Lexicon) -> None:
    assert Mended("打开空调", is_exact=True) in mend_sound("打开空挑", lexicon)


def test_a_sound_that_many_do_not_tell_apart_is_mended_but_not_exact(lexicon: Lexicon) -> None:
    assert Mended("打开风扇", is_exact=False) in mend_sound("打开分扇", lexicon)


@pytest.mark.parametrize("said", ["打开空调", "switch on the lamp", "我们走路"])
def test_what_is_known_or_sounds_like_nothing_here_stays(said: str, lexicon: Lexicon) -> None:
    assert mend_sound(said, lexicon) == []
