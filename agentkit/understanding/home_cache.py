"""Keep what was computed from the names of a home until the names change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from agentkit.understanding.home_view import HomeView
from agentkit.understanding.words import Words

Built = TypeVar("Built")
_KEPT_HOMES = 4


class HomeCache(Generic[Built]):
    """The last few homes' results, by everything that a sentence can name."""

    def __init__(self, build: Callable[[HomeView, Words], Built]) -> None:
        self._build = build
        self._kept: OrderedDict[tuple[object, ...], Built] = OrderedDict()

    def get(self, view: HomeView, words: Words) -> Built:
        """What was built for this home and language, or build it now."""
        key = (words.language, view.naming())
        if key not in self._kept:
            self._kept[key] = self._build(view, words)
            if len(self._kept) > _KEPT_HOMES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]
