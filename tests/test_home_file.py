from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.errors import ConfigError
from agentkit.home_file import load_home, load_homes
from tests.support.shared import shared_dir

GOOD = """\
id: h1
language: zh
speaker_area: den
floors:
  - {id: ground, name: Ground, aliases: [一楼]}
areas:
  - {id: den, name: Den, aliases: [书房], floor: ground}
devices:
  - id: light.a
    name: Lamp
    aliases: [台灯]
    type: light
    area: den
    state: on
    attributes: {brightness: 10, device_class: switch.SwitchDeviceClass.OUTLET, gone: null}
  - {id: light.b, name: Lamp, type: light, available: false}
  - {id: cover.c, name: 3, type: cover, state: false, device: thing}
  - {id: sensor.d, name: Temp, type: sensor, state: 20.5}
  - {id: binary_sensor.e, name: Motion, type: binary_sensor, state: {in: clear, out: off}}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "home.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_home_is_read_with_floors_areas_and_devices(tmp_path: Path) -> None:
    home = load_home(write(tmp_path, GOOD))
    assert (home.id, home.language, home.speaker_area) == ("h1", "zh", "den")
    assert home.floors[0].names == ("Ground", "一楼")
    assert (home.areas[0].names, home.areas[0].floor) == (("Den", "书房"), "ground")
    lamp = home.devices[0]
    assert (lamp.names, lamp.area, lamp.state) == (("Lamp", "台灯"), "den", "on")
    assert lamp.attributes == {"brightness": 10, "device_class": "outlet"}


def test_states_of_all_spellings_become_the_words_of_the_device(tmp_path: Path) -> None:
    states = {d.id: d.state for d in load_home(write(tmp_path, GOOD)).devices}
    assert states == {
        "light.a": "on",
        "light.b": None,
        "cover.c": "closed",
        "sensor.d": "20.5",
        "binary_sensor.e": "off",
    }


def test_two_devices_of_one_name_and_devices_without_area_are_a_fact_of_life(tmp_path: Path) -> None:
    lamps = [d for d in load_home(write(tmp_path, GOOD)).devices if d.name == "Lamp"]
    assert [d.area for d in lamps] == ["den", None]
    assert [d.is_available for d in lamps] == [True, False]


def test_several_homes_in_one_file_are_read_by_id(tmp_path: Path) -> None:
    text = "homes:\n- {id: a}\n- {id: b, areas: [{id: x, name: X, floor: Ground}], timers: [], media: []}\n"
    homes = load_homes(write(tmp_path, text))
    assert list(homes) == ["a", "b"]
    assert [(f.id, f.name) for f in homes["b"].floors] == [("Ground", "Ground")]
    with pytest.raises(ConfigError, match="2 homes, wanted exactly one"):
        load_home(write(tmp_path, text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("area: den\n    state", "area: dem\n    state", r"home\.yaml:13: area 'dem' is no area.*known are den"),
        ("id: light.b", "id: light.a", r"home\.yaml:16: device 'light\.a' is listed twice, first on line 9"),
        ("available: false", "avaliable: false", r"home\.yaml:16: unknown key 'avaliable'.*did you mean 'available'"),
        ("available: false", "available: maybe", r"home\.yaml:16: available is 'maybe', wanted"),
        ("speaker_area: den", "speaker_area: attic", r"home\.yaml:3: speaker_area 'attic'"),
        ("floor: ground}", "floor: grund}", r"home\.yaml:7: floor 'grund' is no floor.*did you mean 'ground'"),
        ("type: light\n", "type: 3\n", r"home\.yaml:12: type is 3, wanted text"),
        ("type: light\n", "type: Light Bulb\n", r"home\.yaml:9: device light\.a: type is 'Light Bulb'"),
        ("id: sensor.d", "id: sensor/d", r"home\.yaml:18: device id 'sensor/d'"),
        ("name: Temp", "name: ''", r"home\.yaml:18: name is '', wanted 1 to 100"),
        ("state: 20.5", "state: [1]", r"home\.yaml:18: state is a list"),
        ("aliases: [台灯]", "aliases: 台灯", r"home\.yaml:11: aliases is '台灯', wanted a list"),
        ("aliases: [台灯]", "aliases: [' ']", r"home\.yaml:11: alias ' ' is empty"),
        ("id: h1\n", "", r"missing key 'id'"),
        ("areas:", "areas: [", r"home\.yaml:\d+: broken YAML"),
        ("attributes: {brightness: 10", "attributes: {brightness: .nan", None),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, old: str, new: str, message: str | None) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    if message is None:
        assert load_home(path).devices[0].attributes["brightness"] == ".nan"  # a word, never a number that is none
        return
    with pytest.raises(ConfigError, match=message) as caught:
        load_home(path)
    assert "\n" not in str(caught.value)


def test_an_area_that_is_listed_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "id: h\nareas:\n- {id: a, name: A}\n- {id: a, name: B}\n")
    with pytest.raises(ConfigError, match=r"home\.yaml:4: area 'a' is listed twice"):
        load_homes(path)


def test_a_home_that_is_listed_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"home\.yaml:3: home 'a' is listed twice"):
        load_homes(write(tmp_path, "homes:\n- {id: a}\n- {id: a}\n"))


@pytest.mark.shared
def test_every_home_of_the_evaluation_data_can_be_read() -> None:
    shared = shared_dir()
    files = [*sorted((shared / "data" / "homes").glob("*.yaml")), shared / "eval" / "homes" / "generic.yaml"]
    assert len(files) > 1, f"{shared}/data/homes holds no homes; the evaluation data belongs beside the checkout"
    homes = [home for path in files for home in load_homes(path).values()]
    assert len(homes) > 500
    assert all(d.state is None or isinstance(d.state, str) for home in homes for d in home.devices)
