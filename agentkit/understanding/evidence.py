"""Hold a model's answer against the sentence: nothing called that was not said, nothing said that is not called."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from agentkit.devices.adapter import Device
from agentkit.types import Intent
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import fold, fold_listed
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.selecting import has_word, select
from agentkit.understanding.shortlist import is_nearly_said
from agentkit.understanding.words import Words

Spans = tuple[tuple[int, int], ...]
_NOTHING: frozenset[str] = frozenset()
_KINDS = frozenset({Role.KIND, Role.CLASS})
_SWITCHES = frozenset({"on", "off"})
_ARGUMENT_ROLES = (Role.NUMBER, Role.LEVEL, Role.WHITE)


class Level(StrEnum):
    """How far the sentence bears out an answer."""

    FULL = "full"
    WEAK = "weak"
    """The devices were said, the verb only hinted at: ask before acting."""
    NONE = "none"


@dataclass(frozen=True)
class Evidence:
    """The verdict on an answer, with its reason."""

    level: Level
    why: str = ""


@dataclass(frozen=True)
class Sentence:
    """What is known of a sentence before any answer is looked at."""

    folded: str
    mentions: tuple[Item, ...]
    lexicon: Lexicon
    words: Words

    def of(self, *roles: Role) -> frozenset[str]:
        """Values mentioned with one of these roles."""
        if len(roles) == 1:
            return self._by_role.get(roles[0], _NOTHING)
        return _NOTHING.union(*(self._by_role.get(role, _NOTHING) for role in roles))

    @cached_property
    def _by_role(self) -> dict[Role, frozenset[str]]:
        return {
            role: frozenset(m.value for m in self.mentions if m.role is role)
            for role in {m.role for m in self.mentions}
        }

    @cached_property
    def verbs(self) -> list[set[str]]:
        """For each verb, the longer ones first, the acts it may stand for.

        The halves of a verb stand in order; a longer verb hides the shorter ones that share a word with it.
        """
        text = f" {self.folded} "
        table = self.words.made("verbs", _verbs_by_start)
        near = (table[start] for start in {*self.folded, *self.folded.split()} if start in table)
        listed = sorted(itertools.chain.from_iterable(near), key=lambda row: row[0])
        parsed = (verb for _, verb in listed if verb.chunks[0] in text)
        found = [(spans, verb.act) for verb in parsed if (spans := _spans(verb, text))]
        found.sort(key=lambda row: -sum(end - start for start, end in row[0]))
        verbs: dict[Spans, set[str]] = {}
        for spans, act in found:
            if spans in verbs or not any(_overlap(spans, other) for other in verbs):
                verbs.setdefault(spans, set()).add(act.partition(".")[0])
        return list(verbs.values())


@dataclass(frozen=True)
class _Verb:
    """One phrase of a verb, split where what it acts on stands."""

    act: str
    chunks: tuple[str, ...]
    is_first: bool
    """It begins the sentence."""
    is_last: bool
    """It ends the sentence."""


def read_sentence(text: str, lexicon: Lexicon, words: Words) -> Sentence:
    """Find everything known in a sentence."""
    folded = fold(text, words)
    sentence = Sentence(folded, lexicon.mentions(folded), lexicon, words)
    if not any(m.start == 0 and m.role in _KINDS for m in sentence.mentions):
        return sentence
    is_verb = any(acts & _SWITCHES for acts in sentence.verbs)
    verbs = {(m.start, m.end) for m in sentence.mentions if is_verb and m.start == 0 and m.role is Role.ACT}
    kept = (m for m in sentence.mentions if m.role not in _KINDS or (m.start, m.end) not in verbs)
    return Sentence(folded, tuple(kept), lexicon, words)  # "switch the hall on" speaks of no switch


def weigh(intents: Sequence[Intent], sentence: Sentence, view: HomeView, words: Words, phrases: PhraseMap) -> Evidence:
    """Judge an answer as a whole: every call needs its device, and every number and place of the sentence its call."""
    called: list[Device] = []
    level = Level.FULL
    for intent in intents:
        devices = select(intent.selector, view)
        called.extend(devices)
        if unsaid := next((d for d in devices if not is_said(d, sentence, view, words)), None):
            return Evidence(Level.NONE, f"{unsaid.name!r} was not mentioned")
        verb = _verb_level(intent, devices, sentence, words, phrases)
        if verb is Level.NONE:
            return Evidence(Level.NONE, f"the sentence asks for the contrary of {intent.tool}")
        level = Level.WEAK if verb is Level.WEAK else level
    if reason := _leftover(intents, called, sentence, view, words, phrases) or _undone(
        intents, called, sentence, words, phrases
    ):
        return Evidence(Level.NONE, reason)
    return Evidence(level, "all said" if level is Level.FULL else "the verb is only hinted at")


def is_said(device: Device, sentence: Sentence, view: HomeView, words: Words) -> bool:
    """By name, nearly by name, by kind in its room, or by kind in the speaker's room."""
    names = sentence.of(Role.NAME)
    if (names and not names.isdisjoint(device.names)) or is_nearly_said(device, sentence.folded, sentence.lexicon):
        return True
    is_class = any(_is_class(device, key, words) for key in sentence.of(Role.CLASS))
    if device.type not in sentence.of(Role.KIND) and not is_class:
        return False
    if sentence.of(Role.PART) & sentence.lexicon.names.parts[device.id]:
        return True
    areas, floors = sentence.of(Role.AREA), sentence.of(Role.FLOOR)
    if areas or floors:
        return device.area in areas or device.area in view.areas_of(floors)
    is_only = view.n_of_type(device.type) == 1
    is_everywhere = bool(sentence.of(Role.ALL, Role.HOME))
    return is_only or is_everywhere or (device.area is not None and device.area == view.speaker_area)


def _verb_level(
    intent: Intent, devices: Sequence[Device], sentence: Sentence, words: Words, phrases: PhraseMap
) -> Level:
    """FULL if a verb of the tool was said, NONE if one of its contrary was, WEAK if neither."""
    types = {d.type for d in devices}
    mine = acts_of(intent.tool, types, phrases)
    said: set[str] = set().union(*sentence.verbs)
    contrary = {a for act in mine for a in phrases.opposites.get(act, ())}
    if said & mine:
        return Level.FULL
    return Level.NONE if said & contrary else Level.WEAK


def acts_of(tool: str, types: Iterable[str], phrases: PhraseMap) -> set[str]:
    """Acts that stand for a tool with devices of these types."""
    wanted = set(types)
    acts = {act for act, able in phrases.acts_of.get(tool, ()) if not wanted.isdisjoint(able)}
    return acts | {"set"} if tool in phrases.valued else acts


def _verbs_by_start(words: Words) -> dict[str, list[tuple[int, _Verb]]]:
    """The phrases of all verbs, split, with their places in the lists, by the first word or sign of their first half.

    A sentence without it need not be searched for the phrase.
    """
    verbs = (
        _Verb(act, chunks, phrase.startswith("^"), phrase.startswith("…"))
        for act, listed in words.verbs.items()
        for phrase in listed
        if (chunks := tuple(c for chunk in phrase.split("…") if (c := fold_listed(chunk, words))))
    )
    table: dict[str, list[tuple[int, _Verb]]] = {}
    for place, verb in enumerate(verbs):
        first = verb.chunks[0]
        table.setdefault(first.split()[0] if first.isascii() else first[0], []).append((place, verb))
    return table


def _spans(verb: _Verb, text: str) -> Spans:
    """Where the halves of a verb stand in order; empty if they do not, or not where the phrase wants them.

    `text` is the folded sentence between spaces.
    """
    is_last = not verb.is_last or text[1:-1].endswith(verb.chunks[-1])
    is_first = not verb.is_first or text[1:-1].startswith(verb.chunks[0])
    at, spans = 0, list[tuple[int, int]]()
    for chunk in verb.chunks if is_last and is_first else ():
        start = text.find(f" {chunk} " if chunk.isascii() else chunk, at)
        if start < 0:
            return ()
        start += chunk.isascii()
        at = start + len(chunk)
        spans.append((start, at))
    return tuple(spans)


def _overlap(left: Spans, right: Spans) -> bool:
    return any(a < d and c < b for a, b in left for c, d in right)


def _leftover(
    intents: Sequence[Intent],
    called: Sequence[Device],
    sentence: Sentence,
    view: HomeView,
    words: Words,
    phrases: PhraseMap,
) -> str:
    """The first number or mention that the answer does not account for, in words; "" if there is none."""
    said = {
        m.number if m.role is Role.NUMBER else float(m.value) for m in sentence.mentions if m.role in _ARGUMENT_ROLES
    }
    used = {abs(float(v)) for i in intents for v in i.args.values() if isinstance(v, (int, float))}
    tools = {i.tool for i in intents}
    texts = {str(v) for i in intents for v in i.args.values() if isinstance(v, str)}
    named = {n for d in called for n in d.names}
    meant = {abs(float(v)) for key, values in phrases.defaults.items() if key[0] in tools for v in values}
    if invented := used - said - meant:
        return f"the number {min(invented):g} was not said"
    if unused := said - used - _numbers_in_names(sentence):
        return f"the number {min(unused):g} has no place in it"
    if names := sentence.of(Role.NAME) - named - _also_known(sentence, called, words):
        return f"{min(names)!r} was mentioned but not used"
    used_areas = {d.area for d in called} | {a.id for a in view.areas if a.name in texts}
    if areas := {a for a in sentence.of(Role.AREA) if a not in used_areas}:
        return f"the room {min(areas)!r} was mentioned but not used"
    if colors := {c for c in sentence.of(Role.COLOR, Role.MODE) if c not in texts and not _is_kind_word(c, sentence)}:
        return f"{min(colors)!r} was said but not used"
    named_at = {(m.start, m.end) for m in sentence.mentions if m.role in (Role.NAME, *_KINDS)}
    choices = [m.value for m in sentence.mentions if m.role is Role.CHOICE and (m.start, m.end) not in named_at]
    for rule in (r for r in phrases.values if r.ended is not None and r.tool not in tools):
        lists_any = any(d.type in rule.types and d.attributes.get(rule.listed_in or "") for d in called)
        if lists_any and (unset := [c for c in choices if c.partition(":")[0] == rule.choice]):
            return f"{unset[0]!r} was said but not used"
    return ""


def _numbers_in_names(sentence: Sentence) -> set[float]:
    """Digits that belong to a name ("lamp 2") are no values."""
    spans = [(m.start, m.end) for m in sentence.mentions if m.role in (Role.NAME, Role.AREA, Role.FLOOR)]
    numbers = [m for m in sentence.mentions if m.role is Role.NUMBER]
    return {m.number for m in numbers if any(a <= m.start and m.end <= b for a, b in spans)}


def _undone(
    intents: Sequence[Intent], called: Sequence[Device], sentence: Sentence, words: Words, phrases: PhraseMap
) -> str:
    """The first verb with a contrary that no call stands for, in words; "" if there is none."""
    types = {d.type for d in called}
    done = set().union(*(acts_of(i.tool, types, phrases) for i in intents))
    left = (acts & set(phrases.opposites) for acts in sentence.verbs if not acts & done)
    return next((f"nothing is called for {min(acts)!r}" for acts in left if acts), "")


def _also_known(sentence: Sentence, called: Sequence[Device], words: Words) -> set[str]:
    """Names that stand at the same place as another word for what is called, or as its verb: one of them is enough."""
    good = {(m.start, m.end) for m in sentence.mentions if _is_borne_out(m, called, words)}
    return {m.value for m in sentence.mentions if m.role is Role.NAME and (m.start, m.end) in good}


def _is_borne_out(mention: Item, called: Sequence[Device], words: Words) -> bool:
    """Whether a mention that is no other device's name fits what is called."""
    if mention.role is Role.NAME:
        return any(mention.value in d.names for d in called)
    if mention.role is Role.KIND:
        return any(d.type == mention.value for d in called)
    if mention.role is Role.CLASS:
        return any(_is_class(d, mention.value, words) for d in called)
    return mention.role is not Role.PART


def _is_class(device: Device, key: str, words: Words) -> bool:
    """By what a device reports, or by a word for the class in its name."""
    device_type, _, device_class = key.partition(".")
    listed = words.device_classes.get(key, ())
    is_called_so = any(has_word(name, word) for name in device.names for word in listed)
    return device.type == device_type and (device.device_class == device_class or is_called_so)


def _is_kind_word(value: str, sentence: Sentence) -> bool:
    """ "heating" is a mode and a kind of device."""
    spans = {(m.start, m.end) for m in sentence.mentions if m.role in (Role.KIND, Role.CLASS, Role.NAME, Role.ACT)}
    return any(m.value == value and (m.start, m.end) in spans for m in sentence.mentions)
