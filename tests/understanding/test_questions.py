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
