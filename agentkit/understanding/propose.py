"""What to ask about a home sentence that no tier understood: a reading of its known pieces, or what exactly is meant.

A reading is only ever proposed ("Unlock the front door?") and runs after a yes. It is made of the pieces that are
known, so the unknown rest may say anything; with a time, condition or negation in the sentence the question is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.choosing import reached_by
from agentkit.understanding.entries import TARGETS, VALUES, Item, Role
from agentkit.understanding.evidence import read_sentence
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.mention import mere_targets, targets_among
from agentkit.understanding.named_guard import guard_unless_named
from agentkit.understanding.names import place_names
from agentkit.understanding.normalise import Normalised, fold, fold_all, fold_listed
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.piece_checks import MAX_COMMANDS
from agentkit.understanding.selecting import select
from agentkit.understanding.target import TargetFinder
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

MAX_INTENTS = 2
HINTED = "an indirect wish"
"""Why a command is proposed whose words were not said."""
MAX_UNKNOWN, MAX_UNKNOWN_OF_KIND = 36, 16
"""Characters of a sentence that may stay unknown where it names a device or room, and where it names only a kind."""
_NOTHING = Understanding(Kind.NONE)
_BREAK = re.compile("[,;，；]|(?<=.)(?:再|然后)|\\b(?:and then|then)\\b")
_NOT_ON = (None, "off", "standby", "unavailable", "unknown")
_SWITCHES = frozenset({"on", "off"})
_IDLE = frozenset({Role.FILLER, Role.PREPOSITION, Role.WISH, Role.ALL})
_THINGS = TARGETS - {Role.IT, Role.ALL, Role.HERE}


@dataclass(frozen=True)
class Proposer:
    """Reads what is left after all tiers; by the app's words about hints, vague wishes and commands without a value."""

    phrases: PhraseTier
    tools: Mapping[str, Tool]
    words: Mapping[str, Words]

    def propose(self, text: Normalised, view: HomeView) -> Understanding:
        """A reading to be confirmed, a command that lacks its value, or an open question. Kind NONE: nothing to ask."""
        words = self.words[text.language]
        if text.is_question and not text.is_request:
            return _NOTHING
        lexicon = self.phrases.lexicon(view, words)
        is_guarded = guard_unless_named(text.text, words, self.words.values(), lexicon) is not None
        if not is_guarded and (lacking := self._lacking(text, view, words, lexicon)):
            return Understanding(Kind.CALLS, lacking, path="template", why="the value is missing")
        folded = fold(text.text, words)
        hinted = _hinted(folded, words)
        is_command = any(p.search(folded) for p in words.talk.starts)
        parts = (
            [hinted]
            if hinted
            else [folded, *_clauses(text.text, words), *_second_verb(folded, lexicon)]
            if is_command
            else []
        )
        read = next((r for p in parts if (r := self._read(p, view, words, lexicon, is_hinted=bool(hinted)))), ())
        clauses = [] if hinted or not is_command else _commands(text.text, words, lexicon)
        if len(clauses) > 1:
            read = self._whole(text, clauses, view, words, lexicon)
        read = read if hinted or all(is_specific(i, view, is_near=len(clauses) > 1) for i in read) else ()
        read = tuple(self._further(i, view) for i in read) if hinted else read
        if read and not is_guarded:
            why = HINTED if hinted else "read from the known pieces only"
            return Understanding(Kind.CALLS, read, path="template", why=why, needs_confirmation=True)
        if not is_guarded and (switched := self._switched(text, view, words, lexicon)):
            why = "a room without a thing in it"
            return Understanding(Kind.CALLS, switched, path="template", why=why, needs_confirmation=True)
        if read or self.is_vague(folded):
            return Understanding(Kind.ASK, (), "what", _about(read), "template", "what to do is left open")
        is_alone = not is_guarded and not _begins_as_question(folded, words)
        if is_alone and (named := self._named_alone(text, view, words, lexicon)):
            values = {"devices": tuple(d.name for d in named), "ids": tuple(d.id for d in named)}
            return Understanding(Kind.ASK, (), "what", values, "template", "a device without a verb")
        return _NOTHING

    def is_vague(self, folded: str) -> bool:
        """Whether a folded sentence leaves open what to do ("as always")."""
        return any(p.search(folded) for w in self.words.values() for p in w.talk.vague)

    def _switched(self, text: Normalised, view: HomeView, words: Words, lexicon: Lexicon) -> tuple[Intent, ...]:
        """ "turn off the kitchen": what a room alone usually means when it is switched."""
        said = read_sentence(text.text, lexicon, words)
        is_switch = any(acts & _SWITCHES for acts in said.verbs)
        places = said.of(Role.AREA, Role.FLOOR)
        verbs = {(m.start, m.end) for m in said.mentions if m.role is Role.ACT}
        others = {m.role for m in said.mentions if (m.start, m.end) not in verbs}
        others -= {Role.AREA, Role.FLOOR, Role.PART, *_IDLE}
        if not (is_switch and places and words.definites) or others or _known(said.folded, said.mentions)[1]:
            return ()
        kind = f" {words.definites[0]}" if said.folded.isascii() else words.definites[0]
        room = next(m for m in said.mentions if m.role in (Role.AREA, Role.FLOOR))
        if room.text not in place_names(view, words):
            return ()
        spelled = f"{said.folded[: room.end]}{kind}{said.folded[room.end :]}"
        found = self.phrases.match(replace(text, text=spelled, taken_back=""), view)
        return found.intents if found.kind is Kind.CALLS else ()

    def _named_alone(self, text: Normalised, view: HomeView, words: Words, lexicon: Lexicon) -> tuple[Device, ...]:
        """The few devices that a text names by name or room, and nothing else; empty if it says more."""
        types = tuple(dict.fromkeys(t for tool in self.tools.values() if not tool.is_query for t in tool.types))
        readings, finder = list(mere_targets(text.text, words, lexicon)), TargetFinder(words, view, lexicon.names)
        for device_type in types if readings else ():
            found = targets_among((device_type,), readings, finder)
            is_told = len(found) == 1 and _is_named(Intent("", {}, found[0]))
            devices = select(found[0], view) if is_told else ()
            if 0 < len(devices) <= MAX_INTENTS and fold(text.text, words) not in place_names(view, words):
                return devices
        return ()

    def _read(
        self, folded: str, view: HomeView, words: Words, lexicon: Lexicon, *, is_hinted: bool
    ) -> tuple[Intent, ...]:
        known, n_unknown = _known(folded, lexicon.mentions(folded))
        if n_unknown > MAX_UNKNOWN and not is_hinted:
            return ()
        read = self.phrases.reader(known, view, words.language)
        for cut in lexicon.cuts(known):
            if not any(i.role in _THINGS for i in cut) or _has_kind_for_name(cut, known, lexicon):
                continue
            found = read(cut)
            if n_unknown > MAX_UNKNOWN_OF_KIND and not is_hinted and not all(_is_named(i) for i in found):
                continue
            if found and len(found) <= MAX_INTENTS and not any(self.tools[i.tool].is_query for i in found):
                return found
        return ()

    def _whole(
        self, text: Normalised, clauses: Sequence[str], view: HomeView, words: Words, lexicon: Lexicon
    ) -> tuple[Intent, ...]:
        """What every clause that commands something asks for; nothing if one of them would be passed over."""
        found: list[Intent] = []
        for clause in clauses:
            intents = self.phrases.match(replace(text, text=clause), view).intents
            intents = intents or self._read(clause, view, words, lexicon, is_hinted=False)
            if not intents or any(self.tools[i.tool].is_query for i in intents):
                return ()
            found += (_of_before(i, found) for i in intents if i not in found)
        return tuple(found) if len(found) <= MAX_COMMANDS else ()

    def _further(self, intent: Intent, view: HomeView) -> Intent:
        """What a complaint about something that is on already asks for: too dark with the lights on is "brighter"."""
        reached = reached_by(intent.selector, view)
        if not reached or any(d.state in _NOT_ON for d in reached):
            return intent
        rules = (
            r for r in self.phrases.phrases.further.get(intent.tool, ()) if {d.type for d in reached} <= {*r.types}
        )
        return next((Intent(r.tool, r.constants, intent.selector) for r in rules), intent)

    def _lacking(self, text: Normalised, view: HomeView, words: Words, lexicon: Lexicon) -> tuple[Intent, ...]:
        """ "set the thermostat", "change the colour of the lamp": a command whose one value is not said."""
        folded = fold(text.text, words)
        verbs = words.made("verbs of setting", _setting_verbs)
        other = max((i.end for i in lexicon.at(folded, 0) if i.role is Role.ACT), default=0) if folded else 0
        verbs = [v for v in verbs if not v.isascii() or len(v) >= other]  # "turn on …" is not "turn … to"
        for verb in (v for v in reversed(verbs) if _starts(folded, v)):
            can_lack_topic = verb in fold_all(words.talk.sets, words)
            if found := self._valueless(folded.replace(verb, " ", 1), view, words, lexicon, can_lack_topic):
                return found
        return ()

    def _valueless(
        self, rest: str, view: HomeView, words: Words, lexicon: Lexicon, can_lack_topic: bool
    ) -> tuple[Intent, ...]:
        """The call for what a command without its verb names, by the topic said or the usual value of its kind."""
        topics = [(t, fold_listed(w, words)) for t, listed in words.topics.items() for w in listed]
        said = next(((t, w) for t, w in sorted(topics, key=lambda x: -len(x[1])) if _has(rest, w)), None)
        if said is None and not can_lack_topic:
            return ()
        rest = rest if said is None else _without(rest, said[1])
        readings, finder = list(mere_targets(rest, words, lexicon)), TargetFinder(words, view, lexicon.names)
        for rule in self.phrases.phrases.values if readings else ():
            is_meant = rule.topic == said[0] if said is not None else rule.value == "number" and not rule.needs_topic
            if is_meant and (found := targets_among(rule.types, readings, finder)):
                return (Intent(rule.tool, {}, found[0]),)
        return ()


def _setting_verbs(words: Words) -> list[str]:
    """What commands to set something begin with, the longest last."""
    return sorted({v for p in words.verbs.get("set", ()) if (v := fold_listed(p.split("…")[0], words))}, key=len)


def _commands(text: str, words: Words, lexicon: Lexicon) -> list[str]:
    """The clauses that hold a verb and what it is for, or nothing but known pieces."""
    clauses = [fold(part, words) for part in _BREAK.split(text)]
    roles = [{m.role for m in lexicon.mentions(c)} for c in clauses]
    wanted = _THINGS | VALUES | {Role.TOPIC}
    is_known = [_known(c, lexicon.mentions(c))[1] == 0 for c in clauses]
    told = zip(clauses, roles, is_known, strict=True)
    return [c for c, of, known in told if Role.ACT in of and (known or of & wanted)]


def _of_before(intent: Intent, before: Sequence[Intent]) -> Intent:
    """A clause without any word for a device speaks of the device before it, if that is of its type."""
    selector = intent.selector
    last = before[-1].selector if before else Selector()
    is_bare = replace(selector, types=()) == Selector()
    return replace(intent, selector=last) if is_bare and set(last.types) & set(selector.types) else intent


def _begins_as_question(folded: str, words: Words) -> bool:
    """Whether a sentence without its mark begins like a question ("is it on")."""
    starts = fold_all(words.questions.get("yes_no", ()), words)
    return any(folded.startswith(f"{s} ") for s in starts if s.isascii())


def _clauses(text: str, words: Words) -> list[str]:
    """The parts between commas that begin like a command: what follows often tells why."""
    parts = [fold(part, words) for part in re.split("[,;]", text)]
    return [p for p in parts if p and any(start.search(p) for start in words.talk.starts)] if len(parts) > 1 else []


def _second_verb(folded: str, lexicon: Lexicon) -> list[str]:
    """The command behind a bare verb and "and": a door that is a lock can be locked but not closed."""
    pieces: dict[int, set[Role]] = {}
    for item in lexicon.mentions(folded):
        pieces.setdefault(item.end, set()).add(item.role)
    ends = list(pieces)[:2]
    is_bare = len(ends) == 2 and Role.ACT in pieces[ends[0]] and Role.ALSO in pieces[ends[1]]
    return [folded[ends[1] :].strip()] if is_bare else []


def is_specific(intent: Intent, view: HomeView, *, is_near: bool = False) -> bool:
    """Whether a selector names a device or a room, or fits one device only: a mere kind could be meant of anything.

    `is_near`: the one in the speaker's room will do.
    """
    fitting = reached_by(intent.selector, view) if is_near else select(intent.selector, view)
    return _is_named(intent) or len(fitting) == 1


def _is_named(intent: Intent) -> bool:
    selector = intent.selector
    return bool(selector.names or selector.device_ids or selector.areas or selector.floors)


def _has_kind_for_name(cut: Iterable[Item], text: str, lexicon: Lexicon) -> bool:
    """Whether a mere word for a kind ("light") was taken for the name of one device."""
    names = [(i.start, i.end) for i in cut if i.role is Role.NAME]
    return any(
        other.role in (Role.KIND, Role.CLASS) and other.end == end
        for start, end in names
        for other in lexicon.at(text, start)
    )


def _hinted(folded: str, words: Words) -> str | None:
    """The sentence with its first indirect wish spelled as the command it may stand for."""
    for pattern, command in words.talk.hints.items():
        found = re.search(pattern, folded, re.IGNORECASE)
        if found:
            rest = re.sub(pattern, " ", folded[found.end() :], flags=re.IGNORECASE)
            return f"{folded[: found.start()]} {command} {rest}".strip()
    return None


def _known(folded: str, mentions: Iterable[Item]) -> tuple[str, int]:
    """The known pieces in order, and how many characters are none of them."""
    spans = sorted({(m.start, m.end) for m in mentions})
    n_unknown = sum(not c.isspace() for c in folded) - sum(len(folded[a:b].replace(" ", "")) for a, b in spans)
    return " ".join(folded[a:b] for a, b in spans), n_unknown


def _about(intents: Iterable[Intent]) -> dict[str, tuple[str, ...]]:
    names = tuple(n for i in intents for n in i.selector.names)
    return {"devices": names} if names else {}


def _starts(folded: str, verb: str) -> bool:
    """Whether a sentence begins with its verb, or in Chinese has it anywhere."""
    return folded.startswith(f"{verb} ") if verb.isascii() else verb in folded and folded != verb


def _has(text: str, word: str) -> bool:
    return f" {word} " in f" {text} " if word.isascii() else word in text


def _without(text: str, word: str) -> str:
    return f" {text} ".replace(f" {word} ", " ", 1).strip() if word.isascii() else text.replace(word, "", 1)
