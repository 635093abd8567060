"""Templates, pieces and questions: the readers that use up every word of a clause, weighed against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.choosing import is_as_good, is_plain_query, is_question, is_weak
from agentkit.understanding.here import asked
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lacking import lacking
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.piece_checks import joined
from agentkit.understanding.questions import QuestionTier
from agentkit.understanding.reading import NO_DEVICE
from agentkit.understanding.refusing import unknown
from agentkit.understanding.sound import mend_sound
from agentkit.understanding.surname import other_thing
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.templates import TemplateTier
from agentkit.understanding.tools import Tool
from agentkit.understanding.wide import wider_of
from agentkit.understanding.words import Words


class Matcher:
    """Reads one clause as it stands, without a time, a correction or anything left out."""

    def __init__(
        self,
        templates: TemplateMap,
        tools: Mapping[str, Tool],
        words: Mapping[str, Words],
        lexicons: HomeCache[Lexicon] | None = None,
    ) -> None:
        """`lexicons`: those that others use as well; None = of its own."""
        self._tools, self._words = tools, words
        self.templates = TemplateTier(templates, tools, words)
        self.phrases = PhraseTier(templates.phrases, tools, words, lexicons)
        self.questions = QuestionTier(templates.phrases, tools, words)

    def load(self) -> None:
        """Compile the templates of every language."""
        for language in self._words:
            self.templates.load(language)

    def prepare(self, view: HomeView) -> None:
        """Look at this home now, so that the first sentence need not wait."""
        for language in self._words:
            self.templates.warm_up(language)
            text = Normalised("x", language, "x")
            self.templates.match(text, view)  # the home's names become slot lists and a lexicon at the first look
            self.phrases.match(text, view)
            self.questions.match(text, view)
            if self._words[language].is_pieces_first:
                mend_sound("\u95ee", self.phrases.lexicon(view, self._words[language]))

    def match(self, text: Normalised, view: HomeView) -> Understanding:
        """Templates or pieces: a template that met no device, took free text or reads a question yields to pieces."""
        if (found := self._other_thing(text, view)).kind is not Kind.NONE:
            return found
        is_first = self._words[text.language].is_pieces_first
        quick = self.phrases.match(text, view) if is_first else None
        if quick is not None and quick.intents and not is_question(quick, self._tools):
            return quick
        first = asked(self.templates.match(text, view), text, self._words[text.language], self._tools)
        tries = (tier.match(text, view) for tier in (self.phrases, self.questions))
        own, asks = self._words[text.language], self.phrases.phrases.asks
        if (wider := wider_of(first, tries, asks, own, view, self._tools)) is not None:
            return wider
        is_sure = first.kind is not Kind.NONE and not is_weak(first, self._tools)
        if is_sure and not self.phrases.passes_over(first, text, view):
            return first
        first = Understanding(Kind.NONE, timings_ms=first.timings_ms) if is_sure else first
        second = self.phrases.match(text, view) if quick is None else quick
        is_answered = any(is_plain_query(i, self._tools) for i in first.intents) and first.reply_key != NO_DEVICE
        chosen = first if second.kind is Kind.NONE or is_as_good(first, second, view, self._tools) else second
        if second.kind is Kind.NONE and not is_answered:
            second = self.questions.match(text, view)
            chosen = first if second.kind is Kind.NONE else second
        key = "" if chosen.reply_key == NO_DEVICE else chosen.reply_key
        return replace(chosen, reply_key=key, timings_ms={**first.timings_ms, **second.timings_ms})

    def lacking(self, text: Normalised, view: HomeView) -> Understanding:
        """A question about a kind of device that its place lacks."""
        found = self.questions.lacking(text, view)
        asking = self.phrases.asking(view, self._words[text.language])
        return lacking(text, *asking) if found.kind is Kind.NONE else found

    def _other_thing(self, text: Normalised, view: HomeView) -> Understanding:
        """Refuse a command to a thing whose name is that of a device and a kind that the device is not."""
        words = self._words[text.language]
        name = other_thing(fold(joined(text.text, words), words), self.phrases.lexicon(view, words), view, words)
        return Understanding(Kind.NONE) if name is None else unknown(Understanding(Kind.REFUSE, path="none"), name)
