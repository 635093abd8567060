"""A room alone, after a turn that tells what is meant there: "turn on the hallway too", "and the bedroom"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.understanding.entries import Role
from agentkit.understanding.groups import GUARDS
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.words import Words

_THINGS = frozenset({Role.NAME, Role.KIND, Role.CLASS, Role.IT})
_PLACES = frozenset({Role.AREA, Role.FLOOR})


def with_one_more(text: Normalised, devices: Sequence[Device], words: Words) -> Normalised:
    """The text with the word for the one kind of these devices, if it wants one more of them; not for locks."""
    kinds = {(d.type, d.device_class) for d in devices}
    if len(kinds) != 1 or devices[0].type in GUARDS:
        return text
    device_type, device_class = kinds.pop()
    listed = words.device_classes.get(f"{device_type}.{device_class}") or words.kinds.get(device_type, ())
    said = text.text
    for pattern, command in words.talk.one_more.items() if listed else ():
        said = re.sub(pattern, command.replace("{kind}", listed[0]), said, flags=re.IGNORECASE)
    return text if said == text.text else replace(text, text=said)


def with_kind(text: Normalised, types: AbstractSet[str], words: Words, lexicon: Lexicon) -> Iterator[Normalised]:
    """The text with the word for these devices behind its one place, if it holds a verb and no thing; not for locks."""
    kind = next((k for t in types for k in words.kinds.get(t, ())), "")
    if len(types) != 1 or types & GUARDS or not kind:
        return
    folded = fold(text.text, words)
    mentions = lexicon.mentions(folded)
    places = [m for m in mentions if m.role in _PLACES]
    roles = {m.role for m in mentions}
    if len(places) == 1 and Role.ACT in roles and not roles & _THINGS:
        end, gap = places[0].end, " " if kind.isascii() else ""
        yield replace(text, text=f"{folded[:end]}{gap}{kind}{folded[end:]}", is_question=False)
