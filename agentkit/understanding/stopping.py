"""What "stop" or "be quiet" alone means: what moves or plays now is stopped, or not heard any more."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold, fold_all
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.words import Words

ANY = "any"
_STOP, _MUTE = "stop", "mute"
_NOTHING_SHOWN = (None, "", "off", "none", "None")


def stopped(text: Normalised, view: HomeView, words: Words, phrases: PhraseMap) -> Understanding:
    """Stop what the last turn was about if it moves or shows an effect, else the one thing that moves; or kind NONE.

    Of several it is asked which, but a word for quiet means all that is heard.
    """
    said = fold(text.original, words)  # "would you stop" is meant for whoever speaks
    types = {t for t, listed in words.stops.items() if said in fold_all(listed, words)}
    if not types:
        return Understanding(Kind.NONE)
    moving = [d for d in view.devices if types & {ANY, d.type} and d.state in phrases.moving.get(d.type, ())]
    last = view.spoken_of.device_ids if view.spoken_of is not None and ANY in types else ()
    shown = [i for d in view.devices if d.id in last and (i := _ending(d, phrases))]
    if shown:
        return Understanding(Kind.CALLS, tuple(shown), path="template", why="stops what was just started")
    started = [d for d in moving if d.id in last]
    act = _STOP if ANY in types else _MUTE
    intents = [intent for d in started or moving if (intent := _stopping(d, act, phrases))]
    if len(intents) > 1 and ANY in types and not started:
        return _which(moving, intents)
    why = "stops what moves"
    return Understanding(Kind.CALLS, tuple(intents), path="template", why=why) if intents else Understanding(Kind.NONE)


def _ending(device: Device, phrases: PhraseMap) -> Intent | None:
    """The call that ends the choice which a device shows now under the name of its kind ("effect"); None if none."""
    for rule in phrases.values:
        shown = device.attributes.get(rule.choice) if rule.choice and device.type in rule.types else None
        if rule.ended is not None and shown not in _NOTHING_SHOWN and shown != rule.ended and device.state == "on":
            selector = Selector(device_ids=(device.id,), types=(device.type,))
            return Intent(rule.tool, {rule.argument: rule.ended}, selector)
    return None


def _stopping(device: Device, act: str, phrases: PhraseMap) -> Intent | None:
    rules = (r for r in phrases.acts.get(act, ()) if device.type in r.types and r.topic is None)
    rule = next(rules, None)
    selector = Selector(device_ids=(device.id,), types=(device.type,))
    return None if rule is None else Intent(rule.tool, rule.constants, selector)


def _which(devices: Sequence[Device], intents: Sequence[Intent]) -> Understanding:
    """Ask which one; where they stop in different ways, what to do with them."""
    if len({i.tool for i in intents}) == 1:
        one = Selector(device_ids=tuple(d.id for d in devices), types=(devices[0].type,), is_one=True)
        return Understanding(Kind.CALLS, (Intent(intents[0].tool, intents[0].args, one),), path="template", why="stop")
    values = {"devices": tuple(d.name for d in devices)}
    return Understanding(Kind.ASK, (), "what", values, "template", "several things move")
