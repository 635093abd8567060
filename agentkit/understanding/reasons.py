"""Read a command without the reason before or behind it: "it is dark in the hall, put the light on"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.choosing import is_question
from agentkit.understanding.entries import TARGETS, Item, Role
from agentkit.understanding.guard import guard
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold, fold_listed, without_frames
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

Match = Callable[[Normalised, HomeView], Understanding]
_SPELLED_OUT = ("negation", "report")
"""Kinds of guards that a reason may hold in so many words: "I can't see", 忘关了."""
_EDGES = " ,.;!"
_MARKS = ",.;!"
_THINGS = TARGETS - {Role.AREA, Role.FLOOR, Role.HERE, Role.HOME, Role.IT}
_MAX_CHARS = 120
_MAX_TRIED = 6
_NOTHING = Understanding(Kind.NONE)


@dataclass(frozen=True)
class ReasonReader:
    """Cuts a clause that only tells why off a command, if what is left is understood whole by another tier."""

    match: Match
    lexicon: Lexicon
    words: Words
    view: HomeView
    tools: Mapping[str, Tool]

    def read(self, text: Normalised) -> Understanding:
        """The calls of the command; kind NONE if no clause of the sentence is a mere reason."""
        if not self.words.reasons or text.is_question or len(text.text) > _MAX_CHARS:
            return _NOTHING
        for reason, command in itertools.islice(self._parts(text.text), _MAX_TRIED):
            for said in self._placed(command, reason):
                found = self.match(replace(text, text=said, taken_back=""), self.view)
                if found.kind is Kind.CALLS and not found.reply_key and not is_question(found, self.tools):
                    return replace(found, why=f"{found.why}; {reason!r} tells why")
        return _NOTHING

    def _parts(self, text: str) -> Iterator[tuple[str, str]]:
        """Each way to take a reason off either end, with the command that is left."""
        is_spaced = text.isascii()
        cuts = [m.start() for m in re.finditer(r"[\s,.;]+", text)] if is_spaced else list(range(1, len(text)))
        for at in cuts:
            first, second = text[:at].strip(_EDGES), text[at:].strip(_EDGES)
            is_parted = any(c in _MARKS for c in text[: at + 1][len(first) :])
            if self._is_reason(first, is_parted) and (command := without_frames(second, self.words)):
                if self._is_led(command):
                    yield first, command
            elif self._is_reason(second, is_parted) and self._is_led(first):
                yield second, without_frames(first, self.words)

    def _is_reason(self, clause: str, is_parted: bool) -> bool:
        """Whether a clause only tells how things are; a time, a condition or a report in it is more than that."""
        parted = f"{clause}," if is_parted else clause
        told = [p for p in self.words.reasons if p.fullmatch(clause)]
        told += [p for p in self.words.apart_reasons if p.fullmatch(parted)]
        if not told:
            return False
        hit = guard(clause, self.words)
        is_said = hit is not None and (hit.kind in _SPELLED_OUT or clause.casefold().startswith(hit.words.casefold()))
        if hit is None or not is_said:
            return hit is None
        return any(hit.words.casefold() in p.pattern for p in told)

    def _is_led(self, command: str) -> bool:
        """Whether an English command begins with its verb and does not break off; in Chinese a verb may stand last."""
        folded = fold(command, self.words)
        if not command.isascii():  # "he opens the door" begins with who does it
            is_own = not any(command.startswith(word) for word in self.words.it)
            return is_own and any(i.role is Role.ACT for i in self.lexicon.mentions(folded))
        leads = self.words.made("leading verbs", _leads)
        is_whole = folded.rpartition(" ")[2] not in {*self.words.fillers, *self.words.also}
        return is_whole and any(i.role is Role.ACT and i.text in leads for i in self.lexicon.at(folded, 0))

    def _placed(self, command: str, reason: str) -> Iterator[str]:
        """The command in the room that the reason spoke of; nothing if a thing that was named would be lost."""
        told = self._targets(reason)
        own = self._targets(command)
        rooms = {i.text for i in told if i.role is Role.AREA}
        things = [i for i in told if i.role in _THINGS - {Role.ALL, Role.KIND}]
        is_placed = any(i.role in (Role.AREA, Role.FLOOR, Role.NAME) for i in own)
        if things and not any(i.role in _THINGS | {Role.TOPIC} for i in own):
            return
        if len(rooms) == 1 and not is_placed:
            room = next(iter(rooms))
            yield f"{command} in the {room}" if command.isascii() else f"{room}{command}"
        elif not rooms or is_placed:
            yield command

    def _targets(self, clause: str) -> list[Item]:
        return [i for i in self.lexicon.mentions(fold(clause, self.words)) if i.role in TARGETS | {Role.TOPIC}]


def _leads(words: Words) -> frozenset[str]:
    """The first halves of the verbs that may lead a command."""
    phrases = (p for listed in words.verbs.values() for p in listed if p[0] not in "…^")
    return frozenset(fold_listed(p.partition("…")[0], words) for p in phrases)
