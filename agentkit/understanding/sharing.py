"""One verb for things of several types: "turn them all off" switches off what switches and closes what closes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.types import Intent, Selector, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.tools import Tool


def shared(found: Understanding, view: HomeView, phrases: PhraseMap, tools: Mapping[str, Tool]) -> Understanding:
    """The reading with the tool of its own for every type of device that "them" means."""
    intents = tuple(one for i in found.intents for one in _shared(i, view, phrases, tools))
    return found if intents == found.intents else replace(found, intents=intents)


def _shared(intent: Intent, view: HomeView, phrases: PhraseMap, tools: Mapping[str, Tool]) -> Iterator[Intent]:
    tool = tools.get(intent.tool)
    devices = [d for i in intent.selector.device_ids if (d := view.device(i)) is not None]
    able = [d for d in devices if tool is not None and d.type in tool.types]
    is_open = len(devices) == len(view.devices)  # "it" may be anything, so it is no group yet
    if is_open or intent.args or tool is None or tool.is_query or not able or len(able) == len(devices):
        yield intent
        return
    yield replace(intent, selector=_ids(able))
    left = [d for d in devices if d not in able]
    for other, types in _same_act(intent.tool, phrases):
        if fitting := [d for d in left if d.type in types]:
            yield Intent(other, {}, _ids(fitting))
            left = [d for d in left if d not in fitting]
    if left:  # nobody can do that: the resolver says so
        yield replace(intent, selector=_ids(left))


def _same_act(name: str, phrases: PhraseMap) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Other tools for the act that a tool stands for first, with the types that they work on."""
    rules = next((rules for rules in phrases.acts.values() if any(r.tool == name for r in rules)), ())
    yield from ((r.tool, r.types) for r in rules if r.tool != name and not (r.topic or r.constants or r.called))


def _ids(devices: list[Device]) -> Selector:
    return Selector(device_ids=tuple(d.id for d in devices), types=tuple(dict.fromkeys(d.type for d in devices)))
