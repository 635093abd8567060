"""What is asked about although it was understood: remarks, stand-ins, and complaints about what is off."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.choosing import is_question, reached_by
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.evidence import read_sentence
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrase_map import ActRule, PhraseMap
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_CLAUSE = re.compile(r"\s*[,;]\s*")
_UNCLEAR = frozenset({"not_understood", "not_home", "unknown_device"})
_THINGS = frozenset({Role.PART, Role.KIND, Role.CLASS, Role.COLOR, Role.NUMBER, Role.TOPIC})


def asked_about(
    found: Understanding,
    text: Normalised,
    view: HomeView,
    words: Words,
    phrases: PhraseMap,
    tools: Mapping[str, Tool],
    lexicon: Lexicon,
) -> Understanding:
    """The reading, to be confirmed where it was no plain command."""
    if found.kind is not Kind.CALLS or is_question(found, tools):
        return found
    if any(i.tool in phrases.idle for i in found.intents):
        found = _woken(found, text, view, words, phrases, lexicon)
    if rule := _stand_in(found, text, words, phrases, lexicon):
        return _instead(found, rule, view)
    if found.path == "model" and _points_openly(found, text, view, words, lexicon):
        return replace(found, needs_confirmation=True, why=f"points at one of several; {found.why}")
    if is_remark(text.text, words):
        return replace(found, needs_confirmation=True, why=f"a remark; {found.why}")
    return found


def without_remarks(text: Normalised, words: Words) -> Normalised:
    """The command beside a remark, which only tells why: "it is dark outside, turn on the hall light"."""
    clauses = _CLAUSE.split(text.text) if words.remarks else []
    kept = [c for c in clauses if not is_remark(c, words)]
    return text if not kept or len(kept) == len(clauses) else replace(text, text=", ".join(kept))


def is_remark(text: str, words: Words) -> bool:
    """Whether a clause may be only said."""
    return any(p.search(text) for p in words.remarks)


def offered(
    found: Understanding,
    text: Normalised,
    view: HomeView,
    words: Words,
    tools: Mapping[str, Tool],
    read: Callable[[Normalised], Understanding],
) -> Understanding:
    """The command that a sentence which nothing understood may stand for, to be asked about."""
    if found.kind is not Kind.REFUSE or found.reply_key not in _UNCLEAR:
        return found
    for pattern, command in words.offers.items():
        if (said := re.fullmatch(pattern, text.text, re.IGNORECASE)) is None:
            continue
        meant = command.format(**said.groupdict(""))
        offer = read(replace(text, text=meant))
        is_there = all(reached_by(i.selector, view) for i in offer.intents)
        if offer.kind is Kind.CALLS and is_there and not is_question(offer, tools):
            return replace(offer, needs_confirmation=True, why=f"may stand for {meant!r}; {offer.why}")
    return found


def only_seen(
    found: Understanding, text: Normalised, view: HomeView, words: Words, tools: Mapping[str, Tool], lexicon: Lexicon
) -> Understanding:
    """Say of a command that made no sense that its device only tells how it is: a contact on a door."""
    is_open = found.kind is Kind.REFUSE and found.reply_key in _UNCLEAR | {"unknown_device"}
    is_open = is_open or (found.kind is Kind.ASK and "ids" in found.reply_values)
    if not is_open or text.is_question:
        return found
    mentions = lexicon.mentions(fold(text.text, words))
    spans = {(m.start, m.end) for m in mentions if m.role is Role.NAME}
    others = [m for m in mentions if (m.start, m.end) not in spans]
    named = [d for m in mentions if m.role is Role.NAME for d in view.named(m.value)]
    moved = {t for tool in tools.values() if not tool.is_query for t in tool.types}
    acts = {m.start for m in others if m.role is Role.ACT}
    has_thing = any(m.role in _THINGS and m.start != min(acts, default=0) for m in others)  # "lock" may be the verb
    if not named or not acts or has_thing or any(d.type in moved for d in named):
        return found
    values = {"devices": tuple(dict.fromkeys(d.id for d in named))}
    return Understanding(Kind.REFUSE, (), "only_seen", values, found.path, "what was named can only be read")


def meanwhile(
    text: Normalised, words: Words, tools: Mapping[str, Tool], read: Callable[[Normalised], Understanding]
) -> Understanding:
    """A command beside what the speaker does meanwhile, which may be when it is to end: it is asked about."""
    bare = next((b for p in words.asides if (b := p.sub("", text.text)) != text.text), "")
    found = read(replace(text, text=bare)) if bare else Understanding(Kind.NONE)
    return Understanding(Kind.NONE) if is_question(found, tools) else replace(found, needs_confirmation=True)


def _points_openly(found: Understanding, text: Normalised, view: HomeView, words: Words, lexicon: Lexicon) -> bool:
    """Whether a text points at a mere kind ("that light") with nothing that tells which of several is meant."""
    mentions = lexicon.mentions(fold(text.text, words))
    ends = {m.end for m in mentions if m.role is Role.POINTER}
    kinds = {m.value for m in mentions if m.role is Role.KIND and {m.start, m.start - 1} & ends}
    if not kinds or view.spoken_of is not None or any(m.role in (Role.AREA, Role.FLOOR) for m in mentions):
        return False
    reached = {d.id for i in found.intents for d in reached_by(i.selector, view)}
    return any(d.type in kinds and d.id not in reached for d in view.devices)


def _woken(
    found: Understanding, text: Normalised, view: HomeView, words: Words, phrases: PhraseMap, lexicon: Lexicon
) -> Understanding:
    """A complaint about a room whose devices are all off: what would help is to switch them on."""
    types = {t for i in found.intents for rule in phrases.idle.get(i.tool, ()) for t in rule.types}
    if any(_types_of(m, view) & types for m in lexicon.mentions(fold(text.text, words))):
        return found
    intents = tuple((i.tool in phrases.idle and _waking(i, view, phrases)) or i for i in found.intents)
    return found if intents == found.intents else replace(found, intents=intents, needs_confirmation=True)


def _types_of(mention: Item, view: HomeView) -> set[str]:
    """Types of the devices that a word may mean."""
    if mention.role is Role.NAME:
        return {d.type for d in view.named(mention.value)}
    return {mention.value.partition(".")[0]} if mention.role in (Role.KIND, Role.CLASS) else set()


def _waking(intent: Intent, view: HomeView, phrases: PhraseMap) -> Intent | None:
    reached = _meant_by(intent.selector, view)
    step = intent.args.get("step")
    if not reached or any(d.state != "off" for d in reached) or not isinstance(step, int | float):
        return None
    for rule in phrases.idle[intent.tool]:
        able = tuple(d for d in reached if _is_able(d, rule))
        if able and rule.is_negative == (step < 0):
            ids = tuple(d.id for d in able)
            types = tuple(dict.fromkeys(d.type for d in able))
            return Intent(rule.tool, rule.constants, Selector(device_ids=ids, types=types, is_one=len(ids) > 1))
    return None


def _meant_by(selector: Selector, view: HomeView) -> tuple[Device, ...]:
    """The devices of a complaint: of those that were just spoken of, if it names no place and they are of its kind."""
    reached = reached_by(selector, view)
    kinds = {d.type for d in reached}
    spoken = view.spoken_of.device_ids if view.spoken_of is not None and not (selector.areas or selector.floors) else ()
    return tuple(d for i in spoken if (d := view.device(i)) and d.type in kinds) or reached


def _is_able(device: Device, rule: ActRule) -> bool:
    """Whether a device can be set so, as far as it tells."""
    listed = device.attributes.get(rule.listed_in or "")
    return device.type in rule.types and (not listed or set(rule.constants.values()) <= set(map(str, listed)))


def _stand_in(
    found: Understanding, text: Normalised, words: Words, phrases: PhraseMap, lexicon: Lexicon
) -> ActRule | None:
    """The rule by which something else is done than what was said, if a verb leaves no other."""
    asked = {r.tool for rules in phrases.acts.values() for r in rules if r.instead}
    if len(found.intents) != 1 or found.intents[0].tool not in asked:
        return None
    intent, said = found.intents[0], read_sentence(text.text, lexicon, words).verbs
    rules = [r for act in set().union(*said) for r in phrases.acts.get(act, ()) if r.tool == intent.tool]
    return rules[0] if rules and all(r.instead for r in rules) else None


def _instead(found: Understanding, rule: ActRule, view: HomeView) -> Understanding:
    """The reading with what cannot be done; there is nothing to ask where all is so now as it would be."""
    reached = reached_by(found.intents[0].selector, view)
    ids = tuple(d.id for d in reached)
    is_done = found.when is None and bool(reached) and all(d.state == rule.unless for d in reached)
    values = {"devices": ids}
    return replace(found, reply_key=str(rule.instead), reply_values=values, needs_confirmation=not is_done)
