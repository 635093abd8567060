"""Leave only those templates of a pack that a sentence can match at all; hassil looks at every one that it is given."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from hassil.expression import Alternative, Expression, Group, ListReference, RuleReference, Sentence
from hassil.intents import Intent, IntentData, Intents, RangeSlotList, SlotList, TextSlotList
from hassil.numbers import get_rbnf_engine
from hassil.recognize import recognize_all
from hassil.util import CJK_WHITESPACE, fold_case, normalize_for_matching, remove_skip_words_tracked

_Clause = frozenset[str]
"""Literal texts one of which a sentence must hold."""
_MAX_DEPTH = 50
_FIRST_WORD = re.compile("[a-z]+|[^a-z]")
_DOMAIN = "domain"
"""What a name of the home adds to hassil's context: the type of its device."""


@dataclass(frozen=True)
class _Named:
    """A device of one of these types must be named."""

    types: frozenset[str]


_Need = _Clause | _Named | str
"""What a template cannot match without; a string is the name of a list."""


@dataclass(frozen=True)
class _Template:
    intent: str
    data: IntentData
    """As in the pack, with this one template."""
    needs: frozenset[_Need]


class Pack:
    """One pack of templates, with what each of them cannot match without; that never costs a match."""

    def __init__(self, name: str, intents: Intents) -> None:
        """Split the pack into single templates, in hassil's order."""
        self.name, self._intents = name, intents
        self._templates = tuple(_templates(intents))
        self._needed_by: dict[_Need, int] = {}
        """Need → the templates that cannot match without it, as a number whose nth bit is the nth template."""
        for n, template in enumerate(self._templates):
            for need in template.needs:
                self._needed_by[need] = self._needed_by.get(need, 0) | 1 << n
        self._named = tuple(need for need in self._needed_by if isinstance(need, _Named))
        self._clauses = frozenset(need for need in self._needed_by if isinstance(need, frozenset))
        self._values = dict(_value_clauses(intents, name.split("-")[0]))
        """List of the pack → a clause of its values: none of them can be meant if it does not hold."""
        self._holders: dict[str, set[_Clause]] = {}
        """Literal text → the clauses that it fulfils."""
        for clause in (*self._clauses, *self._values.values()):
            for part in clause:
                self._holders.setdefault(part, set()).add(clause)
        self._parts: dict[str, list[str]] = {}
        """First two characters → literal texts: only those that may begin somewhere are looked for in all of a text."""
        for part in self._holders:
            self._parts.setdefault(part[:2], []).append(part)

    def narrowed(self, text: str, lists: Mapping[str, SlotList]) -> Intents:
        """The pack without the templates that this text, or an empty one of these lists, rules out."""
        return self.left_by(self.haystack(text), lists)

    def left_by(self, haystack: str, lists: Mapping[str, SlotList]) -> Intents:
        """The same for a text as `haystack` gives it."""
        starts = self._parts.keys() & {"", *haystack, *map(operator.add, haystack, haystack[1:])}
        parts = (part for start in starts for part in self._parts[start] if part in haystack)
        held = set[_Clause]().union(*(self._holders[part] for part in parts))
        missing: set[_Need] = {*(self._clauses - held)}
        missing |= {name for name, clause in self._values.items() if name not in lists and clause not in held}
        missing |= {name for name, listed in lists.items() if isinstance(listed, TextSlotList) and not listed.values}
        types = _domains(lists)
        missing |= {named for named in self._named if named.types.isdisjoint(types)}
        ruled_out = 0
        for need in missing:
            ruled_out |= self._needed_by.get(need, 0)
        left: dict[str, Intent] = {}
        for template in self._not_in(ruled_out):
            left.setdefault(template.intent, Intent(template.intent)).data.append(template.data)
        return replace(self._intents, intents=left)

    def _not_in(self, ruled_out: int) -> Iterator[_Template]:
        """The templates whose bits are not set, in order."""
        kept = ~ruled_out & (1 << len(self._templates)) - 1
        while kept:
            lowest = kept & -kept
            yield self._templates[lowest.bit_length() - 1]
            kept ^= lowest

    def warm_up(self) -> None:
        """Spell out the numbers of all ranges now: hassil does it when it first looks for a number, for 0.1 s each."""
        ranges = {k: v for k, v in self._intents.slot_lists.items() if isinstance(v, RangeSlotList)}
        data = [IntentData([f"{{{name}}}"]) for name in ranges]
        probe = Intents(self._intents.language, {"number": Intent("number", data)}, slot_lists=dict(ranges))
        for _ in recognize_all("x", probe, language=self.name.split("-")[0]):
            pass

    def haystack(self, text: str) -> str:
        """The text with and without the words that may be skipped, as hassil compares it."""
        skip_words, is_unspaced = self._intents.skip_words, self._intents.settings.ignore_whitespace
        whole = normalize_for_matching(text)
        bare = whole.copy()
        if skip_words:
            remove_skip_words_tracked(bare, skip_words, is_unspaced)
        haystack = f"{fold_case(whole.text)}\n{fold_case(bare.text)}"
        return haystack + "\n" + CJK_WHITESPACE.sub("", haystack) if is_unspaced else haystack


def _templates(intents: Intents) -> Iterator[_Template]:
    is_by_home = not _domains(intents.slot_lists)  # only the home's names tell a type
    for intent in intents.intents.values():
        for data in intent.data:
            rules = {**intents.expansion_rules, **data.expansion_rules}
            for sentence in data.sentences:
                one = replace(data, sentence_texts=[sentence.text or ""])
                vars(one)["sentences"] = [sentence]  # parsed already, which takes most of the time of loading
                lists = _needed_lists(sentence.expression, rules) - data.slot_lists.keys()
                named = _named(data) if is_by_home and not data.slot_lists else ()
                yield _Template(intent.name, one, frozenset({*sentence.get_required_clauses(rules), *lists, *named}))


def _domains(lists: Mapping[str, SlotList]) -> set[str]:
    """Types of devices that the values of some lists tell."""
    values = (v for listed in lists.values() if isinstance(listed, TextSlotList) for v in listed.values)
    return {v.context[_DOMAIN] for v in values if v.context and _DOMAIN in v.context}


def _named(data: IntentData) -> tuple[_Named, ...]:
    """The type of which a device must be named, if only such a one fits the context that a template wants."""
    wanted = data.requires_context.get(_DOMAIN)
    types = [wanted] if isinstance(wanted, str) else wanted
    return (_Named(frozenset(types)),) if isinstance(types, list) else ()


def _value_clauses(intents: Intents, language: str) -> Iterator[tuple[str, _Clause]]:
    """Lists with literals one of which stands in whatever they match."""
    for name, listed in intents.slot_lists.items():
        if isinstance(listed, RangeSlotList):
            starts = _number_starts(listed.words_language or language)
            yield from [(name, starts)] if starts and listed.start >= 0 else []
        values = listed.values if isinstance(listed, TextSlotList) else []
        needs = [Sentence(v.text_in).get_required_clauses(intents.expansion_rules) for v in values]
        if needs and all(needs):
            most_telling = (max(clauses, key=lambda c: (min(map(len, c)), sorted(c))) for clauses in needs)
            yield name, frozenset().union(*most_telling)


@cache
def _number_starts(language: str) -> _Clause:
    """What every number begins with, in digits or in the words that hassil knows; nothing if it knows none."""
    try:
        engine = get_rbnf_engine(language)
    except ValueError:  # no such language
        return frozenset()
    numbers = (*range(100), *range(100, 1000, 100), *range(1000, 11_000, 1000))  # the others begin like these
    texts = {fold_case(text) for n in numbers for text in engine.format_number(n).text_by_ruleset.values()}
    return frozenset("0123456789").union(*(_FIRST_WORD.findall(text)[:1] for text in texts))


def _needed_lists(part: Expression, rules: Mapping[str, Sentence], depth: int = 0) -> frozenset[str]:
    """Names of the lists one of whose values stands in whatever the expression matches."""
    if depth > _MAX_DEPTH:
        return frozenset()
    if isinstance(part, ListReference):
        return frozenset({part.list_name})
    if isinstance(part, RuleReference):
        rule = rules.get(part.rule_name)
        return frozenset() if rule is None else _needed_lists(rule.expression, rules, depth + 1)
    if not isinstance(part, Group):
        return frozenset()
    found = [_needed_lists(item, rules, depth + 1) for item in part.items]
    if isinstance(part, Alternative):
        return frozenset.intersection(*found) if found and not part.is_optional else frozenset()
    return frozenset().union(*found)
