"""Players: playing, skipping and volume."""

from __future__ import annotations

from typing import Annotated, Any

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import BEFORE, Decision, Range, tool

from .common import OFF_STATES, can, clamp, is_on, is_simulated, number, refuse, to, unless_off

PLAYER = ("media_player",)
MAX_QUERY = 200
SILENT = OFF_STATES | {"idle"}


def plays(device: Device) -> int:
    """Rank for changes of the sound: what plays before what could, what is on before what is off."""
    if device.state in ("playing", "buffering"):
        return 3
    return int(is_on(device)) + int(device.state not in SILENT)


def waits(device: Device) -> int:
    """Rank for going on: what was paused before what plays already, what is on before what is off, then a speaker."""
    return 2 * (4 if device.state == "paused" else plays(device)) + int(device.device_class == "speaker")


def sounds(device: Device) -> int:
    """Rank for something new to hear: what plays or is on, then a loudspeaker, and last what would be switched on."""
    return 2 * plays(device) + int(device.device_class == "speaker")


def is_silenced(device: Device) -> int:
    """Rank for being heard again: what is muted."""
    return int(device.attributes.get("is_volume_muted") is True)


@tool(types=PLAYER, prefers=waits, undone_by="media_pause", is_one_per_room=True)
def media_resume(device: Device) -> Decision:
    """Go on playing, or start to play."""
    return to(device, "playing")


@tool(types=PLAYER, prefers=plays, undone_by="media_resume", is_ending=True, is_one_per_room=True)
def media_pause(device: Device) -> Decision:
    """Pause what is playing."""
    return refuse("not_playing", device) if device.state in SILENT else to(device, "paused")


@tool(types=PLAYER, prefers=plays, undone_by=BEFORE, is_one_per_room=True)
def media_stop(device: Device) -> Decision:
    """Stop what is playing."""
    return refuse("not_playing", device) if device.state in OFF_STATES else to(device, "idle")


@tool(types=PLAYER, prefers=plays, is_one_per_room=True)
def media_next(device: Device) -> Decision:
    """Skip to the next track."""
    return _skip(device, 1)


@tool(types=PLAYER, prefers=plays, is_one_per_room=True)
def media_previous(device: Device) -> Decision:
    """Go back to the previous track."""
    return _skip(device, -1)


@tool(types=PLAYER, prefers=sounds, undone_by="media_stop", is_one_per_room=True)
def media_search_play(device: Device, query: str) -> Decision:
    """Find music, a show or a station by name and play it."""
    title = " ".join(query.split())[:MAX_QUERY]
    if not title:
        return refuse("empty_query", device)
    attributes: dict[str, Any] = {"media_title": title} if is_simulated(device) else {}
    return to(device, "playing", attributes, query=title)


@tool(types=PLAYER, prefers=plays, undone_by=BEFORE, is_one_per_room=True)
def set_volume(device: Device, volume: Annotated[int, Range(0, 100, "%")]) -> Decision:
    """Set how loud a player is, in percent."""
    if not can(device, "volume_set", "volume_step"):
        return refuse("unsupported", device, what="volume")
    if not 0 <= volume <= 100:
        return refuse("out_of_range", device, value=volume, low=0, high=100, unit="%")
    return _loud(device, volume)


@tool(types=PLAYER, prefers=plays, undone_by=BEFORE, is_one_per_room=True)
def adjust_volume(device: Device, step: Annotated[int, Range(-100, 100, "%")], of_present: bool = False) -> Decision:
    """Make a player louder (step above 0) or quieter (step below 0) by so many percent.

    of_present: percent of what it is now, not of full.
    """
    if not can(device, "volume_set", "volume_step"):
        return refuse("unsupported", device, what="volume")
    level = number(device, "volume_level")
    current = 50.0 if level is None else level * 100
    return _loud(device, round(clamp(current + (current * step / 100 if of_present else step), 0, 100)))


@tool(types=PLAYER, prefers=plays, undone_by="unmute", is_one_per_room=True)
def mute(device: Device) -> Decision:
    """Silence a player without changing its volume."""
    return to(device, None, {"is_volume_muted": True})


@tool(types=PLAYER, prefers=is_silenced, undone_by="mute", is_ending=True, is_one_per_room=True)
def unmute(device: Device) -> Decision:
    """Let a muted player be heard again."""
    return to(device, None, {"is_volume_muted": False})


def _loud(device: Device, volume: int) -> Decision:
    attributes: dict[str, Any] = {"volume_level": round(volume / 100, 2)}
    if volume and device.attributes.get("is_volume_muted") is True:
        attributes["is_volume_muted"] = False  # nobody asks for a volume and silence
    return unless_off(device, to(device, None, attributes, volume=volume), "done.volume_off")


def _skip(device: Device, step: int) -> Decision:
    if device.state in SILENT:
        return refuse("not_playing", device)
    track = number(device, "media_track")
    return to(device, None, {} if track is None else {"media_track": max(1, int(track) + step)})
