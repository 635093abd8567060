"""What a light does beside shining: effects that run, and a short signal."""

from __future__ import annotations

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import BEFORE, Decision, tool

from .common import can, features, is_simulated, listed, refuse, spelled_like, to

NO_EFFECT = "none"
STOPPED = (NO_EFFECT, "off", "solid", "no effect", "stop")
"""What lights call it when no effect runs."""


def shows(device: Device) -> int:
    """Rank for effects: what runs one, then what has some."""
    if not listed(device, "effect_list"):
        return 0
    return 1 if device.attributes.get("effect") in (None, *STOPPED) else 2


@tool(types=("light",), prefers=shows, undone_by=BEFORE, is_told=False)
def set_effect(device: Device, effect: str) -> Decision:
    """Let a light run one of its effects by name, for example colorloop; none = stop it."""
    effects = listed(device, "effect_list")
    if not effects:
        return refuse("unsupported", device, what="effect")
    if effect.strip().casefold() == NO_EFFECT:
        stopped = next((m for s in STOPPED if (m := spelled_like(s, effects))), None)
        decision = to(device, None, {"effect": stopped})
        return Decision(decision.changes, reply_key="done.stop_effect")
    wanted = spelled_like(effect, effects)
    if wanted is None:
        return refuse("unknown_effect", device, effect=effect, modes=effects)
    return to(device, "on", {"effect": wanted}, effect=wanted)


@tool(types=("light",), is_told=False)
def flash_light(device: Device) -> Decision:
    """Let a light flash shortly, as a signal; afterwards it is as before."""
    if not can(device, "flash") or (is_simulated(device) and features(device) is None):
        return refuse("unsupported", device, what="flash")
    return to(device)
