"""Says what happened. Every sentence comes from verified results and the app's data, never from a model.

A sentence has placeholders. Where an app gives a list, the first sentence whose placeholders are all known is said;
where it gives a mapping, the entry of the devices' class or type, else `default`. Keys and placeholders are checked
when the app starts, so that nothing can be missing in the middle of a conversation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agentkit.agent.sentences import GROUPS, Entry, check_same_keys, check_sentences, placeholders, read_sentences
from agentkit.agent.wording import Wording, capitalise, classes_of, ids_of, merge_rows
from agentkit.agent.wording_check import check_wording
from agentkit.devices.adapter import Device
from agentkit.types import Action, ActionResult, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Tool
from agentkit.yaml_shape import located

log = logging.getLogger(__name__)

_NO_HOME = HomeView()
_LISTED = frozenset({"item"})
"""Values that are said together where several actions on one device differ in nothing else."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Replies:
    """The app's sentences in all its languages."""

    def __init__(
        self, raw: Mapping[str, Mapping[str, Any]], *, tools: Mapping[str, Tool] | None = None, folder: str = "replies"
    ):
        """Check everything. Raises ConfigError naming file, key and what was wanted."""
        self._words: dict[str, Wording] = {}
        self._texts: dict[str, dict[str, Entry]] = {}
        for lang, data in raw.items():
            with located(data):
                self._add(lang, data, tools or {}, f"{folder}/{lang}.yaml")
        check_same_keys(self._texts, folder)

    def _add(self, lang: str, data: Mapping[str, Any], tools: Mapping[str, Tool], path: str) -> None:
        check_wording(data, path)
        self._words[lang] = _wording(lang, data)
        self._texts[lang] = read_sentences(data, path)
        facts, verbs = frozenset(data.get("facts") or ()), self._words[lang].verbs()
        check_sentences(self._texts[lang], tools=tools, verbs=verbs, facts=facts, path=path)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages there are sentences for."""
        return tuple(self._texts)

    def known(self, language: str) -> str:
        """That language, or the app's first if there are no sentences in it."""
        return language if language in self._texts else next(iter(self._texts))

    def has(self, language: str, key: str) -> bool:
        """Tell whether there is a sentence of that key."""
        return key in self._texts[language]

    def render(
        self, language: str, key: str, values: Mapping[str, Any] | None = None, home: HomeView = _NO_HOME
    ) -> str:
        """Say one sentence. Device and area ids among the values become names."""
        text = self._sentence(language, key, dict(values or {}), home)
        if text is None:
            log.warning("replies/%s.yaml: no sentence of %s fits the values %s", language, key, sorted(values or {}))
            group = key.split(".")[0]
            fallback = f"{group}.other" if self.has(language, f"{group}.other") else "failed.other"
            text = self._sentence(language, fallback, dict(values or {}), home) or ""
        return capitalise(text)

    def describe(self, language: str, actions: Sequence[Action], home: HomeView, apart: Collection[str] = ()) -> str:
        """Say what actions would do, as the inner part of a question: "open the garage door".

        Devices that are named `apart` do not disappear in the number of the others, nor in one of their own.
        """
        groups = _group(actions, lambda a: (a.device_id in apart, a.tool, self._said_args(language, a)))
        n_named = int(self._words[language].grammar.get("at_most_named", 4))
        parts = []
        for same in (part for group in groups for part in _named(group, apart, n_named)):
            values = {**same[0].args, "devices": tuple(a.device_id for a in same if a.device_id)}
            keys = (k for k in (f"do.{same[0].tool}", "do.other") if self.has(language, k))
            parts.append(next((said for k in keys if (said := self._sentence(language, k, values, home))), ""))
        return self._words[language].join_clauses(parts)

    def _said_args(self, language: str, action: Action) -> tuple[tuple[str, str], ...]:
        """The arguments by which the sentences of an action differ."""
        entry = self._texts[language].get(f"do.{action.tool}") or self._texts[language].get("do.other") or {}
        used = {name for options in entry.values() for text in options for name in placeholders(text)}
        return tuple(sorted((k, str(v)) for k, v in action.args.items() if k in used))

    def compose(self, language: str, results: Sequence[ActionResult], home: HomeView) -> str:
        """Say what became of every action: one sentence per tool, outcome and value."""
        if not results:
            return self.render(language, "refused.nothing")
        said = [_Said.of(r, home) for r in results]
        moved = {r.action.tool for r in results if r.status is Status.DONE and not _was_so(r)}
        keyed = [(self._key(language, s.result), s) for s in said]
        groups = _group(keyed, lambda pair: self._signature(language, pair[0], pair[1], home))
        rest = [g for g in groups if _was_so(g[0][1].result) and g[0][1].result.action.tool in moved]
        space = str(self._words[language].grammar.get("and_sentences", " "))
        ordered = [*((g, False) for g in groups if g not in rest), *((g, True) for g in rest)]
        return space.join(self._say_group(language, group, home, is_rest=is_rest) for group, is_rest in ordered)

    def _say_group(
        self, language: str, group: Sequence[tuple[str, _Said]], home: HomeView, *, is_rest: bool = False
    ) -> str:
        """Say what became of some devices; the rest are those that were so while the same tool moved others."""
        key, first = group[0]
        ids = [s.device.id for _, s in group if s.device]
        shared = _LISTED.intersection(*(s.values.keys() for _, s in group))  # a dry run tells of all tools at once
        together = {k: tuple(dict.fromkeys(s.values[k] for _, s in group)) for k in shared}
        values = {**first.values, **together, **({"devices": tuple(dict.fromkeys(ids))} if ids else {})}
        values |= {"is_rest": True} if is_rest else {}
        if key == "skipped.dry_run":
            values["action"] = self.describe(language, [s.result.action for _, s in group], home)
        return self.render(language, key, values, home)

    def _key(self, language: str, result: ActionResult) -> str:
        """The sentence of a result."""
        reason = result.reason or "other"
        if result.status is not Status.DONE:
            group = result.status.value
            known = (result.reply_key, f"{group}.{reason}", f"{group}.other")
            return next(k for k in known if k and self.has(language, k))
        if result.reply_key and (not _was_so(result) or self.has(language, result.reply_key)):
            return result.reply_key
        return next(k for k in (f"done.{result.action.tool}", "done.other") if self.has(language, k))

    def _signature(self, language: str, key: str, said: _Said, home: HomeView) -> tuple[Any, ...]:
        """What must agree for two results to share a sentence: everything it says but the devices."""
        wording, entry = self._words[language], self._texts[language].get(key)
        options = _pick(entry, [said.device]) if entry else ()
        used = {name for text in options for name in placeholders(text)} - wording.verbs() - {"devices", "n", "kind"}
        values = {k: v for k, v in said.values.items() if k in used - _LISTED and v is not None}
        whose = said.device.id if said.device and _LISTED & used else None
        return (
            key,
            whose,
            options,
            tuple((k, wording.value(k, v, home, said.device)) for k, v in sorted(values.items())),
        )

    def _sentence(self, language: str, key: str, values: Mapping[str, Any], home: HomeView) -> str | None:
        """Fill the first sentence of that key whose placeholders are all known."""
        entry = self._texts[language].get(key)
        if entry is None:
            return None
        given = {k: v for k, v in values.items() if v is not None and v not in ((), [], "")}
        spoken = self._spoken(language, key, given, home)
        options = _pick(entry, [home.device(i) for i in ids_of(given)], values)
        return next((s.format(**spoken) for s in options if placeholders(s) <= spoken.keys()), None)

    def _spoken(self, language: str, key: str, given: Mapping[str, Any], home: HomeView) -> dict[str, str]:
        """Every value in words; rows of a table become a list of half sentences, by the key `<group>.item`."""
        wording, ids = self._words[language], ids_of(given)
        group = key.split(".")[0]
        device = home.device(ids[0]) if ids else None
        rows = {k: v for k, v in given.items() if isinstance(v, list | tuple) and isinstance(v[0], Mapping)}
        spoken = {k: wording.value(k, v, home, device, given) for k, v in given.items() if k not in rows}
        for name, table in rows.items():
            parts = [self._sentence(language, f"{group}.item", row, home) for row in merge_rows(table)]
            spoken[name] = wording.join_clauses([p for p in parts if p])
        spoken |= wording.about(ids, home, given, is_counted=group in GROUPS)
        return spoken


@dataclass(frozen=True)
class _Said:
    """One result with what can be said of it."""

    result: ActionResult
    device: Device | None
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, result: ActionResult, home: HomeView) -> _Said:
        is_told = "device_ids" in result.facts  # an answer that says itself which devices it is about
        device = home.device(result.action.device_id) if result.action.device_id and not is_told else None
        state = {"state": result.state} if result.state is not None else {}
        return cls(result, device, {**result.action.args, **state, **result.facts})


def _was_so(result: ActionResult) -> bool:
    """Whether nothing had to change."""
    return (result.reply_key or "").startswith("already.")


def _pick(entry: Entry, devices: Sequence[Device | None], values: Mapping[str, Any] = _NOTHING) -> tuple[str, ...]:
    """The sentences for what is missing (slot), what stood in the way (kind), the tool, or the devices."""
    keys = (*(str(values.get(k)) for k in ("slot", "kind", "tool")), *classes_of(devices), "default")
    return next(entry[k] for k in keys if k in entry)


def _named(group: Sequence[Action], apart: Collection[str], n_named: int) -> Sequence[Sequence[Action]]:
    """Split a group of devices that have to be named into ones that are small enough for it."""
    if group[0].device_id not in apart:
        return [group]
    return [group[i : i + n_named] for i in range(0, len(group), n_named)]


def _group(items: Sequence[Any], key: Callable[[Any], Any]) -> list[list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def _wording(language: str, data: Mapping[str, Any]) -> Wording:
    tables = {k: data.get(k) or {} for k in ("grammar", "kinds", "states", "words")}
    return Wording(language, plain=frozenset(data.get("plain") or ()), **tables)
