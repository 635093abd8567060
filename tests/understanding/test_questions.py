"""Questions by their pieces: what they read, and that they never act."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentkit.devices.adapter import Area, Device
from agentkit.types import Kind, Understanding
from agentkit.understanding.home_view import HomeView

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


def asked_of(found: Understanding) -> set[str]:
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
