"""What can be asked, as the app's data say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentkit.devices.adapter import Device
from agentkit.understanding.normalise import fold_all
from agentkit.understanding.words import Words


@dataclass(frozen=True)
class AskMap:
    """What can be asked, as the app's data say."""

    tool: str = ""
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """State → device types that can be in it; for binary sensors their classes, as "binary_sensor.door"."""
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Value that can be read → device types that have it; a sensor of that class has it anyway."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Value → tool of its own ("weather")."""
    wider: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Class → kinds of devices, as in `states`, that its words mean where a state of that class is asked for: a door is
    a lock, a contact and a garage door."""
    everywhere: tuple[str, ...] = ()
    """Device types, states and attributes that are asked of the whole home, wherever the speaker is."""

    def wide_key(self, text: str, words: Words) -> str:
        """The class with a wider meaning of which a folded text is a word; empty if there is none."""
        return next((k for k in self.wider if text in fold_all(words.device_classes.get(k, ()), words)), "")

    def is_general(self, text: str, words: Words, states: Iterable[str]) -> bool:
        """Whether a name is but a word for a kind that is asked of the whole home: one "door" among several."""
        kinds = [k for k in words.kinds if text in fold_all(words.kinds[k], words)]
        is_kept = any(k in self.everywhere for k in kinds) or (
            bool(kinds) and any(s in self.everywhere for s in states)
        )
        return is_kept or bool(self.wide_key(text, words))

    def is_wide(self, device: Device, key: str) -> bool:
        """Whether a device is among those that the words of a class mean in a question about its state."""
        return device.type in self.wider[key] or f"{device.type}.{device.device_class}" in self.wider[key]

    def can_be(self, device: Device, state: str) -> bool:
        """Whether devices of its kind can be in a state."""
        groups = self.states.get(state, ())
        is_type = device.type != "binary_sensor" and device.type in groups
        return is_type or f"{device.type}.{device.device_class}" in groups

    def is_everywhere(self, state: str) -> bool:
        """Whether a state is asked for wherever the speaker is."""
        types = {kind.partition(".")[0] for kind in self.states.get(state, ())}
        return state in self.everywhere or (bool(types) and types <= set(self.everywhere))


def read_asks(raw: Mapping[str, Any]) -> AskMap:
    """Turn the mapping `asks` of the phrases into an AskMap."""

    def table(key: str) -> dict[str, tuple[str, ...]]:
        return {str(k): tuple(map(str, v)) for k, v in (raw.get(key) or {}).items()}

    tools = {str(k): str(v) for k, v in (raw.get("tools") or {}).items()}
    everywhere = tuple(map(str, raw.get("everywhere") or ()))
    return AskMap(str(raw.get("tool") or ""), table("states"), table("attributes"), tools, table("wider"), everywhere)
