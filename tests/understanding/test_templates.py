from __future__ import annotations

import statistics
import time
from pathlib import Path

import pytest

from agentkit.config import App
from agentkit.devices.adapter import Area, Device
from agentkit.errors import ConfigError
from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import normalise
from agentkit.understanding.template_map import TemplateMap, load_templates, read_templates
from agentkit.understanding.templates import TemplateTier
from agentkit.understanding.words import Words

from .conftest import Ask

AREAS = (Area("kitchen", "Kitchen"), Area("rec", "Rec Room"), Area("office", "Office"))


def home(*devices: Device) -> HomeView:
    return HomeView(devices, AREAS, speaker_area="rec")


def test_a_name_that_a_light_and_a_cover_share_is_read_by_its_verb(ask: Ask) -> None:
    view = home(Device("l", "Window", "light", "rec"), Device("c", "Window", "cover", "rec"))
    for text, tool, kind in (("open the window", "open_cover", "cover"), ("turn on the window", "turn_on", "light")):
        found = ask(text, view)
        assert [(i.tool, i.selector.types) for i in found.intents] == [(tool, (kind,))]


def test_numbered_names_must_be_said_exactly(ask: Ask) -> None:
    view = home(*(Device(f"l{n}", f"Lamp {n}", "light", "rec") for n in (1, 10, 11)))
    assert ask("turn on lamp 1", view).intents[0].selector.names == ("Lamp 1",)
    assert ask("turn on lamp ten", view).intents[0].selector.names == ("Lamp 10",)
    assert ask("turn on lamp 2", view).kind is Kind.REFUSE


def test_a_room_called_office_does_not_spoil_off(ask: Ask) -> None:
    view = home(Device("l", "Lamp", "light", "office"), Device("m", "Spot", "light", "rec"))
    assert [i.tool for i in ask("turn off the lights", view).intents] == ["turn_off"]
    assert [i.tool for i in ask("turn on the office lights", view).intents] == ["turn_on"]


def test_a_longer_name_needs_its_extra_words(ask: Ask) -> None:
    view = home(Device("m", "TV Mute", "switch", "rec"), Device("t", "TV", "media_player", "rec"))
    assert ask("turn on the TV", view).intents[0].selector.names == ("TV",)


def test_names_with_template_characters_are_plain_text(ask: Ask) -> None:
    view = home(Device("x", "Lamp (left) [old] {a|b}", "light", "rec"))
    assert ask("turn on lamp left old a b", view).kind in (Kind.CALLS, Kind.REFUSE)
    assert ask("turn on lamp new", view).kind is Kind.REFUSE


def test_the_speakers_room_is_left_to_the_resolver(ask: Ask) -> None:
    view = home(Device("l", "Lamp", "light", "rec"), Device("k", "Spot", "light", "kitchen"))
    selector = ask("turn off the lights", view).intents[0].selector
    assert (selector.areas, selector.types, selector.is_all) == ((), ("light",), False)


def test_an_empty_home_does_nothing(ask: Ask) -> None:
    assert not [i for i in ask("turn on the kitchen light", HomeView()).intents if i.selector.names]
    assert ask("open all covers", HomeView()).kind is not Kind.SAY


def test_a_command_for_later_is_not_run_now(app: App, words: dict[str, Words], templates: TemplateMap) -> None:
    tier = TemplateTier(templates, app.tools, words)
    view = home(Device("l", "Lamp", "light", "rec"))
    found = tier.match(normalise("turn on the lamp in 5 minutes", "en", words["en"]), view)
    assert (found.kind, found.intents) == (Kind.NONE, ())


def test_a_tool_that_the_app_lacks_is_refused_by_name(
    app: App, words: dict[str, Words], templates: TemplateMap
) -> None:
    tools = {name: tool for name, tool in app.tools.items() if name != "set_timer"}
    tier = TemplateTier(templates, tools, words)
    found = tier.match(normalise("set a timer for 10 minutes", "en", words["en"]), home())
    assert (found.kind, found.reply_key, found.reply_values["tool"]) == (Kind.REFUSE, "unsupported", "set_timer")


def test_a_renamed_device_is_known_at_once(ask: Ask) -> None:
    before, after = home(Device("l", "Lamp", "light", "rec")), home(Device("l", "Beacon", "light", "rec"))
    assert ask("turn on the beacon", before).kind is Kind.REFUSE
    assert ask("turn on the beacon", after).kind is Kind.CALLS
    assert ask("turn on the beacon", before).kind is Kind.REFUSE


def test_a_hundred_devices_are_matched_fast(app: App, words: dict[str, Words], templates: TemplateMap) -> None:
    tier = TemplateTier(templates, app.tools, words)
    areas = tuple(Area(f"a{n}", f"Zone {n}") for n in range(20))
    devices = tuple(Device(f"d{n}", f"Gadget {n}", "light", f"a{n % 20}") for n in range(100))
    view = HomeView(devices, areas, speaker_area="a1")
    text = normalise("turn on gadget 42", "en", words["en"])
    assert tier.match(text, view).kind is Kind.CALLS
    times = []
    for _ in range(15):
        start = time.perf_counter()
        tier.match(text, view)
        times.append((time.perf_counter() - start) * 1000)
    assert statistics.median(times) < 50, times  # about 3 ms alone; the rest is for a busy machine


def test_an_unknown_key_of_templates_is_named_with_its_line_and_the_nearest_one(tmp_path: Path) -> None:
    path = tmp_path / "templates.yaml"
    path.write_text("packs: {}\nintent: {}\n")
    with pytest.raises(ConfigError, match=r"templates\.yaml:2: unknown key 'intent'; did you mean 'intents'\?"):
        load_templates(path)


def test_a_pack_that_does_not_exist_is_named(app: App, words: dict[str, Words]) -> None:
    tier = TemplateTier(read_templates({"packs": {"en": ["klingon"]}}), app.tools, words)
    with pytest.raises(ConfigError, match="pack 'klingon' is not in home-assistant-intents"):
        tier.load("en")


def test_broken_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "templates.yaml"
    path.write_text("packs:\n  en: [en\nintents: {}\n")
    with pytest.raises(ConfigError, match=r"templates\.yaml:3"):
        load_templates(path)


def test_a_number_in_words_keeps_its_direction_after_the_other_one(ask: Ask) -> None:
    up, down = "turn up the volume by thirty percent", "turn down the volume by thirty percent"
    assert [dict(ask(text).intents[0].args) for text in (up, down, up)] == [{"step": 30}, {"step": -30}, {"step": 30}]


def test_a_small_opening_is_no_full_opening(ask: Ask) -> None:
    first = ask("open the study blind a bit and dim the desk lamp").intents[0]
    assert (first.tool, dict(first.args)) == ("set_cover_position", {"position": 20, "toward": "open"})
