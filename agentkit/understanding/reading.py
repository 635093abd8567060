"""Read one match of hassil as tool calls on devices that exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hassil.recognize import RecognizeResult

from agentkit.types import Args, Intent, Kind, Selector, Understanding
from agentkit.understanding.guard import guard
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.names import link_words
from agentkit.understanding.normalise import fold
from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.selecting import narrow, of_class, select
from agentkit.understanding.template_map import Rule, TemplateMap, argument_values
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

NO_DEVICE = "no_device"
"""Reply key of a sentence that is understood but meets no device; a later match may meet one."""
_NOTHING = Understanding(Kind.NONE)


@dataclass(frozen=True)
class Reader:
    """Turns matches into understandings, by the app's map and tools."""

    templates: TemplateMap
    tools: Mapping[str, Tool]
    _ends: HomeCache[frozenset[str]] = field(default_factory=lambda: HomeCache(_folded_names))
    """Names of the home as texts may end with them."""

    def read(self, result: RecognizeResult, view: HomeView, words: Words) -> Understanding:
        """The calls, the refusal or the sentence that a match stands for; kind NONE if it cannot be meant."""
        slots = {e.name: e.value for e in result.entities_list}
        rules = [r for r in self.templates.rules[result.intent.name] if r.when is None or slots.get(r.when) is not None]
        why = f"{result.intent.name}: {result.intent_sentence.text if result.intent_sentence else ''}"
        if not rules or rules[0].kind == "skip":
            return _NOTHING
        if rules[0].kind != "calls":
            kind = Kind.REFUSE if rules[0].kind == "refuse" else Kind.SAY
            values = {"words": result.original_text, "type": self._acted_on(view)}
            return Understanding(kind, (), rules[0].reply_key, values, "template", why)
        if _is_guarded(result, words, lambda: self._ends.get(view, words)) or _is_unclear(result, rules, words):
            return _NOTHING
        selector = _selector(result, slots, view, words)
        slots = {**slots, **_with_kind(result, rules, words)}
        calls = [self._call(rule, result, slots, selector, view) for rule in rules]
        found = [c for c in calls if isinstance(c, Intent)]
        if len(found) == len(calls):
            return Understanding(Kind.CALLS, tuple(found), path="template", why=why)
        missing = next(c for c in calls if isinstance(c, Understanding))
        return Understanding(missing.kind, missing.intents, missing.reply_key, missing.reply_values, "template", why)

    def _call(
        self, rule: Rule, result: RecognizeResult, slots: Mapping[str, Any], selector: Selector, view: HomeView
    ) -> Intent | Understanding:
        """One call, or why it cannot be made."""
        args = argument_values(rule, slots)
        if rule.area_argument:
            speaker = None if rule.is_area_optional else view.speaker_area
            area = view.area(selector.areas[0] if selector.areas else speaker)
            if area is None and not rule.is_area_optional:
                return _NOTHING
            if area is not None:
                args[rule.area_argument] = area.name
            selector = replace(selector, areas=(), floors=())
        if not rule.tools:
            return _NOTHING
        if question := self.templates.questions.get(result.response or ""):
            args.setdefault("question", question)
        types = selector.types or rule.types
        if rule.prefer and not selector.names:
            liked = of_class(narrow(selector, types), "", rule.prefer, view)
            selector = replace(selector, device_ids=tuple(d.id for d in liked[:1]))
        reached = select(narrow(selector, types), view)
        present = tuple(dict.fromkeys(d.type for d in reached))
        tool_of = {t: rule.tools.get(t, rule.tools.get("*", "")) for t in present}
        able = [t for t in present if self._can(tool_of[t], t)]
        plain = [t for t in able if t not in rule.tools] or able
        if not able:
            return self._unable(rule, types, selector, args)
        tool = tool_of[plain[0]]
        kept = tuple(t for t in plain if tool_of[t] == tool)
        return self._intent(tool, args, narrow(selector, kept))

    def _acted_on(self, view: HomeView) -> tuple[str, ...]:
        """Kinds of devices of this home that some tool can move."""
        moved = {t for tool in self.tools.values() if not tool.is_query for t in tool.types}
        return tuple(dict.fromkeys(d.type for d in view.devices if d.type in moved))

    def _can(self, name: str, device_type: str) -> bool:
        tool = self.tools.get(name)
        return tool is not None and (not tool.types or device_type in tool.types)

    def _unable(self, rule: Rule, types: Sequence[str], selector: Selector, args: Args) -> Intent | Understanding:
        """A tool that needs no device, a tool that the app lacks, or devices that the home lacks."""
        name = next((rule.tools[t] for t in types if t in rule.tools), rule.tools.get("*") or rule.tools.get("", ""))
        tool = self.tools.get(name)
        intent = Intent(name, args, narrow(selector, tuple(types)))
        if tool is None:
            return Understanding(Kind.REFUSE, (intent,), "unsupported", {"tool": name})
        if tool.scope == "home":
            return self._intent(name, args, Selector())
        if selector.names:
            return _NOTHING  # the name belongs to something that this verb cannot mean
        return Understanding(Kind.REFUSE, (intent,), NO_DEVICE)

    def _intent(self, name: str, args: Args, selector: Selector) -> Intent | Understanding:
        tool = self.tools[name]
        known = {p.name for p in tool.params}
        if tool.is_query:
            return Intent(name, {k: v for k, v in args.items() if k in known}, selector)
        if unknown := set(args) - known:
            return Understanding(
                Kind.REFUSE, (Intent(name, args, selector),), "unsupported", {"tool": name, "args": tuple(unknown)}
            )
        return Intent(name, args, selector)


def _selector(result: RecognizeResult, slots: Mapping[str, Any], view: HomeView, words: Words) -> Selector:
    """The selecting words of a match; the speaker's room stays open for the resolver."""
    area, floor, name = slots.get("area"), slots.get("floor"), slots.get("name")
    areas = (str(area),) if area is not None and view.area(str(area)) else ()
    floors = (str(floor),) if floor is not None and view.floor(str(floor)) else ()
    domain = slots.get("domain") or (result.context.get("domain") if name is not None else None)
    device_class = slots.get("device_class")
    types: tuple[str, ...] = ()
    if domain is not None:
        types = tuple(domain) if isinstance(domain, (list, tuple)) else (str(domain),)
    has_place = bool(areas or floors or name)
    return Selector(
        names=(str(name),) if name is not None else (),
        areas=areas,
        floors=floors,
        types=types,
        device_class=str(device_class) if device_class is not None else None,
        is_all=not has_place and says_all(result.original_text, words),
    )


def says_all(text: str, words: Words) -> bool:
    """Whether a sentence speaks of everything of a kind, and not of what is here."""
    folded = f" {fold(text, words)} "
    return _says(folded, words.whole_home) or (_says(folded, words.everything) and not _says(folded, words.here))


def _says(folded: str, phrases: Sequence[str]) -> bool:
    return any((p in folded) if not p.isascii() else (f" {p} " in folded) for p in phrases)


def _folded_names(view: HomeView, words: Words) -> frozenset[str]:
    names = (n for named in (view.areas, view.floors, view.devices) for thing in named for n in thing.names)
    return frozenset(fold(n, words) for n in names)


def _is_guarded(result: RecognizeResult, words: Words, names: Callable[[], Iterable[str]]) -> bool:
    """Whether free text swallowed a time, condition or negation, is a mere pronoun, or names where it is done."""
    free = [e for e in result.entities_list if e.is_wildcard]
    texts = [fold(e.text, words) for e in free]
    if any(guard(text, words) is not None or _is_pointer(text, words) for text in texts):
        return True
    open_ended = [(e.name, t) for e, t in zip(free, texts, strict=True) if not _is_closed(e.text, result, words)]
    if any(p.search(text) for slot, text in open_ended for p in words.no_things.get(slot, ())):
        return True
    if not open_ended:
        return False
    ends = names()
    return any(_ends_with(text, end) or _goes_on(text, end, words) for _, text in open_ended for end in ends)


def _with_kind(result: RecognizeResult, rules: Sequence[Rule], words: Words) -> Mapping[str, str]:
    """Free Chinese text with the kind that it ends with, which no space sets apart: 轻音乐 is no "light"."""
    kinds = {w for rule in rules for t in rule.types for w in words.kinds.get(t, ())}
    free = [e for e in result.entities_list if e.is_wildcard and not e.text.isascii()]
    tails = ((e, result.original_text.rpartition(e.text.strip())[2]) for e in free)
    return {e.name: f"{e.text.strip()}{tail}" for e, tail in tails if tail in kinds}


def _is_pointer(text: str, words: Words) -> bool:
    """Whether free text is a mere pronoun, in English also with words that mean nothing."""
    pronouns = {*words.it, *words.pointers}
    return not set(text.split()) - {*pronouns, *words.fillers} if text.isascii() else text in pronouns


def _is_closed(part: str, result: RecognizeResult, words: Words) -> bool:
    """Whether words that count stand behind free text, so that no place of the whole ends it ("... to my list")."""
    behind = result.original_text.casefold().rpartition(part.strip().casefold())[2]
    return bool(set(fold(behind, words).split()) - set(words.fillers))


def _ends_with(text: str, end: str) -> bool:
    return text != end and f" {text}".endswith(f" {end}" if end.isascii() else end)


def _goes_on(text: str, name: str, words: Words) -> bool:
    """Whether words follow the place or device where something is to be done ("jazz on the radio and dim it")."""
    before, found, after = f" {text} ".partition(f" {name} ")
    said, links = before.split(), {*link_words(words), *words.prepositions}
    while said and said[-1] in words.fillers and said[-1] not in links:
        said.pop()
    return bool(found and after.strip()) and len(said) > 1 and said[-1] in links


def _is_unclear(result: RecognizeResult, rules: Sequence[Rule], words: Words) -> bool:
    """Whether a bare number was taken for a value: "lamp 2" is a name that this home may lack."""
    text = fold(result.original_text, words)
    slots = {terms[0].slot for r in rules for terms in r.args.values() if len(terms) == 1}
    values = [e for e in result.entities_list if e.name in slots and isinstance(e.value, (int, float))]
    said = [*words.to, *(w for listed in (*words.units.values(), *words.topics.values()) for w in listed)]
    said += [p for p in words.verbs.get("set", ()) if not p.isascii()]
    return (
        any(find_numbers(e.text) for e in values)
        and not _says(f" {text} ", said)
        and not any(u in text for u in words.units.get("percent", ()))
    )
