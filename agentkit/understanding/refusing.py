"""What is said of a sentence that no tier understood: what the home lacks, what may have been meant, or neither."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agentkit.types import Kind, Understanding
from agentkit.understanding.half_heard import half_heard
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.named_guard import guard_unless_named
from agentkit.understanding.normalise import Normalised, fold, fold_all
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.propose import Proposer
from agentkit.understanding.shortlist import is_about_home, is_wish
from agentkit.understanding.stand_in import Lacking, StandIns
from agentkit.understanding.unknown import is_lacking, unknown_name
from agentkit.understanding.words import Words

_FORBIDS = frozenset({"negation", "condition"})
"""Kinds of guards that say more than that a thing is unknown."""
_NUMBER = re.compile(r"\d+")
_NEAR = 0.8
"""Likeness, from 0 to 1, from which an unknown name may be a misspelled one of the home."""


@dataclass(frozen=True)
class Refuser:
    """Refuses with the reason that helps most."""

    phrases: PhraseTier
    proposer: Proposer
    naming: Sequence[str]
    """Acts whose object must be a device; see PhraseMap."""
    words: Mapping[str, Words]
    stand_ins: StandIns

    def refuse(self, text: Normalised, view: HomeView) -> Understanding:
        """Refuse a sentence, as one about the home or about something else."""
        key = "not_understood" if self.is_about_home(text, view) else "not_home"
        return Understanding(Kind.REFUSE, (), key, {"words": text.text}, "none", "no tier understood it")

    def is_about_home(self, text: Normalised, view: HomeView) -> bool:
        """Tell whether a sentence speaks of anything that a home has or does."""
        words = self.words[text.language]
        return is_about_home(text, view, words, self.phrases.lexicon(view, words))

    def named(self, found: Understanding, text: Normalised, view: HomeView) -> Understanding:
        """Name the device that the home lacks, if that is why, or propose what may have been meant."""
        words = self.words[text.language]
        lexicon = self.phrases.lexicon(view, words)
        if found.kind is Kind.CALLS:
            return self._with_rest(self._instead(found, text, view), text, view) if found.needs_confirmation else found
        if found.kind is not Kind.REFUSE or found.reply_key not in ("not_understood", "not_home", "unknown_device"):
            return found
        if found.reply_key == "unknown_device":
            half = self._half_heard(text, view)
            return found if half.kind is Kind.NONE else half
        name = unknown_name(text.text, lexicon, words, self.naming)
        hit = None if name is None else guard_unless_named(text.text, words, self.words.values(), lexicon)
        if hit is not None and hit.kind in _FORBIDS:
            values = {"kind": hit.kind, "words": hit.words}
            return replace(found, reply_key="not_yet", reply_values=values, why=hit.why)
        if (half := self._half_heard(text, view)).kind is not Kind.NONE:
            return half
        is_vague = self.proposer.is_vague(fold(text.text, words))
        lacking = None if is_vague else self.stand_ins.read(text, view)
        if lacking is not None and not lacking.areas:
            return self._lacking(found, lacking, text, view)
        if name is not None and is_lacking(name, lexicon):
            return unknown(found, name)
        if (proposed := self.proposer.propose(text, view)).kind is not Kind.NONE:
            return proposed
        if lacking is not None:
            return self._lacking(found, lacking, text, view)
        if found.reply_key == "not_home" and is_wish(text, words, lexicon):
            found = replace(found, reply_key="not_understood")
        return found if name is None else self._unknown(found, name, words)

    def _half_heard(self, text: Normalised, view: HomeView) -> Understanding:
        words = self.words[text.language]
        read = partial(self._clause, text, view)
        return half_heard(text.text, self.phrases.lexicon(view, words), words, self.proposer.tools, read)

    def _with_rest(self, found: Understanding, text: Normalised, view: HomeView) -> Understanding:
        """What is asked about, with the clauses beside it that nobody understood."""
        half = self._half_heard(text, view)
        if found.kind is not Kind.CALLS:  # it was the clause that looked like the name of a thing
            return found if half.kind is Kind.NONE or found.reply_key != "unknown_device" else half
        is_same = {i.tool for i in half.intents} == {i.tool for i in found.intents}
        if found.reply_key or not is_same:
            return found
        return replace(found, reply_key=half.reply_key, reply_values=half.reply_values)

    def _clause(self, text: Normalised, view: HomeView, clause: str) -> Understanding:
        """What one clause of a sentence means by itself."""
        return self.phrases.match(replace(text, text=clause, original=clause, taken_back=""), view)

    def _instead(self, found: Understanding, text: Normalised, view: HomeView) -> Understanding:
        """What is asked about, unless it would be done in the place of something that the home lacks."""
        words = self.words[text.language]
        lacking = self.stand_ins.read(text, view)
        if lacking is not None:
            return found if lacking.areas else self._lacking(found, lacking, text, view)
        name = unknown_name(text.text, self.phrases.lexicon(view, words), words, self.naming)
        return unknown(found, name) if name is not None and _NUMBER.search(name) else found  # another one of a series

    def _unknown(self, found: Understanding, name: str, words: Words, areas: tuple[str, ...] = ()) -> Understanding:
        """Refuse with the name, or ask what is meant if it may be any thing."""
        if fold(name, words) not in fold_all(words.talk.something, words):
            return unknown(found, name, areas)
        why = f"{name!r} may be any thing"
        return Understanding(Kind.ASK, (), "what", path=found.path, why=why, timings_ms=found.timings_ms)

    def _lacking(self, found: Understanding, lacking: Lacking, text: Normalised, view: HomeView) -> Understanding:
        """Propose what is spelled almost like the unknown name, else refuse with that name."""
        words = self.words[text.language]
        names = self.phrases.lexicon(view, words).names
        near = _near(lacking.name, {*(n for own in names.folded.values() for n in own), *names.places})
        if near:
            said = fold(text.text, words).replace(lacking.name, near)
            meant = self.phrases.match(replace(text, text=said, taken_back=""), view)
            if meant.kind is Kind.CALLS:
                return replace(meant, needs_confirmation=True, why=f"{lacking.name!r} may be {near!r}; {meant.why}")
        return self._unknown(found, _as_said(lacking.name, text.text), words, lacking.areas)


def _near(name: str, names: Collection[str]) -> str:
    """The one of the home's names that is spelled almost like another; its numbers must be the same."""
    numbers = _NUMBER.findall(name)
    near = difflib.get_close_matches(name, [n for n in names if _NUMBER.findall(n) == numbers], 3, _NEAR)
    return next((n for n in near if _likeness(name, n) >= _NEAR), "")


def _likeness(left: str, right: str) -> float:
    """How alike two names are without the words at their ends that they share."""
    said, known = left.split(), right.split()
    while said and known and said[-1] == known[-1]:
        said, known = said[:-1], known[:-1]
    return difflib.SequenceMatcher(None, " ".join(said), " ".join(known)).ratio() if said and known else 0.0


def _as_said(name: str, text: str) -> str:
    """A folded name as it stands in a text."""
    found = re.search(r"[\W_]*".join(map(re.escape, name.replace(" ", ""))), text, re.IGNORECASE)
    return name if found is None else found[0]


def unknown(found: Understanding, name: str, areas: tuple[str, ...] = ()) -> Understanding:
    """Make it the refusal that names what this home lacks, or what some rooms of it lack."""
    return replace(
        found,
        kind=Kind.REFUSE,
        intents=(),
        reply_key="unknown_device",
        reply_values={"name": name, "area": areas} if areas else {"name": name},
        why=f"{name!r} is unknown here",
        needs_confirmation=False,
    )
