"""How a home and a sentence are written for the home model, and what its answers look like.

    [home] kitchen[a0] hall[a1][light][a0] ceiling light[d0][fan][a1] fan[d1][here][a0][user] fan[d1] off please[do]
    [turn_off][d1][end]

Devices and rooms are pointer tokens, so any name works and an answer is a handful of tokens. A pointer stands behind
what it points to, so that it has seen it; in the sentence too, where a name of the home is said word for word. One call
is a tool, its targets (devices, or a type with a place) and its value; several calls follow each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentkit.understanding.hanzi import simplify

MAX_DEVICES = 24
MAX_AREAS = 12
DO = "[do]"
"""Ends the prompt; a vocabulary that has it is a home model's."""
N_SPARE = 24
"""Tokens kept for later, so that a new mark needs no new vocabulary."""
TYPES = (
    "light",
    "switch",
    "fan",
    "climate",
    "cover",
    "lock",
    "media_player",
    "vacuum",
    "lawn_mower",
    "valve",
    "scene",
    "sensor",
    "script",
    "weather",
    "water_heater",
    "humidifier",
    "todo",
    "other",
)
TOOLS = (
    "turn_on",
    "turn_off",
    "toggle",
    "set_brightness",
    "adjust_brightness",
    "set_color",
    "set_color_temperature",
    "adjust_color_temperature",
    "set_temperature",
    "adjust_temperature",
    "set_hvac_mode",
    "set_fan_mode",
    "set_fan_speed",
    "adjust_fan_speed",
    "open_cover",
    "close_cover",
    "stop_cover",
    "set_cover_position",
    "lock",
    "unlock",
    "open_valve",
    "close_valve",
    "set_valve_position",
    "media_pause",
    "media_resume",
    "media_stop",
    "media_next",
    "media_previous",
    "set_volume",
    "adjust_volume",
    "mute",
    "unmute",
    "vacuum_start",
    "vacuum_return",
    "vacuum_pause",
    "mower_start",
    "mower_dock",
    "activate_scene",
    "run_script",
    "get_state",
    "vacuum_stop",
    "vacuum_clean_area",
    "media_search_play",
    "set_fan_oscillation",
    "get_weather",
    "get_list",
)
REFUSALS = ("not_home", "unknown_device", "not_now", "condition", "negation", "report", "unsure")
MARKS = (
    "home",
    "here",
    "user",
    "do",
    "end",
    "all",
    "more",
    "less",
    "ask",
    "refuse",
    "say",
    "wish",
    "chitchat",
    "which",
    "except",
    "timer",
    "value",
    "floor",
    "it",
    *REFUSALS,
)

Spell = Callable[[str], str]
_LOOSE = re.compile(r"[^\w,%°.:]+|(?<!\d)[.:]|[.:](?!\d)|_")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"((?:[a-z]|[^\W\d\u2e80-\u9fff])+|(?<![\d.])\d+)")
_BEFORE_HANZI = re.compile(r"\s+(?=[\u2e80-\u9fff,%°])")

_END = re.compile(r"s?(?![a-z0-9])")
"""What may follow a name of Latin letters: nothing, or the s of a plural."""


def specials() -> tuple[str, ...]:
    """Every token that is not text, in the order of the vocabulary."""
    pointers = [f"d{i}" for i in range(MAX_DEVICES)] + [f"a{i}" for i in range(MAX_AREAS)]
    pointers += [f"x{i}" for i in range(N_SPARE)]
    return tuple(f"[{x}]" for x in dict.fromkeys([*MARKS, *TYPES, *TOOLS, *pointers]))


@dataclass(frozen=True)
class Line:
    """One device as the model sees it."""

    type: str
    names: tuple[str, ...]
    area: int | None
    """Index of its area in the list of areas."""


def clean(text: str) -> str:
    """Lower case without marks other than comma, percent, degree and decimal point; nothing reads as a token of ours.

    Every word of Latin letters has a space before it, the first one too, so that it is always the same token.
    """
    plain = _LOOSE.sub(" ", simplify(text).casefold())
    return _BEFORE_HANZI.sub("", _SPACE.sub(" ", _WORD.sub(r" \1", plain))).rstrip()


def write_home(areas: Sequence[str], devices: Sequence[Line], spell: Spell = clean) -> str:
    """Write the part that all sentences about a home share; at most MAX_AREAS areas and MAX_DEVICES devices."""
    assert len(areas) <= MAX_AREAS, len(areas)
    assert len(devices) <= MAX_DEVICES, len(devices)
    rooms = "".join(f"{spell(name)}[a{i}]" for i, name in enumerate(areas))
    lines = "".join(
        f"[{d.type if d.type in TYPES else 'other'}]{'' if d.area is None else f'[a{d.area}]'}"
        f"{'|'.join(map(spell, d.names))}[d{i}]"
        for i, d in enumerate(devices)
    )
    return f"[home]{rooms}{lines}"


def write_said(text: str, areas: Sequence[str], devices: Sequence[Line], here: int | None, spell: Spell = clean) -> str:
    """Write one sentence, with a pointer behind every name in it and with the index of the speaker's area."""
    place = "" if here is None else f"[here][a{here}]"
    return f"{place}[user]{link(clean(text), areas, devices, spell)}[do]"


def link(text: str, areas: Sequence[str], devices: Sequence[Line], spell: Spell = clean) -> str:
    """Put pointers behind the names in a clean text, the longest name first; a shared name gets several."""
    pointers: dict[str, str] = {}
    for i, area in enumerate(areas):
        pointers[spell(area)] = pointers.get(spell(area), "") + f"[a{i}]"
    for i, device in enumerate(devices):
        for name in dict.fromkeys(map(spell, device.names)):
            pointers[name] = pointers.get(name, "") + f"[d{i}]"
    said = sorted((n for n in pointers if n and n in text), key=len, reverse=True)
    linked, at = "", 0
    while starts := [start for n in said if (start := text.find(n, at)) >= 0]:
        linked, at = linked + text[at : min(starts)], min(starts)
        name, end = next(((n, end) for n in said if (end := _end_of(n, text, at))), ("", at + 1))
        linked += text[at:end] + (pointers.get(text[at:end]) or pointers[name] if name else "")
        at = end
    return linked + text[at:]


def _end_of(name: str, text: str, at: int) -> int | None:
    """Where a name that stands at a place ends, with the s of a plural; None if it does not stand there."""
    if not text.startswith(name, at):
        return None
    end = at + len(name)
    if not name[-1].isascii():
        return end
    found = _END.match(text, end)
    return None if found is None else found.end()


def write_prompt(
    areas: Sequence[str], devices: Sequence[Line], here: int | None, text: str, spell: Spell = clean
) -> str:
    """Write the whole prompt. `spell` is `clean`, or what remembers how it spelled a name."""
    return write_home(areas, devices, spell) + write_said(text, areas, devices, here, spell)
