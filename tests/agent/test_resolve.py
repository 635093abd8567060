from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.agent.question import Question
from agentkit.agent.resolve import Refusal, Resolution, Resolved, resolve
from agentkit.devices.adapter import Device
from agentkit.types import Intent, Selector
from agentkit.understanding.tools import Tool
from tests.agent.house import TOOLS, house_view


def find(tool: str, *extra: Device, area: str | None = None, **selector: object) -> Resolution:
    intent = Intent(tool, {}, Selector(**selector))  # type: ignore[arg-type]
    return resolve(intent, house_view(*extra), TOOLS[tool], area)


def ids(tool: str, *extra: Device, area: str | None = None, **selector: object) -> tuple[str, ...]:
    found = find(tool, *extra, area=area, **selector)
    assert isinstance(found, Resolved), found
    return found.device_ids


def test_a_name_is_compared_whole_and_its_digits_exactly():
    assert ids("turn_on", names=("lamp 1",)) == ("light.lamp_1",)
    assert ids("turn_on", names=("灯11",)) == ("light.lamp_11",)
    assert find("turn_on", names=("lamp",)) == Refusal("refused.unknown_device", {"name": "lamp"})


def test_full_width_and_case_do_not_matter_in_a_name():
    assert ids("turn_on", names=("ＬＡＭＰ　1",)) == ("light.lamp_1",)


def test_the_verb_decides_between_two_devices_of_one_name():
    assert ids("open_cover", names=("Window",)) == ("cover.window",)
    assert ids("turn_on", names=("Window",)) == ("light.window",)


def test_one_name_in_two_rooms_is_asked_about_by_room():
    found = find("turn_on", names=("ceiling",))
    assert isinstance(found, Question)
    assert found.reply_key == "ask.which_area"
    assert [o.device_ids for o in found.options] == [("light.kitchen_ceiling",), ("light.bedroom_ceiling",)]
    assert found.values["options"] == ("kitchen", "bedroom")
    assert "卧室" in found.options[1].words


def test_one_name_in_two_rooms_is_decided_by_the_speakers_room():
    assert ids("turn_on", area="bedroom", names=("ceiling",)) == ("light.bedroom_ceiling",)


def test_a_speaker_in_a_third_room_is_still_asked():
    assert isinstance(find("turn_on", area="garage", names=("ceiling",)), Question)


def test_the_room_that_was_said_beats_the_speakers_room():
    assert ids("turn_on", area="bedroom", names=("ceiling",), areas=("kitchen",)) == ("light.kitchen_ceiling",)


def test_one_name_in_two_rooms_that_were_both_said_means_both():
    found = ids("turn_on", names=("ceiling",), areas=("kitchen", "bedroom"))
    assert found == ("light.kitchen_ceiling", "light.bedroom_ceiling")


def test_two_devices_of_one_name_in_one_room_are_told_apart_by_id():
    twin = Device("light.ceiling_2", "Ceiling", "light", "kitchen")
    found = find("turn_on", twin, area="kitchen", names=("ceiling",))
    assert isinstance(found, Question)
    assert [o.label for o in found.options] == ["Ceiling (light.kitchen_ceiling)", "Ceiling (light.ceiling_2)"]


def test_what_is_clear_beside_an_unclear_name_is_kept_with_the_question():
    other = Device("light.other_reading", "Reading Lamp", "light", "office")
    found = find("turn_on", other, names=("Lamp 1", "Ceiling", "Reading Lamp"))
    assert isinstance(found, Question)
    assert found.settled_ids == ("light.lamp_1",)
    assert found.open_names == ("Reading Lamp",)


def test_a_device_without_a_room_is_found_by_name_wherever_the_speaker_is():
    assert ids("turn_on", area="kitchen", names=("lantern",)) == ("light.floating",)
    assert ids("turn_on", names=("lantern",), areas=("kitchen",)) == ("light.floating",)


def test_a_name_that_stands_in_another_room_is_refused_naming_both():
    found = find("turn_on", names=("Lamp 1",), areas=("kitchen",))
    assert found == Refusal("refused.unknown_device", {"name": "Lamp 1", "area": ("kitchen",)})


def test_a_named_device_that_cannot_do_it_is_refused_by_name():
    found = find("turn_on", names=("Front Door",))
    assert found == Refusal("refused.unsupported", {"devices": ("lock.front",), "tool": "turn_on"})
    assert isinstance(find("turn_on", device_ids=("lock.front",)), Refusal)


def test_an_id_wins_over_everything_else():
    assert ids("turn_on", names=("Lantern",), areas=("office",), device_ids=("light.lamp_1",)) == ("light.lamp_1",)
    assert find("turn_on", device_ids=("light.gone",)) == Refusal("refused.unknown_device", {"name": "light.gone"})


@pytest.mark.parametrize("place", [{"areas": ("attic",)}, {"floors": ("attic",)}])
def test_an_unknown_place_is_refused_by_its_name(place):
    assert find("turn_on", types=("light",), **place) == Refusal("refused.unknown_area", {"name": "attic"})


def test_a_kind_means_the_speakers_room():
    assert ids("turn_on", area="bedroom", types=("light",)) == ("light.bedroom_ceiling", "light.bedroom_reading")


def test_a_kind_in_a_room_or_on_a_floor_means_all_of_it():
    assert ids("turn_on", areas=("office",), types=("light",)) == ("light.lamp_1", "light.lamp_11")
    assert len(ids("turn_on", floors=("upper",), types=("light",))) == 4
    assert ids("turn_on", floors=("ground",), areas=("kitchen",), types=("light",)) == (
        "light.kitchen_ceiling",
        "light.window",
    )


def test_a_room_has_one_sound_so_what_plays_there_is_meant() -> None:
    speaker = Device("media_player.speaker", "Speaker", "media_player", "office", state="idle")
    tv = Device("media_player.screen", "Screen", "media_player", "office", state="playing")
    tool = replace(TOOLS["turn_on"], types=("media_player",), prefers=lambda d: int(d.state == "playing"))
    intent = Intent("louder", {}, Selector(types=("media_player",), areas=("office",)))

    def reached(tool: Tool) -> tuple[str, ...]:
        found = resolve(intent, house_view(speaker, tv), tool)
        return found.device_ids if isinstance(found, Resolved) else ()

    assert reached(replace(tool, is_one_per_room=True)) == ("media_player.screen",)
    assert reached(tool) == ("media_player.speaker", "media_player.screen")


def test_all_of_a_kind_means_the_whole_home_and_no_other_kind():
    found = ids("open_cover", area="kitchen", types=("cover",), is_all=True)
    assert found == ("cover.window", "cover.garage")


def test_the_only_device_of_a_kind_needs_no_room():
    assert ids("vacuum_start") == ("vacuum.robo",)
    assert ids("set_temperature", area="garage") == ("climate.home",)


def test_several_of_a_kind_without_a_room_are_asked_about():
    found = find("open_cover", types=("cover",))
    assert isinstance(found, Question)
    assert found.reply_key == "ask.which"
    assert found.values["options"] == ("cover.window", "cover.garage")


def test_a_verb_alone_never_means_everything():
    assert isinstance(find("turn_on", area="garage"), Question)
    both = Device("switch.kettle", "Kettle", "switch", "kitchen")
    assert isinstance(find("turn_on", both, areas=("kitchen",)), Question)


def test_a_device_class_narrows_a_kind():
    assert ids("open_cover", types=("cover",), device_class="garage") == ("cover.garage",)


def test_a_kind_that_the_verb_does_not_fit_is_refused():
    found = find("open_cover", types=("light",), areas=("kitchen",))
    assert found == Refusal("refused.unsupported", {"kind": "light", "tool": "open_cover"})


def test_a_kind_that_the_room_lacks_is_refused_naming_the_room():
    found = find("set_temperature", areas=("kitchen",))
    assert isinstance(found, Refusal)
    assert found.reply_key == "refused.nothing"
    assert found.values["area"] == ("kitchen",)


def test_a_question_takes_all_devices_in_one_step():
    found = find("get_state", types=("cover",))
    assert isinstance(found, Resolved)
    assert [step.device_ids for step in found.steps] == [("cover.window", "cover.garage")]
    assert found.actions[0].device_id is None


def test_a_tool_of_the_home_needs_no_device():
    found = find("get_time")
    assert isinstance(found, Resolved)
    assert found.device_ids == ()
    assert len(found.steps) == 1


def test_an_offline_device_is_still_meant():
    assert ids("turn_on", names=("Plug",)) == ("switch.plug",)


def test_of_several_so_called_the_one_in_the_room_of_the_name_is_meant():
    pair = (
        Device("light.small", "Office Light", "light", "master"),
        Device("light.own", "Office Light", "light", "office"),
    )
    assert ids("turn_on", *pair, names=("office light",)) == ("light.own",)
    assert ids("turn_on", *pair, area="master", names=("office light",)) == ("light.small",)


def test_where_one_device_is_wanted_several_are_asked_about():
    found = find("turn_on", types=("light",), areas=("bedroom",), is_one=True)
    assert isinstance(found, Question)
    assert [o.device_ids for o in found.options] == [("light.bedroom_ceiling",), ("light.bedroom_reading",)]
    assert isinstance(find("turn_on", area="bedroom", types=("light",), is_one=True), Question)
    assert isinstance(find("turn_on", device_ids=("light.lamp_1", "light.lamp_11"), is_one=True), Question)
    assert ids("turn_on", types=("light",), areas=("kitchen",), device_class=None, names=("ceiling",), is_one=True)
