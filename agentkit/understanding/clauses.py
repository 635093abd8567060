"""Several commands in one sentence, each read by itself: with times of their own, or a timer or list among them.

A time holds for the clause it stands in. Where it might hold for another one too, the whole sentence is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.choosing import is_complete, is_question, reached_by
from agentkit.understanding.clause_times import Clause, is_unclear, needs_split
from agentkit.understanding.entries import TARGETS, Role
from agentkit.understanding.evidence import acts_of
from agentkit.understanding.guard import guard
from agentkit.understanding.holding import find_lasting
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold, without_frames
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.time_marks import marked
from agentkit.understanding.timer_pieces import Reading, plain_text, take_noun
from agentkit.understanding.timer_tier import read_timer
from agentkit.understanding.tools import Tool
from agentkit.understanding.when import Found, find_when
from agentkit.understanding.words import Words

_ENDS = " ,.;"
_MAX_CLAUSES = 4
_GUARDS = ("condition", "negation", "exception", "report")
_NOTHING = Understanding(Kind.NONE)


@dataclass(frozen=True)
class ClauseSplitter:
    """Reads clauses by themselves with `understand`, which reads one."""

    understand: Callable[[Normalised, HomeView], Understanding]
    lexicon: Lexicon
    words: Words
    view: HomeView
    tools: Mapping[str, Tool]

    def read_timed(self, text: Normalised) -> Understanding:
        """Read a sentence whose clauses have several times, or a timer beside a command; NONE if it has no such."""
        if not self._may_be_timed(text.text) or read_timer(text, self.words, self.view).kind is not Kind.NONE:
            return _NOTHING
        clauses = self._clauses(text.text)
        if not clauses or not needs_split(clauses):
            return _NOTHING
        if _says_now(text.original.strip(_ENDS).rpartition(clauses[-1].text)[2], self.words):
            clauses[-1] = replace(clauses[-1], is_now=True)  # at the end it is taken for politeness
        is_then = any(p.search(text.text) for p in self.words.time.frames.get("after", ()))
        found = _NOTHING if is_unclear(clauses, is_then=is_then) else self._read(text, clauses)
        return _unclear(text) if found.kind is Kind.NONE else found

    def unshared(self, text: Normalised, found: Understanding, phrases: PhraseMap) -> Understanding:
        """A plan that does one thing to a device and then another, with its time for the last clause only; else NONE.

        So is one that says "now" too. Things of their own have one time together: "the lamp and the fan at nine".
        """
        if found.when is None:
            return _NOTHING
        if not self.has_joint(text.text):
            is_wrong = self._undoes(found.intents, phrases) or self._says_now_beside(text.text)
            return _unclear(text) if is_wrong else _NOTHING
        clauses = [self._clause(part) for part in self.split(text.text)]
        is_last = [c.is_timed for c in clauses] == [False, True]
        apart = self._read(text, clauses) if is_last else _NOTHING
        intents = [i for part in (apart, *apart.then) for i in part.intents]
        if self._undoes(intents, phrases) or self._is_of_one(intents):
            return apart
        is_wrong = self._undoes(found.intents, phrases) or self._says_now_beside(text.text)
        return _unclear(text) if is_wrong else _NOTHING

    def _is_of_one(self, intents: Sequence[Intent]) -> bool:
        """Whether two different things are done to the same devices."""
        reached = [{d.id for d in reached_by(i.selector, self.view)} for i in intents]
        is_same = len(reached) == 2 and bool(reached[0] & reached[1])
        return is_same and (intents[0].tool, intents[0].args) != (intents[1].tool, intents[1].args)

    def _undoes(self, intents: Sequence[Intent], phrases: PhraseMap) -> bool:
        """Whether one device is turned one way and the other."""
        turned: dict[str, set[str]] = {}
        for intent in intents:
            for device in reached_by(intent.selector, self.view):
                acts = acts_of(intent.tool, {device.type}, phrases)
                contrary = {other for act in acts for other in phrases.opposites.get(act, ())}
                if turned.setdefault(device.id, set()) & contrary:
                    return True
                turned[device.id] |= acts
        return False

    def _says_now_beside(self, text: str) -> bool:
        """Whether one of several parts says "now"; at the very beginning it is but a way to begin."""
        now = [p.search(find_when(text, self.words.time).rest) for p in self.words.time.frames.get("now", ())]
        return any(hit is not None and hit.start() > 0 for hit in now)

    def read(self, text: Normalised) -> Understanding:
        """Read a sentence whose clauses are all sure by themselves; NONE if one is not, or a guard may hold for all."""
        if guard(text.text, self.words, kinds=_GUARDS) is not None:
            return _NOTHING
        clauses = self._clauses(text.text)
        return self._read(text, clauses) if clauses and not any(c.is_timed for c in clauses) else _NOTHING

    def swallows(self, found: Understanding, text: Normalised) -> bool:
        """Whether words that a template took as they are hold a verb of a sentence with joints."""
        texts = [v for i in found.intents if not self._is_query(i.tool) for v in i.args.values() if isinstance(v, str)]
        return bool(texts) and self.has_joint(text.text) and any(self._holds_verb(v) for v in texts)

    def split(self, text: str) -> list[str]:
        """The parts of a text between commas and joining words that hold a verb or a timer each."""
        pieces = self.words.made("joints", _joints).split(text)
        found: list[str] = []
        for piece, joint in zip(pieces[::2], ["", *pieces[1::2]], strict=True):
            is_own = self._commands(piece)
            if found and not (is_own and self._commands(found[-1])):
                found[-1] += joint + piece
            else:
                found.append(piece)
        return [clause.strip(_ENDS) for clause in found]

    def _commands(self, text: str) -> bool:
        """Whether a text is more than a thing or a time: it holds a verb or a timer, or begins with a time."""
        is_own = self._holds_verb(text) or take_noun(Reading(plain_text(text)), self.words.timers)
        return is_own or _leads(find_when(text, self.words.time), text)

    def _holds_verb(self, text: str) -> bool:
        return any(m.role is Role.ACT for m in self.lexicon.mentions(fold(text, self.words)))

    def _is_query(self, name: str) -> bool:
        tool = self.tools.get(name)
        return tool is not None and tool.is_query

    def has_joint(self, text: str) -> bool:
        """Whether a comma or a joining word stands in a text."""
        return self.words.made("joints", _joints).search(text) is not None

    def _may_be_timed(self, text: str) -> bool:
        """Whether a text has a joint, and a time or a timer; and is not "a timer for an hour, then turn it off"."""
        if not self.has_joint(text):
            return False
        sentence = marked(text, self.words.time)
        if any(p.search(sentence.text) for p in self.words.time.frames.get("command", ())):
            return False
        noun = Reading(plain_text(text))
        return bool(sentence.marks) or take_noun(noun, self.words.timers)

    def _clauses(self, text: str) -> list[Clause]:
        """The clauses of a text; none if there is one only, or more than are ever read."""
        parts = self.split(text)
        return [self._clause(part) for part in parts] if 1 < len(parts) <= _MAX_CLAUSES else []

    def _clause(self, text: str) -> Clause:
        when = find_when(text, self.words.time)
        noun = Reading(plain_text(text))
        is_timer = take_noun(noun, self.words.timers) and noun.kind != "plan"
        lasting = find_lasting(text, self.words.time)
        rest = None if lasting is None or is_timer else find_when(lasting.rest, self.words.time)
        is_lasting = rest is not None and rest.when is None
        is_timed = when.when is not None or when.problem is not None or lasting is not None
        is_ending = any(p.search(text) for p in self.words.time.frames.get("ending", ()))
        kinds = (is_timer, noun.is_reminder, is_lasting, is_timer and noun.kind == "timer", is_ending)
        return Clause(text, _says_now(text, self.words), is_timed, _leads(when, text), *kinds)

    def _read(self, text: Normalised, clauses: Sequence[Clause]) -> Understanding:
        found: list[Understanding] = []
        view = self.view
        for clause in clauses:
            bare = without_frames(_without_now(clause.text, self.words), self.words)
            one = self.understand(replace(text, text=bare, original=bare, taken_back=""), view)
            is_loose = bool(found) and self._moves(one) and not self._names_a_thing(bare)
            if is_loose and clause.has_time_first and not bare.isascii() and (it := next(iter(self.words.it), "")):
                bare = f"{it}{bare}"  # 开灯，五分钟后关掉: what was just moved need not be said again
                one = self.understand(replace(text, text=bare, original=bare, taken_back=""), view)
            elif is_loose:
                one = _carried_over(one, view.spoken_of if self._moves(found[-1]) else None)
            if not self._is_sure(one):
                return _NOTHING
            found.append(one)
            devices = [d for i in one.intents for d in self._likely(i, view) if self._moves(one)]
            types = tuple(dict.fromkeys(d.type for d in devices))
            spoken = Selector(device_ids=tuple(dict.fromkeys(d.id for d in devices)), types=types)
            view = replace(view, spoken_of=spoken) if 0 < len(devices) <= 4 else view
        return _joined(found)

    def _likely(self, intent: Intent, view: HomeView) -> tuple[Device, ...]:
        """The devices that a clause is about; of those that nobody named the ones that it will most likely reach."""
        reached, selector, rank = reached_by(intent.selector, view), intent.selector, self.tools[intent.tool].prefers
        is_told = selector.names or selector.device_ids or selector.areas or selector.floors or selector.device_class
        if rank is None or is_told or selector.is_all:
            return reached
        return tuple(d for d in reached if rank(d) == max(map(rank, reached)))

    def _is_sure(self, found: Understanding) -> bool:
        """Whether a clause is a whole command; what is to be reminded of may be more than its clause."""
        is_whole = is_complete(found, self.tools) and not found.needs_confirmation and not found.reply_key
        is_reminder = any(i.tool == "reminder" for i in found.intents)
        return is_whole and not is_reminder and not is_question(found, self.tools)

    def _names_a_thing(self, text: str) -> bool:
        """Whether a clause says what it is about; without that it may be the clause before ("… and louder")."""
        folded = fold(text, self.words)
        is_it = any((f" {w} " if w.isascii() else w) in f" {folded} " for w in self.words.it)  # also in "turn it"
        return is_it or any(m.role in TARGETS for m in self.lexicon.mentions(folded))

    def _moves(self, found: Understanding) -> bool:
        return all(self.tools[i.tool].types for i in found.intents)


def _carried_over(found: Understanding, spoken: Selector | None) -> Understanding:
    """A clause that names no thing, about what the one before it moves: "play jazz on the radio and make it louder"."""
    bare = [Selector(types=i.selector.types) == i.selector for i in found.intents]
    fits = spoken is not None and all(set(spoken.types) <= set(i.selector.types) for i in found.intents)
    if spoken is None or not fits or not all(bare):
        return _NOTHING
    return replace(found, intents=tuple(replace(i, selector=spoken) for i in found.intents))


def _unclear(text: Normalised) -> Understanding:
    values = {"kind": "apart", "words": text.text}
    return Understanding(Kind.REFUSE, (), "not_yet", values, "guard", "its times are not clear")


def _leads(when: Found, text: str) -> bool:
    """Whether a text begins with its time, and says more."""
    return when.when is not None and bool(when.rest) and text.strip(_ENDS).endswith(when.rest)


def _says_now(text: str, words: Words) -> bool:
    return any(p.search(text) for p in words.time.frames.get("now", ()))


def _joined(found: Sequence[Understanding]) -> Understanding:
    """The readings as one: those that are for now in one step, those for later each by itself behind them."""
    now = [one for one in found if one.when is None]
    steps = [one for one in found if one.when is not None]
    if now:
        steps.insert(0, replace(now[0], intents=tuple(i for one in now for i in one.intents)))
    why = "; ".join(one.why for one in found)
    return replace(steps[0], then=tuple(steps[1:]), why=f"clause by clause: {why}")


def _joints(words: Words) -> re.Pattern[str]:
    """What stands between two clauses; the text between is kept, so that a name with "and" in it stays whole."""
    spelled = sorted({w.strip(" ,") for w in words.also if w.strip(" ,")}, key=len, reverse=True)
    joins = "|".join(rf"\b{re.escape(w)}\b" if w.isascii() else re.escape(w) for w in spelled) or "(?!)"
    return re.compile(rf"((?:[,.;](?!\d)\s*|\s*(?:{joins})\s*)+)", re.IGNORECASE)


def _without_now(text: str, words: Words) -> str:
    for pattern in words.time.frames.get("now", ()):
        text = pattern.sub(" ", text)
    return " ".join(text.split()).strip(_ENDS)
