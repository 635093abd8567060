"""Numbers that a reading took for values though they may as well say when: "the lamp from 8 to 10", "dim it in ten"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.types import Intent, Understanding
from agentkit.understanding.choosing import is_complete
from agentkit.understanding.evidence import read_sentence
from agentkit.understanding.guard import GuardHit, not_yet
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.numbers import find_numbers
from agentkit.understanding.tools import Tool
from agentkit.understanding.when import find_when
from agentkit.understanding.withheld import names_no_value, needs_no_value
from agentkit.understanding.words import Words

_SPANS = frozenset({"range", "until", "duration", "vague"})
_MINUTE = 60.0


@dataclass(frozen=True)
class DoubtfulReader:
    """Looks over what was read for now; `plan` reads a sentence with a time."""

    plan: Callable[[Normalised], Understanding]
    lexicon: Lexicon
    words: Words
    tools: Mapping[str, Tool]

    def weighed(self, found: Understanding, text: Normalised, moved: Sequence[Intent]) -> Understanding:
        """The reading; asked about, or refused, if a value in its calls to devices may be a time."""
        values = {abs(v) for i in moved for v in i.args.values() if isinstance(v, (int, float)) and v is not True}
        if not values:
            return found
        when = find_when(text.text, self.words.time)
        if when.problem in _SPANS:
            return not_yet(GuardHit(str(when.problem), when.words), found.timings_ms)
        ranges = self.words.time.refused.get("range", ())
        if (hit := next((m for p in ranges if (m := p.search(text.text))), None)) is not None:
            return self._of_span(found, text, hit[0])
        for pattern in self.words.time.frames.get("unitless", ()):
            hit = pattern.search(text.text)
            if hit is not None and values & {n.value for n in find_numbers(hit["amount"].lower())}:
                return self._in_minutes(found, text, hit.end("amount"))
        return found

    def _of_span(self, found: Understanding, text: Normalised, said: str) -> Understanding:
        """Refuse hours, which small numbers are unless a verb changes a value or a word says what it is."""
        if not names_no_value(text, self.lexicon, self.words):
            return found
        has_verb = bool(read_sentence(text.text, self.lexicon, self.words).verbs)
        if not has_verb or needs_no_value(text, self.lexicon, self.words):
            return not_yet(GuardHit("range", said), found.timings_ms)
        return replace(found, needs_confirmation=True)

    def _in_minutes(self, found: Understanding, text: Normalised, end: int) -> Understanding:
        """Ask whether minutes were meant, else about the value."""
        unit = next((w for w, size in self.words.time.units.items() if size == _MINUTE), "")
        said = f"{text.text[:end]} {unit}" if unit.isascii() else text.text[:end] + unit
        planned = self.plan(replace(text, text=said + text.text[end:]))
        is_plan = planned.when is not None and is_complete(planned, self.tools)
        return replace(planned if is_plan else found, needs_confirmation=True)
