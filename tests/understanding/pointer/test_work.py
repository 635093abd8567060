"""How much a sentence makes the agent's own code do, counted in calls of functions: no clock, so no busy machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import pytest

from agentkit.bench.homes import sized
from agentkit.config import App
from agentkit.decoder.decoder import Decoder
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import detect_language, normalise
from agentkit.understanding.open import open_understander
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words

PLAIN = (
    "turn on the kitchen light",
    "把卧室的窗帘拉上",
    "set the study blind to 40 percent",
    "is the front door locked",
)
ODD = (
    "granny wants the floor lamp on",
    "grandpa is parking, garage light on please",
    "老伴啊麻烦你把走廊灯给灭了吧",
    "那个床头灯啊,给它关了算了",
)
"""Only the model knows what these mean."""
MOST_OF_PLAIN, MOST_OF_ODD = 3_300, 4_300
"""Calls of Python functions per sentence. Making anew what only the words or the home decide takes half as many more;
reading everything anew for every reader, three times as many."""


@pytest.fixture(scope="module")
def reading(app: App, words: dict[str, Words], decoder: Decoder) -> Understander:
    return open_understander(app.path, words=words, tools=app.tools, decoders=[decoder])


def calls(reading: Understander, view: HomeView, words: dict[str, Words], texts: Sequence[str]) -> tuple[float, str]:
    """Calls per sentence in this thread, and the paths that answered; everything of the home is prepared before."""
    reading.warm_up(view)
    said = [normalise(text, (language := detect_language(text)), words[language]) for text in texts]
    for text in said:
        reading.understand(text, view)
    for n in range(40):  # other talk, so that nothing of the sentences is remembered
        reading.understand(normalise(f"the {n} bells ring over there", "en", words["en"]), view)
    n_calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal n_calls
        n_calls += event == "call"

    paths = []
    for text in said:
        sys.setprofile(count)
        found = reading.understand(text, view)
        sys.setprofile(None)
        paths.append(found.path)
    return n_calls / len(texts), " ".join(sorted(set(paths)))


def test_a_sentence_is_looked_at_once_by_all_readers_together(
    reading: Understander, home: HomeView, words: dict[str, Words]
) -> None:
    n_plain, path = calls(reading, home, words, PLAIN)
    assert (n_plain < MOST_OF_PLAIN, path) == (True, "template"), n_plain
    n_odd, path = calls(reading, home, words, ODD)
    assert (n_odd < MOST_OF_ODD, path) == (True, "model"), n_odd


@pytest.mark.parametrize(("texts", "most"), [(PLAIN, 1.1), (ODD, 1.6)], ids=["plain", "odd"])
def test_the_work_hardly_grows_with_the_home(
    reading: Understander, app: App, words: dict[str, Words], texts: Sequence[str], most: float
) -> None:
    small, large = (HomeView.of(sized(app.home, n), speaker_area="living_room") for n in (60, 360))
    n_small, _ = calls(reading, small, words, texts)
    n_large, _ = calls(reading, large, words, texts)
    assert n_large < most * n_small, (n_small, n_large)
