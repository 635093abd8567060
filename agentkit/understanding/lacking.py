"""Questions about a kind of device that its place lacks: the answer can then say so."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.asking import IDLE, AskReader
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.selecting import select

WHY = "a question about what is not there"
_SAID = frozenset({Role.AREA, Role.FLOOR, Role.ASK, Role.REPORT, Role.KIND, Role.CLASS, Role.ALL, Role.HOME})
_MAX_CHARS = 200


def lacking(text: Normalised, reader: AskReader, lexicon: Lexicon) -> Understanding:
    """The question in the words of `reports`; kind NONE if it is none about a kind that one place lacks."""
    folded = fold(text.text, reader.words)
    cuts = lexicon.cuts(folded) if reader.words.reports and len(folded) <= _MAX_CHARS else ()
    for cut in cuts:
        items = [i for i in cut if i.role not in IDLE]
        is_asked = text.is_question or any(i.role is Role.ASK for i in items)
        if is_asked and (found := _absent(items, reader)) is not None:
            return Understanding(Kind.CALLS, (found,), path="template", why=WHY)
    return Understanding(Kind.NONE)


def _absent(items: Sequence[Item], reader: AskReader) -> Intent | None:
    reports = [i.value for i in items if i.role is Role.REPORT]
    kinds = [i.value for i in items if i.role in (Role.KIND, Role.CLASS)]
    places = [i for i in items if i.role in (Role.AREA, Role.FLOOR)]
    if len(reports) != 1 or len(kinds) > 1 or len(places) != 1 or any(i.role not in _SAID for i in items):
        return None
    state = reports[0].rpartition(".")[2]
    able = reader.asks.states.get(state, ())
    kind = kinds[0] if kinds else next((t for t in able if "." not in t), "")  # "is upstairs locked" is about locks
    device_type, _, device_class = kind.partition(".")
    if not any(t.partition(".")[0] == device_type for t in able):
        return None
    is_floor, where = places[0].role is Role.FLOOR, (places[0].value,)
    areas, floors = ((), where) if is_floor else (where, ())
    place = Selector(areas=areas, floors=floors, types=(device_type,), device_class=device_class or None)
    return (
        None if select(place, reader.view) else Intent(reader.asks.tool, {"state": state, "question": "yes_no"}, place)
    )
