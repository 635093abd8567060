"""From an utterance to tool calls: templates, pieces, guards, the model; the first that is sure answers."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from agentkit.types import Kind, Understanding
from agentkit.understanding.amend import amend, stands_alone
from agentkit.understanding.exclude import Excluder
from agentkit.understanding.guard import GuardHit, guard
from agentkit.understanding.here import placed_here, without_here
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold, normalise
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.propose import Proposer
from agentkit.understanding.reading import NO_DEVICE
from agentkit.understanding.repair import repair
from agentkit.understanding.selecting import select
from agentkit.understanding.shortlist import is_about_home
from agentkit.understanding.sound import mend_sound
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.templates import TemplateTier
from agentkit.understanding.tools import Tool
from agentkit.understanding.unknown import unknown_name
from agentkit.understanding.words import Words


class Model(Protocol):
    """The tier that is asked last."""

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a sentence, or refuse it."""
        ...

    def warm_up(self, view: HomeView) -> None:
        """Prepare what all turns share."""
        ...


class Understander:
    """Asks the tiers in order and records what each of them cost and why the last one decided."""

    def __init__(
        self,
        *,
        words: Mapping[str, Words],
        templates: TemplateMap,
        tools: Mapping[str, Tool],
        model: Model | None = None,
    ) -> None:
        self._words, self._tools = words, tools
        self._templates = TemplateTier(templates, tools, words)
        self._phrases = PhraseTier(templates.phrases, tools, words)
        self._proposer = Proposer(self._phrases, tools, words)
        self._naming = templates.phrases.naming
        self._model = model

    def load(self) -> None:
        """Compile the templates of every language now, so that the first sentence need not wait."""
        for language in self._words:
            self._templates.load(language)

    def warm_up(self, view: HomeView) -> None:
        """Prepare all tiers for this home, so that the first sentence need not wait. Raises DecoderError."""
        self.load()
        for language in self._words:
            text = Normalised("x", language, "x")
            self._templates.match(text, view)  # the home's names become slot lists and a lexicon at the first look
            self._phrases.match(text, view)
            if self._words[language].is_pieces_first:
                mend_sound("\u95ee", self._phrases.lexicon(view, self._words[language]))
        if self._model is not None:
            self._model.warm_up(view)

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand one utterance in a home; what no tier is sure of is refused, never guessed."""
        if text.language not in self._words:
            return Understanding(Kind.REFUSE, (), "not_understood", {}, "none", f"no words for {text.language}")
        words = self._words[text.language]
        if _is_called_off(text, words):
            return Understanding(Kind.SAY, (), "nevermind", {}, "template", "called off")
        timings: dict[str, float] = {}
        whys: list[str] = []
        for tier in (
            self._amended,
            self._match,
            self._excluded,
            self._guarded,
            self._asked_here,
            self._mixed,
            self._mend,
            self._ask_model,
        ):
            found = tier(text, view)
            timings.update(found.timings_ms)
            whys.append(found.why)
            if found.kind is not Kind.NONE:
                break
        found = placed_here(found, text, view, words, self._tools)
        return replace(found, why=found.why or "; ".join(w for w in whys if w), timings_ms=timings)

    def _match(self, text: Normalised, view: HomeView) -> Understanding:
        """Templates or pieces: a template that met no device, took free text or reads a question yields to pieces."""
        quick = self._quick(text, view)
        if quick is not None and not any(self._tools[i.tool].is_query for i in quick.intents):
            return quick
        first = self._templates.match(text, view)
        if first.kind is not Kind.NONE and not self._is_weak(first):
            return first
        second = self._phrases.match(text, view) if quick is None else quick
        chosen = first if second.kind is Kind.NONE or self._is_as_good(first, second, view) else second
        key = "" if chosen.reply_key == NO_DEVICE else chosen.reply_key
        return replace(chosen, reply_key=key, timings_ms={**first.timings_ms, **second.timings_ms})

    def _quick(self, text: Normalised, view: HomeView) -> Understanding | None:
        """What the pieces say, in a language where they are tried first; None if they say nothing."""
        is_first = self._words[text.language].is_pieces_first
        found = self._phrases.match(text, view) if is_first else Understanding(Kind.NONE)
        return found if found.kind is Kind.CALLS else None

    def _is_as_good(self, first: Understanding, second: Understanding, view: HomeView) -> bool:
        """Whether a template's reading of a question is no wider than that of the pieces."""
        both = (*first.intents, *second.intents)
        if first.kind is not Kind.CALLS or first.reply_key or not all(self._tools[i.tool].is_query for i in both):
            return False
        reached = [{d.id for i in found.intents for d in select(i.selector, view)} for found in (first, second)]
        return bool(reached[0]) and not reached[1] < reached[0]

    def _is_weak(self, found: Understanding) -> bool:
        tools = [self._tools[i.tool] for i in found.intents if i.tool in self._tools]
        has_free_text = any(p.type is str and not p.choices for t in tools for p in t.params if not t.is_query)
        return found.reply_key == NO_DEVICE or has_free_text or any(t.is_query for t in tools)

    def _amended(self, text: Normalised, view: HomeView) -> Understanding:
        """Read a correction that is no command of its own as part of the command it corrects."""
        if not text.taken_back:
            return Understanding(Kind.NONE)
        words = self._words[text.language]
        lexicon = self._phrases.lexicon(view, words)
        before, after = fold(text.taken_back, words), fold(text.text, words)
        if stands_alone(after, lexicon):
            return Understanding(Kind.NONE)
        joined = f"{before} {after}" if before.isascii() else f"{before}{after}"
        for candidate in (*amend(before, after, lexicon), joined):
            found = self._match(replace(text, text=candidate, taken_back=""), view)
            if found.kind is Kind.CALLS and not found.reply_key:
                return replace(found, why=f"corrected to {candidate!r}; {found.why}")
        return Understanding(Kind.REFUSE, (), "not_understood", {}, "none", "the correction fits nowhere")

    def _excluded(self, text: Normalised, view: HomeView) -> Understanding:
        """Read a sentence that leaves something out, or forbids one thing and commands another."""
        words = self._words[text.language]
        return Excluder(self._match, self._phrases.lexicon(view, words), words, view).read(text)

    def _guarded(self, text: Normalised, view: HomeView) -> Understanding:
        """Refuse a sentence about this home that holds a time, condition, negation or report."""
        start = time.perf_counter()
        words = self._words[text.language]
        hit = guard(text.text, words)
        is_home = hit is not None and is_about_home(text, view, words, self._phrases.lexicon(view, words))
        timings = {"guard": (time.perf_counter() - start) * 1000}
        if hit is None or not is_home:
            return Understanding(Kind.NONE, why="" if hit is None else _why(hit), timings_ms=timings)
        values = {"kind": hit.kind, "words": hit.words}
        return Understanding(Kind.REFUSE, (), "not_yet", values, "guard", _why(hit), timings_ms=timings)

    def _asked_here(self, text: Normalised, view: HomeView) -> Understanding:
        """A question with "here" in it, read without that word; the room is put in afterwards."""
        shorter = without_here(text, self._words[text.language])
        found = Understanding(Kind.NONE) if shorter is None else self._templates.match(shorter, view)
        is_query = bool(found.intents) and all(self._tools[i.tool].is_query for i in found.intents)
        return found if found.kind is Kind.CALLS and is_query else Understanding(Kind.NONE)

    def _mixed(self, text: Normalised, view: HomeView) -> Understanding:
        """Read a sentence that mixes scripts by the words of the other languages, under the guards of all."""
        if text.text.isascii() or not any(c.isascii() and c.isalpha() for c in text.text):
            return Understanding(Kind.NONE)
        for language in self._words:
            other = normalise(text.text, language, self._words[language])
            if guard(other.text, self._words[language]) is None:
                found = self._phrases.match(other, view)
                if found.kind is Kind.CALLS:
                    return found
        return Understanding(Kind.NONE)

    def _mend(self, text: Normalised, view: HomeView) -> Understanding:
        """Read the sentence with its misheard words mended; what comes of it is asked about before it runs."""
        words = self._words[text.language]
        folded, lexicon = fold(text.text, words), self._phrases.lexicon(view, words)
        mended = repair(folded, lexicon)
        if mended is not None:
            found = {mended: self._match(replace(text, text=mended), view)}
        else:
            heard = {m.text: m.is_exact for m in mend_sound(folded, lexicon)}
            found = {m: self._phrases.match(replace(text, text=m, taken_back=""), view) for m in heard}
        found = {m: f for m, f in found.items() if f.kind is Kind.CALLS and guard(m, words) is None}
        if not found or len({repr(f.intents) for f in found.values()}) > 1:
            return Understanding(Kind.NONE)
        said, first = next(iter(found.items()))
        is_query = all(self._tools[i.tool].is_query for i in first.intents)
        is_sure = is_query or (mended is None and any(heard[m] for m in found))
        return replace(first, needs_confirmation=not is_sure, why=f"heard as {said!r}; {first.why}")

    def _ask_model(self, text: Normalised, view: HomeView) -> Understanding:
        found = self._model.understand(text, view) if self._model is not None else self._refuse(text, view)
        if found.kind is not Kind.REFUSE or found.reply_key not in ("not_understood", "not_home"):
            return found
        if (asked := self._proposer.propose(text, view)).kind is not Kind.NONE:
            return asked
        words = self._words[text.language]
        name = unknown_name(text.text, self._phrases.lexicon(view, words), words, self._naming)
        if name is None:
            return found
        return replace(found, reply_key="unknown_device", reply_values={"name": name}, why=f"{name!r} is unknown here")

    def _refuse(self, text: Normalised, view: HomeView) -> Understanding:
        words = self._words[text.language]
        is_home = is_about_home(text, view, words, self._phrases.lexicon(view, words))
        key = "not_understood" if is_home else "not_home"
        return Understanding(Kind.REFUSE, (), key, {"words": text.text}, "none", "no tier understood it")


def _is_called_off(text: Normalised, words: Words) -> bool:
    """Whether the utterance, or its last clause in Chinese, calls off what was asked."""
    cancels = {fold(c, words) for c in words.cancel}
    last = re.split("[,.;]", text.text)[-1] if not text.text.isascii() else text.text
    return fold(text.text, words) in cancels or fold(last, words) in cancels


def _why(hit: GuardHit) -> str:
    return f"{hit.kind}: {hit.words!r} is not understood, so nothing runs"
