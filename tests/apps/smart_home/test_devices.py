"""Switches, fans, covers, valves, locks, players, robots, scenes."""

from __future__ import annotations

import pytest

from agentkit.config import App
from agentkit.devices.adapter import Change, Device
from tests.apps.smart_home.conftest import Run


def make(kind: str, state: str | None = None, endpoint: str | None = None, **attributes: object) -> Device:
    return Device(f"{kind}.x", "Thing", kind, state=state, attributes=attributes, endpoint=endpoint)


@pytest.mark.parametrize(
    ("device", "on", "off"),
    [
        (make("switch", "off"), Change("on"), Change("off")),
        (make("light", "off", brightness=0), Change("on", {"brightness": 255}), Change("off")),
        (make("light", "off", brightness=40), Change("on"), Change("off")),
        (make("fan", "off"), Change("on", {"percentage": 100}), Change("off", {"percentage": 0})),
        (make("fan", "off", endpoint="http://10.0.0.1/"), Change("on"), Change("off")),
        (make("fan", "on", percentage=30), Change("on"), Change("off", {"percentage": 0})),
        (make("media_player", "playing"), Change("playing"), Change("off")),
        (make("media_player", "off"), Change("on"), Change("off")),
    ],
)
def test_on_and_off(change: Run, device: Device, on: Change, off: Change) -> None:
    assert change("turn_on", device) == on
    assert change("turn_off", device) == off


@pytest.mark.parametrize(
    ("device", "state"),
    [(make("switch", "on"), "off"), (make("switch", "off"), "on"), (make("climate", "heat"), "off"),
     (make("media_player", "standby"), "on"), (make("light"), "on")],
)  # fmt: skip
def test_toggle_does_the_opposite_of_what_is(change: Run, device: Device, state: str) -> None:
    assert change("toggle", device).state == state


@pytest.mark.parametrize(
    ("state", "percentage", "step", "expected"),
    [("on", 40, 20, 60), ("on", 90, 20, 100), ("on", 20, -50, 10), ("off", 0, 30, 30), ("on", None, 10, 60)],
)
def test_a_fan_step_starts_from_the_current_speed_and_never_stops_it(
    change: Run, state: str, percentage: int | None, step: int, expected: int
) -> None:
    fan = make("fan", state, **({} if percentage is None else {"percentage": percentage}))
    assert change("adjust_fan_speed", fan, step=step) == Change("on", {"percentage": expected})


def test_fan_speed_zero_is_off(change: Run) -> None:
    assert change("set_fan_speed", make("fan", "on"), percentage=0) == Change("off", {"percentage": 0})


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("set_fan_speed", {"percentage": 50}),
        ("adjust_fan_speed", {"step": 5}),
        ("set_fan_oscillation", {"oscillation": "on"}),
    ],
)
def test_a_fan_that_lists_other_features_refuses(refusal: Run, tool: str, args: dict[str, object]) -> None:
    assert (
        refusal(tool, make("fan", "on", supported_features=["fan.FanEntityFeature.TURN_ON"]), **args)[0]
        == "unsupported"
    )


def test_features_are_read_in_any_spelling(change: Run) -> None:
    fan = make("fan", "on", supported_features=["fan.FanEntityFeature.OSCILLATE"])
    assert change("set_fan_oscillation", fan, oscillation="on") == Change(None, {"oscillating": True})


@pytest.mark.parametrize("kind", ["cover", "valve"])
def test_opening_and_closing_move_the_position_too(change: Run, kind: str) -> None:
    device = make(kind, "closed", current_position=0)
    assert change(f"open_{kind}", device) == Change("open", {"current_position": 100})
    assert change(f"close_{kind}", device) == Change("closed", {"current_position": 0})
    assert change(f"set_{kind}_position", device, position=30) == Change("open", {"current_position": 30})
    assert change(f"set_{kind}_position", device, position=0) == Change("closed", {"current_position": 0})


def test_a_door_with_two_ends_has_no_position_but_opens_and_closes(change: Run, refusal: Run) -> None:
    door = make("cover", "closed", supported_features=["open", "close"], device_class="garage")
    assert change("open_cover", door) == Change("open")
    assert change("set_cover_position", door, position=100) == Change("open")
    assert refusal("set_cover_position", door, position=30)[0] == "unsupported"
    assert refusal("stop_cover", door)[0] == "unsupported"


def test_a_cover_position_outside_of_percent_is_refused(refusal: Run) -> None:
    assert refusal("set_cover_position", make("cover", "open"), position=101)[0] == "out_of_range"


@pytest.mark.parametrize(("state", "stopped"), [("opening", "open"), ("closing", "open"), ("closed", "closed")])
def test_a_stopped_cover_is_open_unless_it_was_closed(change: Run, state: str, stopped: str) -> None:
    assert change("stop_cover", make("cover", state)) == Change(stopped)


def test_locks_lock_and_unlock_unless_they_are_jammed(change: Run, refusal: Run) -> None:
    assert change("lock", make("lock", "unlocked")) == Change("locked")
    assert change("unlock", make("lock", "locked")) == Change("unlocked")
    assert refusal("lock", make("lock", "jammed"))[0] == "jammed"


@pytest.mark.parametrize(
    ("level", "step", "expected"), [(0.4, 10, 0.5), (0.95, 10, 1.0), (0.05, -10, 0.0), (None, -10, 0.4)]
)
def test_a_volume_step_starts_from_the_current_volume(
    change: Run, level: float | None, step: int, expected: float
) -> None:
    player = make("media_player", "playing", **({} if level is None else {"volume_level": level}))
    assert change("adjust_volume", player, step=step).attributes == {"volume_level": expected}


def test_a_volume_ends_the_muting(change: Run) -> None:
    player = make("media_player", "playing", volume_level=0.2, is_volume_muted=True)
    assert change("set_volume", player, volume=30).attributes == {"volume_level": 0.3, "is_volume_muted": False}
    assert change("set_volume", player, volume=0).attributes == {"volume_level": 0.0}


def test_a_player_without_volume_refuses_it(refusal: Run) -> None:
    assert refusal("set_volume", make("media_player", supported_features=["play"]), volume=3)[0] == "unsupported"


@pytest.mark.parametrize(
    ("track", "tool", "expected"), [(1, "media_next", 2), (3, "media_previous", 2), (1, "media_previous", 1)]
)
def test_skipping_counts_tracks(change: Run, track: int, tool: str, expected: int) -> None:
    assert change(tool, make("media_player", "playing", media_track=track)).attributes == {"media_track": expected}


def test_a_title_is_read_back_only_where_it_is_known(change: Run, refusal: Run) -> None:
    assert change("media_search_play", make("media_player"), query=" some  jazz ") == Change(
        "playing", {"media_title": "some jazz"}
    )
    assert change("media_search_play", make("media_player", endpoint="http://10.0.0.1/"), query="x") == Change(
        "playing"
    )
    assert refusal("media_search_play", make("media_player"), query="  ")[0] == "empty_query"


@pytest.mark.parametrize(
    ("tool", "kind", "state", "expected"),
    [
        ("vacuum_start", "vacuum", "docked", "cleaning"),
        ("vacuum_return", "vacuum", "cleaning", "returning"),
        ("vacuum_return", "vacuum", "docked", "docked"),
        ("vacuum_pause", "vacuum", "cleaning", "paused"),
        ("mower_start", "lawn_mower", "docked", "mowing"),
        ("mower_dock", "lawn_mower", "mowing", "returning"),
    ],
)
def test_robots(change: Run, tool: str, kind: str, state: str, expected: str) -> None:
    assert change(tool, make(kind, state)) == Change(expected)


def test_a_scene_becomes_one_change_per_device(app: App) -> None:
    scene = make("scene", sets={"light.a": {"state": "on", "attributes": {"brightness": 9}}, "switch.b": "off"})
    decision = app.tools["activate_scene"].function(scene)
    assert decision.changes == {"light.a": Change("on", {"brightness": 9}), "switch.b": Change("off")}


@pytest.mark.parametrize(
    "sets",
    [
        [1, 2],
        "light.a",
        {},
        {"light.a": [1]},
        {"light.a": {}},
        {"light.a": None},
        {"a": {"state": "on", "attributes": [1]}},
    ],
)
def test_a_scene_that_does_not_say_what_it_sets_is_refused_whole(refusal: Run, sets: object) -> None:
    assert refusal("activate_scene", make("scene", sets=sets))[0] == "bad_scene"


def test_a_scene_does_not_start_another_one(refusal: Run) -> None:
    assert refusal("run_script", make("script", sets={"light.a": "on", "scene.b": "on"}))[0] == "nested_scene"


def test_a_scene_may_say_on_and_off_as_yaml_reads_them(app: App) -> None:
    decision = app.tools["activate_scene"].function(make("scene", sets={"light.a": True, "light.b": {"state": False}}))
    assert decision.changes == {"light.a": Change("on"), "light.b": Change("off")}


def test_a_scene_of_another_hub_is_passed_on(change: Run) -> None:
    assert change("activate_scene", make("scene", endpoint="http://10.0.0.1/")) == Change()


@pytest.mark.parametrize("state", ["off", "idle", "standby"])
def test_what_plays_nothing_is_not_said_to_be_paused(state: str, refusal: Run) -> None:
    player = Device("media_player.tv", "TV", "media_player", state=state)
    assert refusal("media_pause", player)[0] == "not_playing"
