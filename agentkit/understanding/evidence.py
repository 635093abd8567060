"""Hold a model's answer against the sentence: nothing called that was not said, nothing said that is not called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agentkit.devices.adapter import Device
from agentkit.types import Intent
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.names import parts_of
from agentkit.understanding.normalise import fold
from agentkit.understanding.offers import default_values
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.selecting import select
from agentkit.understanding.shortlist import is_nearly_said
from agentkit.understanding.words import Words

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

    def of(self, *roles: Role) -> set[str]:
        """Values mentioned with one of these roles."""
        return {m.value for m in self.mentions if m.role in roles}


def read_sentence(text: str, lexicon: Lexicon, words: Words) -> Sentence:
    """Find everything known in a sentence."""
    folded = fold(text, words)
    return Sentence(folded, tuple(lexicon.mentions(folded)), lexicon)


def weigh(intents: Sequence[Intent], sentence: Sentence, view: HomeView, words: Words, phrases: PhraseMap) -> Evidence:
    """Judge an answer as a whole: every call needs its device, and every number and place of the sentence its call."""
    called: list[Device] = []
    level = Level.FULL
    for intent in intents:
        devices = select(intent.selector, view)
        called.extend(devices)
        if unsaid := next((d for d in devices if not _is_said(d, sentence, view, words)), None):
            return Evidence(Level.NONE, f"{unsaid.name!r} was not mentioned")
        verb = _verb_level(intent, devices, sentence, words, phrases)
        if verb is Level.NONE:
            return Evidence(Level.NONE, f"the sentence asks for the contrary of {intent.tool}")
        level = Level.WEAK if verb is Level.WEAK else level
    if reason := _leftover(intents, called, sentence, view, phrases):
        return Evidence(Level.NONE, reason)
    return Evidence(level, "all said" if level is Level.FULL else "the verb is only hinted at")


def _is_said(device: Device, sentence: Sentence, view: HomeView, words: Words) -> bool:
    """By name, nearly by name, by kind in its room, or by kind in the speaker's room."""
    if sentence.of(Role.NAME) & set(device.names) or is_nearly_said(device, sentence.folded, sentence.lexicon):
        return True
    classes = {v for v in sentence.of(Role.CLASS) if v.partition(".")[0] == device.type}
    is_kind = device.type in sentence.of(Role.KIND) or bool(classes)
    if sentence.of(Role.PART) & parts_of(device, words):
        return is_kind
    areas, floors = sentence.of(Role.AREA), sentence.of(Role.FLOOR)
    if areas or floors:
        on_floor = set(view.areas_of(floors))
        return is_kind and (device.area in areas or device.area in on_floor)
    is_only = sum(d.type == device.type for d in view.devices) == 1
    is_everywhere = bool(sentence.of(Role.ALL, Role.HOME))
    return is_kind and (is_only or is_everywhere or (device.area is not None and device.area == view.speaker_area))


def _verb_level(
    intent: Intent, devices: Sequence[Device], sentence: Sentence, words: Words, phrases: PhraseMap
) -> Level:
    """FULL if a verb of the tool was said, NONE if one of its contrary was, WEAK if neither."""
    types = {d.type for d in devices}
    mine = acts_of(intent.tool, types, phrases)
    said = acts_said(sentence, words)
    contrary = {a for act in mine for a in phrases.opposites.get(act, ())}
    if said & mine:
        return Level.FULL
    return Level.NONE if said & contrary else Level.WEAK


def acts_of(tool: str, types: Iterable[str], phrases: PhraseMap) -> set[str]:
    """Acts that stand for a tool with devices of these types."""
    wanted = set(types)
    acts = {act for act, rules in phrases.acts.items() for r in rules if r.tool == tool and wanted & set(r.types)}
    if any(v.tool == tool for v in phrases.values):
        acts.add("set")
    return acts


def acts_said(sentence: Sentence, words: Words) -> set[str]:
    """Tell the acts with a phrase whose halves stand in the sentence in order; longer phrases hide shorter ones."""
    found: dict[str, int] = {}
    for act, listed in words.verbs.items():
        for phrase in listed:
            chunks = [c for chunk in phrase.split("…") if (c := fold(chunk, words))]
            is_last = not phrase.startswith("…") or sentence.folded.endswith(chunks[-1])
            is_first = not phrase.startswith("^") or sentence.folded.startswith(chunks[0])
            if is_last and is_first and _stand_in_order(chunks, sentence.folded):
                name = act.partition(".")[0]
                found[name] = max(found.get(name, 0), sum(map(len, chunks)))
    longest = max(found.values(), default=0)
    return {act for act, length in found.items() if length == longest}


def _stand_in_order(chunks: Sequence[str], folded: str) -> bool:
    text, at = f" {folded} ", 0
    for chunk in chunks:
        needle = f" {chunk} " if chunk.isascii() else chunk
        at = text.find(needle, at)
        if at < 0:
            return False
        at += len(needle) - 1
    return bool(chunks)


def _leftover(
    intents: Sequence[Intent], called: Sequence[Device], sentence: Sentence, view: HomeView, phrases: PhraseMap
) -> str:
    """The first number or mention that the answer does not account for, in words; "" if there is none."""
    said = {
        m.number if m.role is Role.NUMBER else float(m.value) for m in sentence.mentions if m.role in _ARGUMENT_ROLES
    }
    used = {abs(float(v)) for i in intents for v in i.args.values() if isinstance(v, (int, float))}
    tools = {i.tool for i in intents}
    texts = {str(v) for i in intents for v in i.args.values() if isinstance(v, str)}
    named = {n for d in called for n in d.names}
    meant = {abs(float(v)) for key, values in default_values(phrases).items() if key[0] in tools for v in values}
    if invented := used - said - meant:
        return f"the number {min(invented):g} was not said"
    if unused := said - used - _numbers_in_names(sentence):
        return f"the number {min(unused):g} has no place in it"
    if names := sentence.of(Role.NAME) - named - _also_known(sentence, called, view):
        return f"{min(names)!r} was mentioned but not used"
    used_areas = {d.area for d in called} | {a.id for a in view.areas if a.name in texts}
    if areas := {a for a in sentence.of(Role.AREA) if a not in used_areas}:
        return f"the room {min(areas)!r} was mentioned but not used"
    if colors := {c for c in sentence.of(Role.COLOR, Role.MODE) if c not in texts and not _is_kind_word(c, sentence)}:
        return f"{min(colors)!r} was said but not used"
    return ""


def _numbers_in_names(sentence: Sentence) -> set[float]:
    """Digits that belong to a name ("lamp 2") are no values."""
    spans = [(m.start, m.end) for m in sentence.mentions if m.role in (Role.NAME, Role.AREA, Role.FLOOR)]
    numbers = [m for m in sentence.mentions if m.role is Role.NUMBER]
    return {m.number for m in numbers if any(a <= m.start and m.end <= b for a, b in spans)}


def _also_known(sentence: Sentence, called: Sequence[Device], view: HomeView) -> set[str]:
    """Names that stand at the same place as a name of a called device, an area or a kind: one of them is enough."""
    named = {n for d in called for n in d.names}
    good = {(m.start, m.end) for m in sentence.mentions if m.role is not Role.NAME or m.value in named}
    return {m.value for m in sentence.mentions if m.role is Role.NAME and (m.start, m.end) in good}


def _is_kind_word(value: str, sentence: Sentence) -> bool:
    """ "heating" is a mode and a kind of device."""
    spans = {(m.start, m.end) for m in sentence.mentions if m.role in (Role.KIND, Role.CLASS, Role.NAME, Role.ACT)}
    return any(m.value == value and (m.start, m.end) in spans for m in sentence.mentions)
