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
        self._last: tuple[str, object, Built] | None = None  # replaced as a whole; a turn asks for one home many times

    def get(self, view: HomeView, words: Words) -> Built:
        """What was built for this home and language, or build it now."""
        naming, last = view.naming(), self._last
        if last is not None and last[1] is naming and last[0] == words.language:
            return last[2]
        built = self._get((words.language, naming), view, words)
        self._last = (words.language, naming, built)
        return built

    def _get(self, key: tuple[object, ...], view: HomeView, words: Words) -> Built:
        if key not in self._kept:
            self._kept[key] = self._build(view, words)
            if len(self._kept) > _KEPT_HOMES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]
