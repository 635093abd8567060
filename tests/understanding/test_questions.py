"""Questions by their pieces: what they read, and that they never act."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentkit.devices.adapter import Area, Device
from agentkit.types import Kind, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select

Ask = Callable[..., Understanding]
HOME = HomeView(
    devices=(
        Device("light.pantry", "Pantry Lamp", "light", "pantry", state="on"),
        Device("fan.barn", "Barn Fan", "fan", None, state="off"),
        Device("cover.dome", "Dome Shutter", "cover", None, state="open"),
        Device("lock.shed", "Shed Lock", "lock", None, state="locked"),
        Device("binary_sensor.hatch", "Hatch", "binary_sensor", None, state="off", attributes={"device_class": "door"}),
    ),
    areas=(Area("pantry", "Pantry"),),
)


@pytest.mark.parametrize(
    ("text", "device", "args"),
    [
        ("could you find out whether the barn fan is spinning", "fan.barn", {"question": "yes_no", "state": "on"}),
        ("did anyone leave the dome shutter rolled up", "cover.dome", {"question": "yes_no", "state": "open"}),
        ("is the shed lock bolted or unbolted", "lock.shed", {"question": "one"}),
        ("how bright is the pantry lamp", "light.pantry", {"question": "one", "attribute": "brightness"}),
        ("any news on the shed lock", "lock.shed", {"question": "one"}),
    ],
)
def test_a_question_reads_what_it_names(ask: Ask, text: str, device: str, args: dict[str, str]) -> None:
    found = ask(text, HOME)
    assert [i.tool for i in found.intents] == ["get_state"]
    assert [d.id for d in HOME.devices if d.id in found.intents[0].selector.device_ids] == [device]
    assert dict(found.intents[0].args) == args


@pytest.mark.parametrize(
    "text", ["is the barn fan purple inside", "is the weather vane spinning", "how old is the barn fan"]
)
def test_a_question_with_an_unknown_word_is_not_answered(ask: Ask, text: str) -> None:
    assert not ask(text, HOME).intents


def test_a_name_that_ends_like_a_verb_is_no_command(ask: Ask) -> None:
    assert ask("shed lock", HOME).kind is not Kind.CALLS


def asked_of(found: Understanding, view: HomeView | None = None) -> set[str]:
    if view is not None:
        return {d.id for intent in found.intents for d in select(intent.selector, view)}
    return {i for intent in found.intents for i in intent.selector.device_ids}


def test_a_word_for_any_longer_is_no_state_beside_one(ask: Ask) -> None:
    found = ask("is anything still on in the pantry", HOME)
    assert (asked_of(found), found.intents[0].args["state"]) == ({"light.pantry"}, "on")


def test_what_can_be_open_is_asked_of_every_kind(ask: Ask) -> None:
    found = ask("is anything open", HOME)
    assert asked_of(found) == {"cover.dome", "lock.shed", "binary_sensor.hatch"}
    assert found.intents[0].args == {"question": "any", "state": "open"}


def test_nothing_but_what_can_be_switched_is_asked_whether_it_is_on(ask: Ask) -> None:
    assert asked_of(ask("is anything on", HOME)) == {"light.pantry", "fan.barn"}


def test_who_is_there_is_never_asked_of_a_device_that_cannot_tell(ask: Ask) -> None:
    found = ask("is anybody at home", HOME)
    assert (asked_of(found), found.intents[0].selector.types) == (set(), ("person",))


def device(device_id: str, name: str, area: str, state: str, device_class: str | None = None, zh: str = "") -> Device:
    attributes = {} if device_class is None else {"device_class": device_class}
    return Device(device_id, name, device_id.partition(".")[0], area, (zh,) if zh else (), state, attributes)


FARM = HomeView(
    devices=(
        device("lock.cottage", "Cottage Lock", "porch", "locked", zh="小屋门"),
        device("lock.cellar", "Cellar Hatch", "cellar", "unlocked", zh="地窖门"),
        device("cover.carport", "Roller", "garage", "open", "garage", "卷帘"),
        device("valve.tank", "Tank Valve", "garage", "open", zh="水箱阀"),
        device("light.garage", "Garage Lamp", "garage", "off", zh="车库壁灯"),
        device("binary_sensor.pane", "Pane", "cellar", "off", "window", "玻璃"),
        device("binary_sensor.steps", "Steps Sensor", "cellar", "on", "motion", "台阶感应"),
        device("binary_sensor.drip", "Drip Sensor", "garage", "off", "moisture", "滴水感应"),
        device("light.porch", "Porch Light", "porch", "off", zh="门廊灯"),
        device("light.lantern", "Lantern", "porch", "on", zh="灯笼"),
        device("fan.porch", "Porch Fan", "porch", "on", zh="门廊风扇"),
        device("media_player.cellar", "Jukebox", "cellar", "playing", zh="点唱机"),
        device("media_player.porch", "Gramophone", "porch", "idle", zh="留声机"),
        device("switch.siren", "Intruder Alarm", "porch", "on", "alarm", "防贼警报器"),
    ),
    areas=(
        Area("porch", "Porch", ("门廊",)),
        Area("cellar", "Cellar", ("地窖",)),
        Area("garage", "Garage", ("车库",)),
    ),
    speaker_area="porch",
)
DOORS = {"lock.cottage", "lock.cellar", "cover.carport"}


@pytest.mark.parametrize(
    ("text", "ids", "args"),
    [
        ("are the doors shut", DOORS, {"question": "yes_no", "state": "closed"}),
        ("is any door ajar", DOORS, {"question": "any", "state": "open"}),
        ("门都关好了吗", DOORS, {"question": "all", "state": "closed"}),
        ("哪扇门开着", DOORS, {"question": "which", "state": "open"}),
        ("门窗都关上了没有", {*DOORS, "binary_sensor.pane"}, {"question": "all", "state": "closed"}),
        ("are the windows and doors shut", {*DOORS, "binary_sensor.pane"}, {"question": "yes_no", "state": "closed"}),
        ("are the doors bolted", DOORS - {"cover.carport"}, {"question": "yes_no", "state": "locked"}),
    ],
)  # fmt: skip
def test_whatever_opens_is_a_door_where_it_is_asked_whether_doors_are_open(
    ask: Ask, text: str, ids: set[str], args: dict[str, str]
) -> None:
    found = ask(text, FARM)
    assert (asked_of(found), dict(found.intents[0].args)) == (ids, args)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("is the garage shut", "closed"),
        ("did anyone leave the garage open", "open"),
        ("车库开着没有", "open"),
        ("车库关好了吗", "closed"),
        ("is the garage locked up", "locked"),
        ("车库锁了吗", "locked"),
    ],
)
def test_the_garage_is_its_door(ask: Ask, text: str, state: str) -> None:
    found = ask(text, FARM)
    assert (asked_of(found), found.intents[0].args["state"]) == ({"cover.carport"}, state)


def test_what_is_on_in_the_garage_is_not_asked_of_its_door(ask: Ask) -> None:
    assert asked_of(ask("车库里有哪些东西开着", FARM)) >= {"light.garage"}
    assert asked_of(ask("is anything open in the garage", FARM)) == {"cover.carport", "valve.tank"}


@pytest.mark.parametrize("text", ["is the door bolted", "are the doors locked", "门锁好了吗", "is the house locked"])
def test_whether_the_home_is_locked_is_not_asked_of_the_speakers_room_alone(ask: Ask, text: str) -> None:
    assert asked_of(ask(text, FARM)) >= {"lock.cottage", "lock.cellar"}


@pytest.mark.parametrize("text", ["is the house secure", "家里安全吗"])
def test_a_home_is_safe_by_its_locks_doors_and_windows(ask: Ask, text: str) -> None:
    assert asked_of(ask(text, FARM)) == {*DOORS, "binary_sensor.pane"}


@pytest.mark.parametrize("text", ["is music playing", "在放音乐吗"])
def test_music_is_heard_wherever_it_plays(ask: Ask, text: str) -> None:
    assert asked_of(ask(text, FARM)) == {"media_player.cellar", "media_player.porch"}


@pytest.mark.parametrize("text", ["漏水了吗", "有没有漏水"])
def test_a_leak_is_asked_of_the_whole_home(ask: Ask, text: str) -> None:
    assert asked_of(ask(text, FARM)) == {"binary_sensor.drip"}


@pytest.mark.parametrize("text", ["什么东西开着", "有没有什么没关"])
def test_what_is_on_is_asked_of_the_whole_home(ask: Ask, text: str) -> None:
    assert asked_of(ask(text, FARM)) >= {"light.lantern", "light.garage"}


@pytest.mark.parametrize("text", ["is anybody in the cellar", "地窖里有人吗"])
def test_where_only_motion_is_sensed_that_is_told(ask: Ask, text: str) -> None:
    found = ask(text, FARM)
    assert (asked_of(found), dict(found.intents[0].args)) == ({"binary_sensor.steps"}, {"question": "one"})


@pytest.mark.parametrize("text", ["are the porch lights off", "门廊的灯都关了吗"])
def test_lights_in_the_plural_are_more_than_the_one_of_that_name(ask: Ask, text: str) -> None:
    assert asked_of(ask(text, FARM), FARM) == {"light.porch", "light.lantern"}


def test_a_kind_in_the_plural_is_asked_of_the_whole_home(ask: Ask) -> None:
    assert asked_of(ask("did anyone leave the lights on", FARM)) == {"light.garage", "light.porch", "light.lantern"}


def test_a_light_in_the_singular_is_the_one_of_that_name(ask: Ask) -> None:
    assert asked_of(ask("is the porch light off", FARM), FARM) == {"light.porch"}


def test_kinds_side_by_side_are_asked_together(ask: Ask) -> None:
    found = ask("are the lights and fans off on the porch", FARM)
    assert asked_of(found) == {"light.porch", "light.lantern", "fan.porch"}
    assert found.intents[0].args["state"] == "off"


@pytest.mark.parametrize("text", ["is the alarm on", "is the alarm set", "is the alarm armed", "is the alarm off"])
def test_an_alarm_that_is_a_device_is_asked_for_its_state(ask: Ask, text: str) -> None:
    found = ask(text, FARM)
    assert (asked_of(found), found.needs_confirmation) == ({"switch.siren"}, False)


@pytest.mark.parametrize(
    "text", ["are there any alarms", "what alarms are set", "when does my alarm go off", "is the alarm on"]
)
def test_alarms_wake_where_no_device_is_called_so(ask: Ask, text: str) -> None:
    view = FARM if "is the" not in text else HOME
    assert [i.tool for i in ask(text, view).intents] == ["alarm_status"]


SHED = HomeView(
    devices=(
        *FARM.devices,
        device("binary_sensor.ramp", "Doors", "porch", "off", "door", "门"),
        device("cover.hatch", "Window", "porch", "closed", "window", "窗户"),
    ),
    areas=FARM.areas,
    speaker_area="porch",
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("are the doors shut", {*DOORS, "binary_sensor.ramp"}),
        ("门关好了吗", {*DOORS, "binary_sensor.ramp"}),
        ("are the doors locked", {"lock.cottage", "lock.cellar"}),
        ("门锁好了吗", {"lock.cottage", "lock.cellar"}),
        ("is the window shut", {"cover.hatch", "binary_sensor.pane"}),
        ("窗户关好了吗", {"cover.hatch", "binary_sensor.pane"}),
    ],
)
def test_a_device_that_is_called_door_is_not_the_only_door(ask: Ask, text: str, ids: set[str]) -> None:
    assert asked_of(ask(text, SHED), SHED) == ids
