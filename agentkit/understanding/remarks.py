"""What is asked about although it was understood: remarks, stand-ins, and complaints about what is off."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.choosing import is_question, reached_by
from agentkit.understanding.entries import Role
from agentkit.understanding.evidence import read_sentence
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrase_map import ActRule, PhraseMap
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_CLAUSE = re.compile(r"\s*[,;]\s*")
_UNCLEAR = frozenset({"not_understood", "not_home"})
_NAMED = frozenset({Role.NAME, Role.PART, Role.KIND, Role.CLASS})


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
        offer = read(replace(text, text=command.format(**said.groupdict())))
        is_there = all(reached_by(i.selector, view) for i in offer.intents)
        if offer.kind is Kind.CALLS and is_there and not is_question(offer, tools):
            return replace(offer, needs_confirmation=True, why=f"may stand for {command!r}; {offer.why}")
    return found


def _woken(
    found: Understanding, text: Normalised, view: HomeView, words: Words, phrases: PhraseMap, lexicon: Lexicon
) -> Understanding:
    """A complaint about a room whose devices are all off: what would help is to switch them on."""
    if any(m.role in _NAMED for m in lexicon.mentions(fold(text.text, words))):
        return found
    intents = tuple(_waking(i, view, phrases) or i for i in found.intents)
    return found if intents == found.intents else replace(found, intents=intents, needs_confirmation=True)


def _waking(intent: Intent, view: HomeView, phrases: PhraseMap) -> Intent | None:
    reached = reached_by(intent.selector, view)
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
