"""Values that devices list themselves, such as effects and presets: whose they are, and what they stand beside."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.choosing import reached_by
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.phrase_map import PhraseMap, ValueRule
from agentkit.understanding.words import Words

_SHORTEST, _SHORTEST_HANZI = 4, 2
"""Characters of a name that is looked for; shorter ones stand in too many sentences."""


@dataclass(frozen=True)
class OwnChoiceReader:
    """Reads a sentence with a value that only a device's own list knows ("Sunset Savanna"), by another of its kind."""

    match: Callable[[Normalised, HomeView], Understanding]
    words: Words
    view: HomeView
    phrases: PhraseMap

    def read(self, text: Normalised) -> Understanding:
        """The calls with the name as the device spells it; kind NONE if there is no such name or reading."""
        folded = fold(text.text, self.words)
        for rule, name in self._named(folded):
            stand_in = next((w for listed in self.words.choices[rule.choice].values() for w in listed), "")
            canonical = next(iter(self.words.choices[rule.choice]), "")
            one = _pattern(_spelled(name)).sub(stand_in, folded, count=1)
            found = self.match(replace(text, text=one), self.view)
            is_set = all(i.tool == rule.tool and i.args.get(rule.argument) == canonical for i in found.intents)
            if found.kind is Kind.CALLS and found.intents and is_set:
                intents = (replace(i, args={**i.args, rule.argument: name}) for i in found.intents)
                return replace(found, intents=tuple(intents), why=f"{name!r} is listed: {found.why}")
        return Understanding(Kind.NONE)

    def _named(self, folded: str) -> Iterator[tuple[ValueRule, str]]:
        """Values of devices' lists that stand in a folded text, the longest first."""
        rules = [r for r in self.phrases.values if r.listed_in and r.choice in self.words.choices]
        found: dict[tuple[str, str], ValueRule] = {}
        for device in self.view.devices if rules else ():
            for rule in (r for r in rules if device.type in r.types):
                names = device.attributes.get(rule.listed_in or "")
                for name in names if isinstance(names, list | tuple) else ():
                    if isinstance(name, str) and _stands_in(_spelled(name), folded):
                        found.setdefault((rule.tool, name), rule)
        yield from ((rule, name) for (_, name), rule in sorted(found.items(), key=lambda row: -len(row[0][1])))


def _spelled(name: str) -> str:
    return " ".join(re.sub("[-_]", " ", name.casefold()).split())


def _stands_in(name: str, folded: str) -> bool:
    is_long = len(name) >= (_SHORTEST if name.isascii() else _SHORTEST_HANZI)
    return is_long and name in folded and _pattern(name).search(folded) is not None


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\b" if name.isascii() else re.escape(name))


def listing(key: str | None, selector: Selector, view: HomeView) -> Selector:
    """Of devices that were not named those that list any such value; all of them if none does."""
    if key is None or selector.names or selector.device_ids:
        return selector
    able = tuple(d.id for d in reached_by(selector, view) if d.attributes.get(key))
    return Selector(device_ids=able, types=selector.types) if able else selector


def is_listed(key: str | None, types: Collection[str], view: HomeView) -> bool:
    """Whether any device of these types lists such values, so that "turn on the disco" tells what is meant."""
    return key is not None and any(d.attributes.get(key) for d in view.devices if d.type in types)


def is_same_twice(one: Intent, other: Intent, phrases: PhraseMap) -> bool:
    """Whether two tools set the same thing, one of them by a name for it: "to the minimum, 18 degrees"."""
    rules = [[r for r in phrases.values if r.tool == intent.tool] for intent in (one, other)]
    topics = [{r.topic for r in own if r.topic} for own in rules]
    is_named = any(r.value == "choice" for own in rules for r in own)
    return one.tool != other.tool and is_named and bool(topics[0] & topics[1])
