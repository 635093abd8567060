from __future__ import annotations

import pytest

from agentkit.agent.verify import has_moved, is_reached, same
from agentkit.devices.adapter import Change, Device


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        (127, 128),
        (20, 20.0),
        ("21.5", 21.5),
        ([255, 0, 0], (255, 0, 0)),
        ("ON", "on"),
        (None, None),
        ({"a": 1}, {"a": 1.0}),
    ],
)
def test_what_a_device_rounds_or_spells_otherwise_is_the_same(got, wanted):
    assert same(got, wanted)


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        (21, 22),
        (21.5, 22.0),
        (0.30, 0.33),
        (None, 0),
        (True, 1),
        (False, None),
        ("off", "on"),
        ([1, 2], (1, 2, 3)),
        ("", 0),
    ],
)
def test_what_really_differs_is_not_the_same(got, wanted):
    assert not same(got, wanted)


def test_only_what_the_change_names_counts():
    lamp = Device("light.a", "A", "light", state="on", attributes={"brightness": 10, "color": "red"})
    assert is_reached(lamp, Change("on"))
    assert is_reached(lamp, Change(None, {"color": "red"}))
    assert not is_reached(lamp, Change("on", {"brightness": 90}))


def test_a_removed_attribute_must_be_gone():
    lamp = Device("light.a", "A", "light", attributes={"effect": "rainbow"})
    assert not is_reached(lamp, Change(None, {"effect": None}))
    assert is_reached(Device("light.a", "A", "light"), Change(None, {"effect": None}))


def test_movement_is_seen_only_in_what_the_change_names():
    before = Device("cover.a", "A", "cover", state="closed", attributes={"position": 0, "battery": 90})
    after = Device("cover.a", "A", "cover", state="closed", attributes={"position": 30, "battery": 89})
    assert has_moved(before, after, Change("open", {"position": 100}))
    assert not has_moved(before, after, Change("open"))
