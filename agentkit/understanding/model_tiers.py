"""The tiers behind the templates: the home model, then a larger one if the app has it; each by its own format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from agentkit.types import Kind, Understanding
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.model_tier import Generator, ModelTier
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.pointer.format import DO
from agentkit.understanding.pointer.tier import PointerTier
from agentkit.understanding.prompt import PromptText
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words


class Tier(Protocol):
    """A model that reads what templates left over."""

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a sentence, or refuse it."""
        ...

    def warm_up(self, view: HomeView) -> None:
        """Prepare what all turns share."""
        ...


class OpenedTier:
    """The tier that fits a model: pointers if its vocabulary has them, else JSON. The model opens at first use."""

    def __init__(
        self,
        decoder: Generator,
        *,
        tools: Mapping[str, Tool],
        words: Mapping[str, Words],
        phrases: PhraseMap,
        text: PromptText,
        lexicons: HomeCache[Lexicon],
    ) -> None:
        self._decoder, self._text = decoder, text
        self._tools, self._words, self._phrases, self._lexicons = tools, words, phrases, lexicons

    @cached_property
    def _tier(self) -> Tier:
        tools, words, phrases, lexicons = self._tools, self._words, self._phrases, self._lexicons
        if DO in self._decoder.tokenizer.vocabulary.added_ids:
            return PointerTier(self._decoder, tools=tools, words=words, phrases=phrases, lexicons=lexicons)
        text = self._text
        return ModelTier(self._decoder, tools=tools, words=words, phrases=phrases, text=text, lexicons=lexicons)

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a sentence, or refuse it."""
        return self._tier.understand(text, view)

    def warm_up(self, view: HomeView) -> None:
        """Open the model and prepare what all turns share. Raises GrammarError and DecoderError."""
        self._tier.warm_up(view)


class TierChain:
    """Asks each model in turn until one of them understands; the last refusal stands, with what all of them said."""

    def __init__(self, tiers: Sequence[Tier]) -> None:
        assert tiers
        self._tiers = tuple(tiers)

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """The first answer that is no refusal, else the last one."""
        found = self._tiers[0].understand(text, view)
        for tier in self._tiers[1:]:
            if found.kind is not Kind.REFUSE:
                break
            more = tier.understand(text, view)
            timings = {**found.timings_ms, **{f"larger.{k}": v for k, v in more.timings_ms.items()}}
            found = replace(more, why=f"{found.why}; then {more.why}", timings_ms=timings)
        return found

    def warm_up(self, view: HomeView) -> None:
        """Prepare all models. Raises GrammarError and DecoderError."""
        for tier in self._tiers:
            tier.warm_up(view)
