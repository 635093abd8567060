"""From an utterance to tool calls: templates, pieces, guards, the model; the first that is sure answers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from agentkit.types import Kind, Understanding
from agentkit.understanding.amend import Match, corrected, is_called_off
from agentkit.understanding.at_value import AtValueReader
from agentkit.understanding.choices import OwnChoiceReader
from agentkit.understanding.choosing import is_question, singled
from agentkit.understanding.clauses import ClauseSplitter
from agentkit.understanding.counts import counted, find_count, held_to, without_count
from agentkit.understanding.doubtful import DoubtfulReader
from agentkit.understanding.exclude import Excluder, is_mixed_up
from agentkit.understanding.finishing import finished
from agentkit.understanding.guard import not_yet
from agentkit.understanding.hearing import heard_as, read_mixed
from agentkit.understanding.here import asked_here, wished
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.leftover import whole
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.loosely import loosely
from agentkit.understanding.matcher import Matcher
from agentkit.understanding.misplaced import misplaced
from agentkit.understanding.model import Model
from agentkit.understanding.named_guard import guard_unless_named
from agentkit.understanding.negative import signed, unsigned
from agentkit.understanding.nicknames import quotes_nickname, without_nicknames
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.partings import parted
from agentkit.understanding.plans import PlanReader
from agentkit.understanding.propose import Proposer
from agentkit.understanding.reasons import ReasonReader
from agentkit.understanding.refusing import Refuser
from agentkit.understanding.remarks import meanwhile, offered, only_seen, without_remarks
from agentkit.understanding.spans import SpanReader
from agentkit.understanding.stand_in import StandIns
from agentkit.understanding.stopping import stopped
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.timer_tier import read_timer
from agentkit.understanding.tools import Tool
from agentkit.understanding.wide import is_plain_question
from agentkit.understanding.withheld import cut_guard, is_noun_phrase, past, quoted_command, told
from agentkit.understanding.words import Words

_HEARD = frozenset({Kind.CALLS, Kind.ASK})


class Understander:
    """Asks the tiers in order and records what each of them cost and why the last one decided.

    With `is_model_alone` only guards stand before the model, which is how its own share is measured.
    """

    def __init__(
        self,
        *,
        words: Mapping[str, Words],
        templates: TemplateMap,
        tools: Mapping[str, Tool],
        model: Model | None = None,
        is_model_alone: bool = False,
        lexicons: HomeCache[Lexicon] | None = None,
    ) -> None:
        """`lexicons`: those that the model uses as well; None = of its own."""
        self._words, self._tools = words, tools
        self._matcher = Matcher(templates, tools, words, lexicons)
        self._phrases, self._match = self._matcher.phrases, self._matcher.match
        proposer, stand_ins = Proposer(self._phrases, tools, words), StandIns(self._phrases, tools, words)
        self._refuser = Refuser(self._phrases, proposer, templates.phrases.naming, words, stand_ins)
        self._model = model
        self._whole = partial(whole, self._phrases, tools, words)
        known = (self._match, self._sure, self._heard, self._whole, self._refuser, self._phrases)
        self._plans = PlanReader(*known, words, tools, model)
        here = partial(asked_here, words=words, templates=self._matcher.templates, tools=tools)
        mixed = partial(read_mixed, all_words=words, phrases=self._phrases)
        lacking = self._matcher.lacking
        before = (self._timers, self._sure, self._planned, self._guarded, here, mixed, self._heard, lacking)
        self._tiers = (
            (self._guarded, model.understand) if model is not None and is_model_alone else (*before, self._ask_model)
        )

    def load(self) -> None:
        """Compile the templates of every language now, so that the first sentence need not wait."""
        self._matcher.load()

    def warm_up(self, view: HomeView) -> None:
        """Prepare all tiers for this home, so that the first sentence need not wait. Raises DecoderError."""
        self.prepare(view)
        if self._model is not None:
            self._model.warm_up(view)

    def prepare(self, view: HomeView) -> None:
        """Prepare the tiers that need no model."""
        self._matcher.prepare(view)

    def lexicon(self, view: HomeView, words: Words) -> Lexicon:
        """All phrases that a sentence about this home can be made of, for those who read follow-ups."""
        return self._phrases.lexicon(view, words)

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand one utterance in a home; what no tier is sure of is refused, never guessed."""
        if text.language not in self._words:
            return Understanding(Kind.REFUSE, (), "not_understood", {}, "none", f"no words for {text.language}")
        words = self._words[text.language]
        text = counted(without_remarks(text, words), words)
        plain = without_nicknames(text, view, words)
        found = self._counted(plain, view, words)
        return self._counted(text, view, words) if quotes_nickname(found, plain, text, words) else found

    def _counted(self, text: Normalised, view: HomeView, words: Words) -> Understanding:
        """Understand a sentence with its remarks and counts told apart."""
        if self._phrases.is_too_long(text, view):
            return Understanding(Kind.REFUSE, (), "too_long", {}, "none", "more commands than are ever read")
        if (found := meanwhile(text, words, self._tools, lambda t: self.understand(t, view))).kind in _HEARD:
            return found
        below = unsigned(text, words)
        if below and (cold := signed(self._understand(below[0], view, words), below[1], self._tools)) is not None:
            return cold
        found = self._understand(text, view, words)
        found = parted(found, text, view, words, self._tools, lambda t: self._understand(t, view, words))
        found = offered(found, text, view, words, self._tools, lambda t: self._understand(t, view, words))
        found = only_seen(found, text, view, words, self._tools, self._phrases.lexicon(view, words))
        count = find_count(text, self._phrases.lexicon(view, words), words, view)
        if count is None or is_question(found, self._tools):
            return found
        return held_to(count, found, self._understand(without_count(text, count), view, words), view, self._tools)

    def _understand(self, text: Normalised, view: HomeView, words: Words) -> Understanding:
        """Understand a sentence whatever it counts."""
        if (stop := stopped(text, view, words, self._phrases.phrases)).kind is not Kind.NONE:
            return stop
        if is_called_off(text, words):
            return Understanding(Kind.SAY, (), "nevermind", {}, "template", "called off")
        if words.modifiers and is_noun_phrase(text, self._phrases.lexicon(view, words), words):
            values = {"words": text.text}
            return Understanding(Kind.REFUSE, (), "not_understood", values, "none", "its verb only tells which")
        if (hit := cut_guard(text, self._words) or told(text, words)) is not None:
            return not_yet(hit, {})
        if (hit := past(text, words)) is not None and self._refuser.is_about_home(text, view):
            return not_yet(hit, {})
        if (ended := self._plans.read_ended(text, view)).kind is not Kind.NONE:
            return self._one(text, view, (lambda *_: ended,))
        splitter = ClauseSplitter(self._surely, self._phrases.lexicon(view, words), words, view, self._tools)
        apart = splitter.read_timed(text)
        if apart.kind is not Kind.NONE and (apart.kind is Kind.CALLS or self._refuser.is_about_home(text, view)):
            return apart
        found = self._one(text, view, self._tiers)
        if (apart := splitter.unshared(text, found, self._phrases.phrases)).kind is not Kind.NONE:
            return apart
        is_sure = found.kind is Kind.CALLS and found.path != "model" and not found.needs_confirmation
        if is_sure and not splitter.swallows(found, text):
            return found
        apart = splitter.read(text) if found.kind is not Kind.ASK else Understanding(Kind.NONE)
        return found if apart.kind is Kind.NONE else apart

    def _surely(self, text: Normalised, view: HomeView) -> Understanding:
        """Ask the tiers before the model about one clause."""
        return self._one(text, view, self._tiers[:-1])

    def _one(self, text: Normalised, view: HomeView, tiers: Sequence[Match]) -> Understanding:
        """Ask tiers about one clause, or a sentence that is as simple."""
        words = self._words[text.language]
        timings: dict[str, float] = {}
        whys: list[str] = []
        for tier in tiers:
            found = tier(text, view)
            timings.update(found.timings_ms)
            whys.append(found.why)
            if found.kind is not Kind.NONE:
                break
        found = wished(found, text, view, words, self._tools)
        if not is_question(found, self._tools) and found.intents:
            lexicon = self._phrases.lexicon(view, words)
            moved = [i for i in found.intents if (tool := self._tools.get(i.tool)) and tool.types]
            hit = quoted_command(text, found, lexicon, words)
            if hit is None and found.when is None:
                reader = DoubtfulReader(lambda t: self._planned(t, view), lexicon, words, self._tools)
                found = reader.weighed(found, text, moved)
            found = singled(found, text, view, words) if hit is None else not_yet(hit, {})
        lexicon = self._phrases.lexicon(view, words)
        found = finished(found, text, view, words, self._phrases.phrases, self._tools, lexicon)
        found = misplaced(found, text, view, words, self._tools, lexicon)
        return replace(found, why=found.why or "; ".join(w for w in whys if w), timings_ms=timings)

    def _sure(self, text: Normalised, view: HomeView) -> Understanding:
        """Read a sentence as it is, with the correction it ends with, or without what it leaves out."""
        words = self._words[text.language]
        lexicon = self._phrases.lexicon(view, words)
        if text.taken_back:
            return corrected(text, self._match, lexicon, words, view, self._tools)
        found = Understanding(Kind.NONE)
        for read in (
            SpanReader(self._match, words, view, self._tools, self._phrases.phrases.spans).read,
            AtValueReader(self._match, words, view, self._tools).read,
            lambda said: self._match(said, view),
            OwnChoiceReader(self._match, words, view, self._phrases.phrases).read,
            Excluder(self._match, lexicon, words, view).read,
            ReasonReader(self._match, lexicon, words, view, self._tools).read,
        ):
            found = read(text) if found.kind is Kind.NONE else found
        return found

    def _timers(self, text: Normalised, view: HomeView) -> Understanding:
        start = time.perf_counter()
        found = read_timer(text, self._words[text.language], view)
        timings = {"timers": (time.perf_counter() - start) * 1000}
        is_asked = any(text.text.lower().startswith(f"{w} ") for w in self._words[text.language].copulas if w.isascii())
        is_acting = found.kind is Kind.CALLS and not is_question(found, self._tools)
        if any(i.tool not in self._tools for i in found.intents) or (is_asked and is_acting):
            return Understanding(Kind.NONE, timings_ms=timings)
        if any(i.tool in ("cancel_alarm", "alarm_status") and set(i.args) <= {"kind"} for i in found.intents):
            device = self._match(text, view)  # "turn off the alarm", "is the alarm on" where a siren is called so
            device = device if device.intents else loosely(text, view, self._words[text.language], self._phrases)
            is_device = device.kind is Kind.CALLS and all(self._tools[i.tool].types for i in device.intents)
            is_asked = is_plain_question(device, text, self._words[text.language], self._tools)
            if is_device and (is_asked or found.intents[0].tool == "cancel_alarm"):
                found = replace(device, needs_confirmation=not is_question(device, self._tools))
        return replace(found, timings_ms=timings)

    def _planned(self, text: Normalised, view: HomeView) -> Understanding:
        return self._plans.read(text, view)

    def _guarded(self, text: Normalised, view: HomeView) -> Understanding:
        """Refuse a sentence about this home that holds a time, condition, negation or report."""
        start = time.perf_counter()
        words = self._words[text.language]
        hit = guard_unless_named(text.text, words, self._words.values(), self._phrases.lexicon(view, words))
        is_home = hit is not None and self._refuser.is_about_home(text, view)
        timings = {"guard": (time.perf_counter() - start) * 1000}
        if hit is None or not is_home:
            return Understanding(Kind.NONE, why="" if hit is None else hit.why, timings_ms=timings)
        if hit.kind == "negation" and is_mixed_up(text.text, words):
            hit = replace(hit, kind="mixed")  # "leave it" would agree to something that nobody said
        return not_yet(hit, timings)

    def _heard(self, text: Normalised, view: HomeView) -> Understanding:
        words = self._words[text.language]
        found = heard_as(text, view, words, self._phrases, self._match, self._tools)
        return loosely(text, view, words, self._phrases, self._asked) if found.kind is Kind.NONE else found

    def _asked(self, text: Normalised, view: HomeView) -> Understanding:
        """What a sentence asks; kind NONE if it is no question."""
        found = self._match(text, view)
        return found if is_question(found, self._tools) else Understanding(Kind.NONE)

    def _ask_model(self, text: Normalised, view: HomeView) -> Understanding:
        if self._model is None:
            return self._unaided(text, view)
        found = self._whole(self._refuser.named(self._model.understand(text, view), text, view), text, view)
        if found.kind is Kind.REFUSE and found.reply_key == "part":  # what it would do leaves words out
            plain = self._unaided(text, view)
            return plain if plain.kind in (Kind.CALLS, Kind.ASK) else found
        return found

    def _unaided(self, text: Normalised, view: HomeView) -> Understanding:
        """What is left to say of a sentence without a model: what may be meant, or what is missing."""
        return self._whole(self._refuser.named(self._refuser.refuse(text, view), text, view), text, view)
