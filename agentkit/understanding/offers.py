"""Which argument values a sentence leaves open: what was not said is not offered to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentkit.types import Value
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.numbers import plain
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.tools import Param, Tool

_NUMBERS = (Role.NUMBER, Role.LEVEL, Role.WHITE)
_TEXTS = {"color": Role.COLOR, "mode": Role.MODE}


@dataclass(frozen=True)
class Offers:
    """Values for the arguments of one sentence's grammar."""

    numbers: tuple[int | float, ...] = ()
    texts: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """(tool, argument) → colours, modes or rooms that were mentioned; other text is not the model's to make up."""
    defaults: Mapping[tuple[str, str], tuple[int | float, ...]] = field(default_factory=dict)
    """(tool, argument) → differences meant by a verb alone ("brighter")."""

    def of(self, tool: Tool, param: Param) -> tuple[Value, ...] | None:
        """Values that an argument may take; None = all of its type."""
        if param.choices or param.type is bool:
            return None
        if param.type is str:
            return self.texts.get((tool.name, param.name), ())
        defaults = self.defaults.get((tool.name, param.name), ())
        if not self.numbers:
            return tuple(dict.fromkeys(defaults))
        is_difference = param.range is not None and param.range.low == -param.range.high
        signs = (1, -1) if is_difference else (1,)
        said = [n * sign for n in self.numbers for sign in signs]
        fitting = [n for n in said if param.range is None or param.range.low <= n <= param.range.high]
        whole = [n for n in fitting if param.type is float or isinstance(n, int)]
        return tuple(dict.fromkeys([*whole, *defaults]))


def offers_of(mentions: tuple[Item, ...], rooms: tuple[str, ...], phrases: PhraseMap) -> Offers:
    """The values that a sentence's mentions offer."""
    numbers = [plain(m.number) if m.role is Role.NUMBER else int(m.value) for m in mentions if m.role in _NUMBERS]
    said = {name: tuple(dict.fromkeys(m.value for m in mentions if m.role is role)) for name, role in _TEXTS.items()}
    texts = {(r.tool, r.argument): said[r.value] for r in phrases.values if r.value in said}
    texts |= dict.fromkeys(phrases.area_arguments, rooms)
    return Offers(tuple(dict.fromkeys(numbers)), texts, phrases.defaults)
