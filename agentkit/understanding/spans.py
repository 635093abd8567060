"""Ranges: "keep the thermostat between 19 and 22" is read with one value in its place, which tells what is set.

The words' `spans` find a range (groups `low` and `high`), or one end of it (group `least` or `most`), and say how the
sentence goes with one value; with a group `unsure` it is asked about. If that sets what can be kept in a range too, the
range is set; else the range is refused, so that nobody takes one of its ends for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agentkit.types import Intent, Kind, Understanding, Value
from agentkit.understanding.choosing import is_complete, is_question
from agentkit.understanding.guard import GuardHit, not_yet
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.numbers import in_digits, plain
from agentkit.understanding.phrase_map import SpanRule
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_NOTHING = Understanding(Kind.NONE)
_BETWEEN = "between"
"""Kind of reason why nothing is done."""
_LAST_HOUR = 12
"""Both ends of a range may be hours up to here; those of rooms are warmer."""


@dataclass(frozen=True)
class SpanReader:
    """Reads a text in one home by a reader for whole sentences."""

    match: Callable[[Normalised, HomeView], Understanding]
    words: Words
    view: HomeView
    tools: Mapping[str, Tool]
    rules: Mapping[str, SpanRule]

    def read(self, text: Normalised) -> Understanding:
        """The range to set, or why it cannot be set; kind NONE if no range is said of anything here."""
        if not self.words.spans or not self.rules or (text.is_question and not text.is_request):
            return _NOTHING
        said = in_digits(text.text)
        for pattern, single in self.words.made("spans", _compiled) if any(map(str.isdigit, said)) else ():
            if (span := pattern.search(said)) is None:
                continue
            groups = {k: v or "" for k, v in span.groupdict().items()}
            one = f"{said[: span.start()]}{single.format(**groups)}{said[span.end() :]}".strip()
            found = self.match(replace(text, text=one), self.view)
            if not is_complete(found, self.tools) or is_question(found, self.tools):
                continue
            ranged = tuple(self._ranged(i, groups) for i in found.intents)
            if None not in ranged:
                is_unsure = found.needs_confirmation or bool(groups.get("unsure")) or _may_be_hours(groups)
                intents = tuple(i for i in ranged if i)
                return replace(found, intents=intents, needs_confirmation=is_unsure, why=f"range: {found.why}")
            if groups.get("high"):
                return not_yet(GuardHit(_BETWEEN, span.group(0).strip()), found.timings_ms)
        return _NOTHING

    def _ranged(self, intent: Intent, groups: Mapping[str, str]) -> Intent | None:
        """The call that keeps the range, for one that sets the value which stood in its place."""
        rule = self.rules.get(intent.tool)
        value = intent.args.get(rule.argument) if rule is not None else None
        if rule is None or isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        others = {k: v for k, v in intent.args.items() if k != rule.argument}
        if groups.get("low") and groups.get("high"):
            ends = sorted((float(groups["low"]), float(groups["high"])))
            if float(value) != float(groups["low"]):
                return None
            set_to: dict[str, Value] = {rule.low: plain(ends[0]), rule.high: plain(ends[1])}
        else:
            set_to = {rule.low if groups.get("least") else rule.high: value}
        return Intent(rule.tool, {**set_to, **others}, intent.selector)


def _may_be_hours(groups: Mapping[str, str]) -> bool:
    """Whether both ends may be hours: "keep the heating between 7 and 9"."""
    ends = [groups.get(k) for k in ("low", "high")]
    return all(end and float(end) <= _LAST_HOUR for end in ends)


def _compiled(words: Words) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), single) for pattern, single in words.spans.items())
