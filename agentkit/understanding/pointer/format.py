"""How a home and a sentence are written for the home model, and what its answers look like.

    <home><a0>kitchen<a1>hall<d0><light><a0>ceiling light<d1><fan><a1>fan<here><a0><user>fan off please<do>
    <turn_off><d1><end>

Devices and rooms are pointer tokens, so any name works and an answer is a handful of tokens. One call is a tool, its
targets (devices, or a type with a place) and its value; several calls follow each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_DEVICES = 24
MAX_AREAS = 12
TYPES = ("light", "switch", "fan", "climate", "cover", "lock", "media_player", "vacuum", "lawn_mower", "valve", "scene",
         "sensor", "other")  # fmt: skip
TOOLS = ("turn_on", "turn_off", "toggle", "set_brightness", "adjust_brightness", "set_color", "set_color_temperature",
         "adjust_color_temperature", "set_temperature", "adjust_temperature", "set_hvac_mode", "set_fan_mode",
         "set_fan_speed", "adjust_fan_speed", "open_cover", "close_cover", "stop_cover", "set_cover_position", "lock",
         "unlock", "open_valve", "close_valve", "set_valve_position", "media_pause", "media_resume", "media_stop",
         "media_next", "media_previous", "set_volume", "adjust_volume", "mute", "unmute", "vacuum_start", "vacuum_return",
         "vacuum_pause", "mower_start", "mower_dock", "activate_scene", "run_script", "get_state")  # fmt: skip
REFUSALS = ("not_home", "unknown_device", "not_now", "condition", "negation", "report")
MARKS = ("home", "here", "user", "do", "end", "all", "more", "less", "ask", "refuse", "say", "wish", "chitchat", "which",
         *REFUSALS)  # fmt: skip


def specials() -> tuple[str, ...]:
    """Every token that is not text, in the order of the vocabulary."""
    pointers = [f"d{i}" for i in range(MAX_DEVICES)] + [f"a{i}" for i in range(MAX_AREAS)]
    return tuple(f"<{x}>" for x in dict.fromkeys([*MARKS, *TYPES, *TOOLS, *pointers]))


@dataclass(frozen=True)
class Line:
    """One device as the model sees it."""

    type: str
    names: tuple[str, ...]
    area: int | None
    """Index of its area in the list of areas."""


def clean(text: str) -> str:
    """Text that cannot be read as a token of ours."""
    return text.replace("<", " ").replace(">", " ").replace("|", " ").strip().casefold()


def write_prompt(areas: Sequence[str], devices: Sequence[Line], here: int | None, text: str) -> str:
    """Write the whole prompt; at most MAX_AREAS areas and MAX_DEVICES devices."""
    assert len(areas) <= MAX_AREAS and len(devices) <= MAX_DEVICES, (len(areas), len(devices))
    rooms = "".join(f"<a{i}>{clean(name)}" for i, name in enumerate(areas))
    lines = "".join(
        f"<d{i}><{d.type if d.type in TYPES else 'other'}>{'' if d.area is None else f'<a{d.area}>'}"
        f"{'|'.join(clean(n) for n in d.names)}"
        for i, d in enumerate(devices)
    )
    place = "" if here is None else f"<here><a{here}>"
    return f"<home>{rooms}{lines}{place}<user>{clean(text)}<do>"
