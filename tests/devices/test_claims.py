"""The class that a device was registered under stays; what it claims later is kept beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.devices.adapter import Device, Home, class_of
from agentkit.devices.registry import Registry
from agentkit.errors import DeviceError

GARAGE = Device("cover.a", "A", "cover", state="closed", attributes={"device_class": "garage"})
PLAIN = Device("cover.b", "B", "cover", state="closed")


@pytest.fixture
def registry() -> Registry:
    return Registry(Home("h", devices=(GARAGE, PLAIN)))


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("garage", "garage"),
        (" Garage ", "garage"),
        ("cover.CoverDeviceClass.GARAGE", "garage"),
        ("ｇａｒａｇｅ", "garage"),
        ("garage door", "garage_door"),
        (["garage"], "unknown"),
        (7, "unknown"),
        ("", "unknown"),
        (None, None),
    ],
)
def test_a_class_is_read_as_devices_spell_it(said: object, wanted: str | None) -> None:
    assert class_of(said) == wanted
    assert Device("a", "A", "cover", attributes={"device_class": said}).device_class == wanted


@pytest.mark.parametrize("said", ["curtain", None, ["curtain"], ""])
def test_a_report_never_replaces_a_class(registry: Registry, said: object) -> None:
    device = registry.report("cover.a", attributes={"device_class": said})
    assert device.device_class == "garage"
    assert device.attributes["device_class"] == "garage"


def test_a_claim_stays_whatever_is_reported_after_it(registry: Registry) -> None:
    for said in ("garage", "curtain", None):
        registry.report("cover.b", attributes={"device_class": said})
    registry.report("cover.b", attributes={"reported_class": None})
    assert registry.get("cover.b").classes == (None, "garage", "curtain")
    assert registry.get("cover.b").device_class == "garage"


def test_the_same_class_in_another_spelling_is_no_claim(registry: Registry) -> None:
    assert registry.report("cover.a", attributes={"device_class": "Garage"}) == GARAGE


def test_claims_are_bounded(registry: Registry) -> None:
    for n in range(100):
        registry.report("cover.b", attributes={"device_class": f"class_{n}"})
    assert len(registry.get("cover.b").classes) < 12


def test_registering_again_keeps_the_class_also_after_a_removal(registry: Registry) -> None:
    for attributes in ({}, {"device_class": "curtain", "reported_class": ["blind"]}):
        registry.upsert(replace(GARAGE, attributes=attributes))
        assert registry.get("cover.a").attributes["device_class"] == "garage"
    registry.remove("cover.a")
    registry.upsert(replace(GARAGE, attributes={"device_class": "curtain"}))
    assert registry.get("cover.a").classes == ("garage", "curtain")


def test_a_known_device_does_not_become_another_type(registry: Registry) -> None:
    with pytest.raises(
        DeviceError, match=r"cover\.a: it is known as a cover, not a light; register it under another id"
    ):
        registry.upsert(replace(GARAGE, type="light"))
    registry.remove("cover.a")
    with pytest.raises(DeviceError, match="known as a cover"):
        registry.upsert(replace(GARAGE, type="light"))


def test_a_restart_keeps_claims_and_follows_the_home_file(tmp_path: Path) -> None:
    before = Registry(Home("h", devices=(GARAGE, PLAIN)), store=tmp_path / "s.json")
    before.report("cover.a", attributes={"device_class": "curtain"})
    before.upsert(replace(PLAIN, name="Renamed"))
    before.close()
    known = replace(PLAIN, attributes={"device_class": "gate"})
    after = Registry(Home("h", devices=(GARAGE, known)), store=tmp_path / "s.json")
    assert after.get("cover.a").classes == ("garage", "curtain")
    assert (after.get("cover.b").name, after.get("cover.b").classes) == ("Renamed", ("gate",))


def test_what_a_device_was_called_before_is_kept_and_cannot_be_claimed_or_cleared(registry: Registry) -> None:
    new = replace(PLAIN, id="cover.c")
    assert registry.upsert(replace(new, attributes={"former_names": ["x"]})).former_names == ()
    renamed = registry.upsert(replace(new, name="Bay blind", attributes={"former_names": ["x"]}))
    assert renamed.former_names == ("B",)
    assert registry.report("cover.c", attributes={"former_names": None}).former_names == ("B",)
    assert registry.upsert(replace(new, name="Bay")).former_names == ("B", "Bay blind")
    registry.remove("cover.c")
    assert registry.upsert(replace(new, name="Bay")).former_names == ()


def test_the_name_of_the_home_file_counts_even_after_a_removal(registry: Registry) -> None:
    registry.remove("cover.b")
    assert registry.upsert(replace(PLAIN, name="Bay blind")).former_names == ("B",)


def test_former_names_outlive_a_restart(tmp_path: Path) -> None:
    home, file = Home("h", devices=(GARAGE, PLAIN)), tmp_path / "devices.json"
    Registry(home, store=file).upsert(replace(PLAIN, name="Bay blind"))
    assert Registry(home, store=file).get("cover.b").former_names == ("B",)
