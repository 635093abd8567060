"""What the app's own policy asks about, by what a device claims to be and by what it is called."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.agent.policy import evaluate
from agentkit.agent.resolve import Step
from agentkit.config import App
from agentkit.devices.adapter import REPORTED_CLASS, Device
from agentkit.policy_rules import Verdict
from agentkit.understanding.home_view import HomeView


def verdict(app: App, tool: str, device: Device) -> Verdict:
    return evaluate(app.policy, [Step(app.tools[tool], {}, (device.id,))], HomeView((device,))).verdict


def cover(name: str, device_class: object = None, **more: object) -> Device:
    attributes = {} if device_class is None else {"device_class": device_class}
    return Device("cover.x", name, "cover", state="closed", attributes={**attributes, **more})


@pytest.mark.parametrize(
    "device",
    [
        cover("Garage Roller Blind", "garage"),
        cover("Roller Blind", "Garage"),
        cover("Roller Blind", "cover.CoverDeviceClass.GARAGE"),
        cover("Roller Blind", ["curtain"]),
        cover("Roller Blind", "tunnel"),
        cover("Roller Blind", "curtain", **{REPORTED_CLASS: ["garage"]}),
        cover("Roller Blind", **{REPORTED_CLASS: ["garage"]}),
        cover("The Big One"),
        cover("The Big One", **{REPORTED_CLASS: ["curtain"]}),
        replace(cover("The Big One"), aliases=("blind",)),
        cover("Garage Blind"),
        cover("Big_Garage-Door Blind"),
        cover("ＧＡＲＡＧＥ Blind"),
        cover("車庫窗簾"),
        cover("Garage Blind", "blind"),
        cover("车库卷帘", "blind"),
        cover("卷帘门"),
        cover("Skylight", "window"),
    ],
)
@pytest.mark.parametrize("tool", ["open_cover", "set_cover_position", "toggle"])
def test_opening_what_is_not_known_to_be_harmless_is_asked_about(app: App, device: Device, tool: str) -> None:
    assert verdict(app, tool, device) is Verdict.CONFIRM
    assert verdict(app, "close_cover", device) is Verdict.ALLOW


@pytest.mark.parametrize(
    "device",
    [
        cover("Kitchen", "blind"),
        cover("Kitchen", "cover.CoverDeviceClass.CURTAIN"),
        cover("Door Curtain", "curtain"),
        cover("Window Shades"),
        cover("卧室窗帘"),
    ],
)
def test_curtains_open_unasked_whatever_they_hang_before(app: App, device: Device) -> None:
    assert verdict(app, "open_cover", device) is Verdict.ALLOW


@pytest.mark.parametrize("tool", ["turn_on", "turn_off", "toggle"])
@pytest.mark.parametrize(
    "name", ["Garage Door Relay", "Front Gate", "Door Lock", "车库门开关", "大门", "車庫門開關", "garage-door"]
)
def test_a_relay_named_after_a_door_is_asked_about(app: App, tool: str, name: str) -> None:
    assert verdict(app, tool, Device("switch.x", name, "switch")) is Verdict.CONFIRM


def test_a_relay_for_a_lamp_beside_a_door_is_free(app: App) -> None:
    assert verdict(app, "turn_on", Device("switch.x", "Gate Light", "switch")) is Verdict.ALLOW
    relay = Device("switch.x", "Gate", "switch", aliases=("lamp",))
    assert verdict(app, "turn_on", relay) is Verdict.CONFIRM


def test_a_scene_of_another_hub_is_judged_by_its_name(app: App) -> None:
    assert verdict(app, "activate_scene", Device("scene.x", "Open Garage", "scene")) is Verdict.CONFIRM
    assert verdict(app, "run_script", Device("script.x", "全屋解锁", "script")) is Verdict.CONFIRM
    assert verdict(app, "run_script", Device("script.x", "Nuki", "script")) is Verdict.CONFIRM
    assert verdict(app, "run_script", Device("script.x", "Gas on", "script")) is Verdict.CONFIRM
    assert verdict(app, "activate_scene", Device("scene.x", "Dinner", "scene")) is Verdict.ALLOW


ENTRANCES = [
    "Front Entrance",
    "Front Door",
    "Door",
    "Garage",
    "Garage Relay",
    "GarageDoor",
    "Frontgate",
    "Gate1",
    "Deadbolt",
]
ENTRANCES += [
    "Maglock",
    "Barrier",
    "Garage doors",
    "Garage door light relay",
    "前门开关",
    "房门",
    "入户门",
    "单元门",
    "道闸",
    "电动门",
]


ENTRANCES += ["Garagedoor", "Unlock button", "Unlocker", "Entry", "Shutter", "Roller shutter", "開鎖", "门锁"]
ENTRANCES += [
    "Lift",
    "Dumbwaiter",
    "Mail box",
    "Letterbox",
    "Parcel locker",
    "Nuki",
    "Nuki 3.0 Pro",
    "升降梯",
    "信箱",
    "快递柜",
]
DISGUISED = [
    "dôor",
    "D o o r relay",
    "Frontdoor",
    "dооr",
    "⻔禁",
    "開 門",
    "Haustür",
    "Tor",
    "GA.RA.GE",
    "Dead bolt",
    "ＤＯＯＲ",
]


@pytest.mark.parametrize("kind", ["switch", "light", "fan"])
@pytest.mark.parametrize("name", [*ENTRANCES, *DISGUISED])
def test_whatever_is_called_like_an_entrance_is_asked_about(app: App, kind: str, name: str) -> None:
    assert verdict(app, "turn_on", Device(f"{kind}.x", name, kind)) is Verdict.CONFIRM


@pytest.mark.parametrize(
    "device", [cover("Front Door", "shutter"), cover("Roller doors", "curtain"), cover("入户门", "blind")]
)
def test_a_cover_that_is_called_a_door_is_no_curtain(app: App, device: Device) -> None:
    assert verdict(app, "open_cover", device) is Verdict.CONFIRM


def test_every_name_of_a_lamp_must_be_one(app: App) -> None:
    relay = Device("switch.x", "Light", "switch", aliases=("garage door opener",))
    assert verdict(app, "turn_on", relay) is Verdict.CONFIRM
    assert (
        verdict(app, "turn_on", replace(relay, aliases=("hall lamp", "门厅灯", "Front Door Lights 2"))) is Verdict.ALLOW
    )


@pytest.mark.parametrize(
    "name",
    [
        "Ovens",
        "Space-heaters",
        "Fireplaces",
        "Fire place",
        "Hot plate",
        "Hot plates",
        "Hotplate",
        "Hair straightener",
        "Heat Lamp",
        "电炉",
        "暖风机",
        "Heater",
        "Kettle",
        "Electric kettle",
        "烧水壶",
    ],
)
@pytest.mark.parametrize("kind", ["switch", "fan", "light"])
def test_what_gets_hot_is_asked_about_in_the_plural_too(app: App, kind: str, name: str) -> None:
    assert verdict(app, "turn_on", Device(f"{kind}.x", name, kind)) is Verdict.CONFIRM
    assert verdict(app, "turn_off", Device(f"{kind}.x", name, kind)) is Verdict.ALLOW


@pytest.mark.parametrize(
    "name",
    [
        "Breakers",
        "Fridges",
        "Sirens",
        "CPAP machine",
        "呼吸机",
        "Burglar Alarm",
        "Burglaralarm",
        "Deepfreeze",
        "Fuse 2",
        "防盗器",
    ],
)
@pytest.mark.parametrize("kind", ["switch", "light"])
def test_what_keeps_people_safe_is_not_switched_off_unasked(app: App, kind: str, name: str) -> None:
    assert verdict(app, "turn_off", Device(f"{kind}.x", name, kind)) is Verdict.CONFIRM


@pytest.mark.parametrize(
    "name",
    [
        "Water Heater",
        "Outdoor Plug",
        "Outdoors",
        "Indoor Fan",
        "Aroma Diffuser",
        "Sewing Machine Motor",
        "Zigbee Gateway",
        "Clock",
        "Clock Radio",
        "Doorbell",
        "Garage Light",
        "Coffee Machine",
        "Hallway Fan",
        "热水器",
        "Mailbox Light",
        "Kettle Lamp",
        "邮箱提醒",
    ],
)
def test_harmless_names_that_sound_alike_stay_free(app: App, name: str) -> None:
    assert verdict(app, "turn_on", Device("switch.x", name, "switch")) is Verdict.ALLOW


@pytest.mark.parametrize("kind", ["switch", "light", "fan"])
@pytest.mark.parametrize("name", ["Gaz", "瓦斯", "Erdgas", "G a s", "Gas Main"])
def test_gas_is_asked_about_in_both_directions(app: App, kind: str, name: str) -> None:
    device = Device(f"{kind}.x", name, kind)
    assert (verdict(app, "turn_on", device), verdict(app, "turn_off", device)) == (Verdict.CONFIRM, Verdict.CONFIRM)


def test_the_main_switch_is_not_switched_off_unasked_but_a_lamp_may_be_called_main(app: App) -> None:
    assert verdict(app, "turn_off", Device("switch.x", "Main", "switch")) is Verdict.CONFIRM
    assert verdict(app, "turn_off", Device("light.x", "Kitchen main", "light")) is Verdict.ALLOW
    assert verdict(app, "turn_off", Device("fan.x", "Main bedroom fan", "fan")) is Verdict.ALLOW


@pytest.mark.parametrize(
    "name", ["Front door awning", "Door blind", "Frontdoor blind", "Entry shade", "前门遮阳棚", "门百叶"]
)
def test_a_cover_that_is_called_like_an_entrance_too_needs_a_class_to_be_free(app: App, name: str) -> None:
    assert verdict(app, "open_cover", cover(name)) is Verdict.CONFIRM
    assert verdict(app, "open_cover", cover(name, "blind")) is Verdict.ALLOW


@pytest.mark.parametrize(
    "name", ["Indoor light", "Outdoor lights", "Entryway lamp", "Door light", "门厅灯", "Skylight"]
)
def test_lamps_stay_free_wherever_they_hang(app: App, name: str) -> None:
    device = Device("light.x", name, "light")
    assert (verdict(app, "turn_on", device), verdict(app, "turn_off", device)) == (Verdict.ALLOW, Verdict.ALLOW)
