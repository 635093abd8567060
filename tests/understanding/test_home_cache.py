from __future__ import annotations

from dataclasses import replace

from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words


def test_the_home_that_is_used_outlives_those_that_are_not(home: HomeView, words: dict[str, Words]) -> None:
    built: list[HomeView] = []
    cache = HomeCache(lambda view, own: built.append(view))
    for n in range(6):
        cache.get(home, words["en"])
        cache.get(replace(home, devices=home.devices[: n + 1]), words["en"])
    assert built.count(home) == 1


def test_views_of_one_home_share_what_was_built(
    understander: Understander, home: HomeView, words: dict[str, Words]
) -> None:
    elsewhere = replace(home, speaker_area="kitchen", devices=tuple(replace(d, state="x") for d in home.devices))
    assert understander.lexicon(elsewhere, words["en"]) is understander.lexicon(home, words["en"])
