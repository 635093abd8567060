"""Read a command with a time: when it is due, and until when it holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.choosing import is_complete, is_question, takes_number
from agentkit.understanding.clauses import ClauseSplitter
from agentkit.understanding.guard import GuardHit, guard, guard_any, not_yet
from agentkit.understanding.holding import Lasting, find_lasting, is_undone_by
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.model import Model
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.refusing import Refuser
from agentkit.understanding.tools import Tool
from agentkit.understanding.when import Found, find_when
from agentkit.understanding.withheld import needs_no_value
from agentkit.understanding.words import Words
from agentkit.when import When, WhenKind

Read = Callable[[Normalised, HomeView], Understanding]
_NOTHING = Understanding(Kind.NONE)
_UNCLEAR = frozenset({"", "not_understood", "not_home"})


@dataclass(frozen=True)
class PlanReader:
    """Reads what is left of a sentence without its times by the tiers that are sure, else by the model."""

    match: Read
    sure: Read
    heard: Read
    whole: Callable[[Understanding, Normalised, HomeView], Understanding]
    refuser: Refuser
    phrases: PhraseTier
    all_words: Mapping[str, Words]
    tools: Mapping[str, Tool]
    model: Model | None

    def read_ended(self, text: Normalised, view: HomeView) -> Understanding:
        """Read what other readers misread: an end without a device ("and off at ten") or like a value ("from 8 to 10").

        NONE if the sentence has no such end.
        """
        lasting = find_lasting(text.text, self.all_words[text.language].time)
        is_first = lasting is not None and (lasting.kind == "span" or bool(lasting.back))
        return self._lasting(text, view, lasting) if lasting is not None and is_first else _NOTHING

    def read(self, text: Normalised, view: HomeView) -> Understanding:
        """What is left without the time must be understood whole, and is due then; NONE if there is no time."""
        start = time.perf_counter()
        words = self.all_words[text.language]
        lasting, found = find_lasting(text.text, words.time), find_when(text.text, words.time)
        timings = {"when": (time.perf_counter() - start) * 1000}
        if lasting is not None and (held := self._lasting(text, view, lasting)).kind is not Kind.NONE:
            return replace(held, timings_ms={**held.timings_ms, **timings})
        if lasting is not None and found.when is None and self.refuser.is_about_home(text, view):
            return self._not_lasting(text, lasting, timings)
        if found.when is None and found.problem is None:
            return Understanding(Kind.NONE, timings_ms=timings)
        return self._due(text, view, found, timings)

    def _lasting(self, text: Normalised, view: HomeView, lasting: Lasting) -> Understanding:
        """The command that holds until an end; NONE if what is left is none."""
        words = self.all_words[text.language]
        due = find_when(lasting.rest, words.time)
        if due.problem is not None:
            return _NOTHING
        rest = replace(text, text=due.rest if due.when is not None else lasting.rest)
        inner = self._inner(rest, view)
        if inner.kind in (Kind.NONE, Kind.REFUSE) or not inner.intents:
            return _NOTHING if lasting.back else self._missing(rest, view)
        is_bare = lasting.until.is_bare or (due.when is not None and due.when.is_bare)
        if is_question(inner, self.tools) or (is_bare and takes_number(inner, self.tools)):
            return _NOTHING
        if lasting.kind == "span" and is_bare and not needs_no_value(rest, self.phrases.lexicon(view, words), words):
            return _NOTHING
        if lasting.back and not is_undone_by(lasting.back, inner.intents, self.tools, self.phrases.phrases, words):
            return _NOTHING
        if not self._is_own(text, view, lasting, inner):
            return not_yet(GuardHit("apart", text.text), {})
        when = replace(due.when or When(WhenKind.NOW), until=lasting.until)
        is_asked = words.time.says("asking", text.original)
        is_unsure = inner.needs_confirmation or is_asked
        return replace(inner, when=when, needs_confirmation=is_unsure, why=f"{lasting.kind} and {inner.why}")

    def _is_own(self, text: Normalised, view: HomeView, lasting: Lasting, inner: Understanding) -> bool:
        """Whether the end belongs to the command, and to all of it: "I read for an hour, turn on the lamp" has two."""
        words = self.all_words[text.language]
        splitter = ClauseSplitter(self.sure, self.phrases.lexicon(view, words), words, view, self.tools)
        if len(splitter.split(lasting.rest)) > 1:
            return False
        if lasting.clause is None:
            return True
        own = self.sure(replace(text, text=find_when(lasting.clause, words.time).rest), view)
        return is_complete(own, self.tools) and {i.tool for i in own.intents} == {i.tool for i in inner.intents}

    def _not_lasting(self, text: Normalised, lasting: Lasting, timings: Mapping[str, float]) -> Understanding:
        """Refuse a sentence whose end is clear, for what is left of it."""
        words = self.all_words[text.language]
        if (problem := find_when(lasting.rest, words.time).problem) is not None:
            return not_yet(GuardHit(str(problem), text.text), timings)
        if (hit := guard(lasting.rest, words)) is not None:
            return not_yet(hit, timings)
        if text.is_question:
            return not_yet(GuardHit("question", text.text), timings)
        values = {"words": text.text}
        return Understanding(
            Kind.REFUSE, (), "not_understood", values, "none", "no command that lasts", timings_ms=timings
        )

    def _missing(self, rest: Normalised, view: HomeView) -> Understanding:
        """What the home lacks of a command that is to hold for a while; NONE if that is not why it is none."""
        if guard(rest.text, self.all_words[rest.language]) is not None:
            return _NOTHING
        found = self.refuser.named(self.refuser.refuse(rest, view), rest, view)
        is_told = found.kind is Kind.REFUSE and found.reply_key not in _UNCLEAR | {"not_yet"}
        return found if is_told and not found.intents else _NOTHING

    def _due(self, text: Normalised, view: HomeView, found: Found, timings: dict[str, float]) -> Understanding:
        words = self.all_words[text.language]
        is_home = self.refuser.is_about_home(text, view)
        if found.when is None:
            is_asked = is_question(self.match(replace(text, text=found.rest), view), self.tools)
            kind = "question" if is_asked else str(found.problem)
            hit = GuardHit(kind, found.words)
            return not_yet(hit, timings) if is_home else Understanding(Kind.NONE, timings_ms=timings)
        rest = replace(text, text=found.rest)
        inner = self._inner(rest, view)
        timings |= inner.timings_ms
        if inner.kind is Kind.NONE and is_home and (hit_in_rest := guard(found.rest, words)):
            return not_yet(hit_in_rest, timings)
        if inner.kind is Kind.NONE and is_home and found.rest:
            proposed = self.whole(self.refuser.named(self.refuser.refuse(rest, view), rest, view), rest, view)
            when = found.when if proposed.kind is Kind.CALLS else None  # asked about for then, not for now
            return replace(proposed, when=when, timings_ms=timings)
        if inner.kind is Kind.SAY or not inner.intents or (found.when.is_bare and takes_number(inner, self.tools)):
            return Understanding(Kind.NONE, timings_ms=timings)
        return replace(inner, when=found.when, why=f"{found.when.kind} and {inner.why}", timings_ms=timings)

    def _inner(self, rest: Normalised, view: HomeView) -> Understanding:
        """The command of a plan, by the tiers that are sure, else by the model if nothing forbids it."""
        found = self.sure(rest, view)
        found = self.heard(rest, view) if found.kind is Kind.NONE and rest.text else found
        if found.kind is not Kind.NONE or self.model is None or not rest.text:
            return found
        if guard_any(rest.text, self.all_words[rest.language], self.all_words.values()) is not None:
            return Understanding(Kind.NONE)
        asked = self.model.understand(rest, view)
        asked = self.whole(asked, rest, view)
        return asked if asked.kind is Kind.CALLS else Understanding(Kind.NONE, timings_ms=asked.timings_ms)
