from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from agentkit.config import App
from agentkit.devices.adapter import Device
from agentkit.devices.registry import Registry
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView, LiveHome
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words


def test_the_home_that_is_used_outlives_those_that_are_not(home: HomeView, words: dict[str, Words]) -> None:
    built: list[HomeView] = []
    cache = HomeCache(lambda view, own: built.append(view))
    for n in range(6):
        cache.get(home, words["en"])
        cache.get(replace(home, devices=home.devices[: n + 1]), words["en"])
    assert built.count(home) == 1


def test_views_of_one_home_share_what_was_built(
    understander: Understander, home: HomeView, words: dict[str, Words]
) -> None:
    elsewhere = replace(home, speaker_area="kitchen", devices=tuple(replace(d, state="x") for d in home.devices))
    assert understander.lexicon(elsewhere, words["en"]) is understander.lexicon(home, words["en"])


def test_a_live_home_is_indexed_once_until_something_can_be_called_otherwise(app: App) -> None:
    registry = Registry(app.home)
    live = LiveHome(registry)
    lamp = next(d for d in registry.devices() if d.type == "light")
    first = live.view(None)
    registry.report(lamp.id, state="on", attributes={"brightness": 7})
    second = live.view(None)
    assert second._index is first._index
    assert second.device(lamp.id) == registry.get(lamp.id) == second.named(lamp.name)[0]
    assert first.device(lamp.id) == lamp


@pytest.mark.parametrize(
    "change", [{"name": "Ostrich"}, {"aliases": ("Ostrich",)}, {"area": None}, {"attributes": {"device_class": "x"}}]
)
def test_a_live_home_finds_a_device_by_what_it_is_called_now(app: App, change: dict[str, Any]) -> None:
    registry = Registry(app.home)
    live = LiveHome(registry)
    lamp = next(d for d in registry.devices() if d.type == "light" and d.area)
    before = live.view(None).naming()
    registry.upsert(replace(lamp, **change))
    view = live.view(None)
    assert view.naming() != before
    assert view.device(lamp.id) == registry.get(lamp.id)
    assert [d.id for d in view.named("ostrich")] == ([lamp.id] if "Ostrich" in str(change) else [])
    registry.remove(lamp.id)
    assert live.view(None).device(lamp.id) is None
    assert live.view(None).named(lamp.name) == ()
    assert live.view(None).devices == registry.devices()


def test_a_part_of_a_live_home_finds_only_its_own_devices(app: App) -> None:
    view = LiveHome(Registry(app.home)).view(None)
    last = view.devices[-1]
    part = replace(view, devices=(last,))
    assert part.device(last.id) is last
    assert part.device(view.devices[0].id) is None
    assert part.named(view.devices[0].name) == ()


def test_views_taken_while_devices_come_and_go_are_whole(app: App) -> None:
    registry = Registry(app.home)
    live, wrong = LiveHome(registry), list[str]()
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            view = live.view(None)
            wrong.extend(d.id for d in view.devices if view.device(d.id) is not d or d not in view.named(d.name))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for n in range(60):
        registry.upsert(Device(f"light.extra_{n % 7}", f"Extra {n}", "light"))
        registry.report(f"light.extra_{n % 7}", state=str(n))
        if n % 5 == 4:
            registry.remove(f"light.extra_{n % 7}")
    is_over.set()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_views_of_a_live_home_hash_its_rooms_once_but_never_those_of_another(app: App) -> None:
    live = LiveHome(Registry(app.home))
    first, second = live.view("kitchen"), replace(live.view(None), spoken_of=None)
    assert first.naming() is second.naming()
    fewer = replace(first, areas=first.areas[:-1])
    assert fewer.naming() != first.naming()
    assert replace(first, devices=first.devices[:-1]).naming() != first.naming()
    assert HomeView(tuple(first.devices), first.areas, first.floors).naming() == first.naming()
