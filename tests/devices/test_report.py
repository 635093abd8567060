from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentkit.devices.adapter import Change
from agentkit.devices.registry import Registry
from agentkit.errors import DeviceError
from tests.devices.home import LAMP, make_home
from tests.devices.test_plain import Odd, nested


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ({"state": "\ud800"}, r"state: the control character U\+D800"),
        ({"state": "on\x1b[2J"}, r"U\+001B"),
        ({"state": "two\nlines"}, r"U\+000A"),
        ({"state": 5}, "state: int, wanted text"),
        ({"attributes": {"\ud800": 1}}, r"attributes: the control character U\+D800"),
        ({"attributes": {"x": {"y": "\udfff"}}}, r"U\+DFFF"),
        ({"attributes": {"x": nested(300)}}, "nested deeper"),
        ({"attributes": {"x": 10**5000}}, "64 bits"),
        ({"attributes": {"x": float("-inf")}}, "not finite"),
        ({"attributes": {"x": [1] * 5_000}}, "more than 4000"),
        ({"attributes": {f"k{n}": "x" * 100 for n in range(200)}}, "at most 16384"),
        ({"attributes": {"x": object()}}, "a object, wanted plain JSON"),
    ],
)
def test_a_report_that_could_not_be_saved_or_shown_is_refused_and_changes_nothing(
    report: dict[str, Any], message: str
) -> None:
    registry = Registry(make_home())
    with pytest.raises(DeviceError, match=message):
        registry.report("light.lamp", **report)
    with pytest.raises(DeviceError, match=message):
        registry.upsert(replace(LAMP, **report))
    assert registry.get("light.lamp") == LAMP


def test_a_state_that_cannot_be_shown_is_kept_as_the_text_that_it_holds() -> None:
    registry = Registry(make_home())
    registry.report("light.lamp", state=Odd("on"), attributes={"effect": Odd("glow")})
    lamp = registry.get("light.lamp")
    assert (type(lamp.state), f"{lamp.state} {lamp.attributes}") == (str, "on {'brightness': 100, 'effect': 'glow'}")


@pytest.mark.parametrize(
    ("state", "attributes", "message"),
    [
        (5, {}, "state: int, wanted text"),
        ("\ud800", {}, r"state: the control character U\+D800"),
        ("on", None, "attributes: NoneType, wanted a mapping"),
        ("on", [1], "attributes: list, wanted a mapping"),
        ("on", {"x": object()}, "attributes: a object, wanted plain JSON"),
        ("on", {"x": nested(500)}, "attributes: nested deeper"),
    ],
)
def test_a_tool_cannot_make_a_change_that_no_device_could_have(state: Any, attributes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Change(state, attributes)


def test_a_change_holds_plain_text_whatever_a_tool_gave_it() -> None:
    change = Change(Odd("on"), {Odd("effect"): Odd("glow")})
    assert f"{change}" == "Change(state='on', attributes={'effect': 'glow'})"


def test_nobody_changes_a_device_but_by_reporting() -> None:
    registry, given = Registry(make_home()), {"list": [1]}
    registry.report("light.lamp", attributes=given)
    given["list"].append(2)
    for lamp in (registry.get("light.lamp"), registry.devices()[0]):
        with pytest.raises(TypeError, match="return a Change"):
            lamp.attributes["brightness"] = 1  # type: ignore[index]
        with pytest.raises(TypeError, match="return a Change"):
            lamp.attributes["list"].append(3)
    assert registry.get("light.lamp").attributes == {"brightness": 100, "list": [1]}


def test_the_home_file_itself_is_no_way_to_change_a_device() -> None:
    attributes: dict[str, Any] = {}
    registry = Registry(make_home(replace(LAMP, attributes=attributes)))
    attributes["odd"] = 1
    assert registry.get("light.lamp").attributes == {}
